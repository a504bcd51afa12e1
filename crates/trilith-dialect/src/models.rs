//! The list of models, as clients of each dialect read it (openai-checklist MO1, dialects §1.1).

use serde::Serialize;
use trilith_core::{DialectId, Error};

use crate::messages::list;

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
}

#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    object: &'static str,
    created: i64,
    owned_by: &'static str,
}

const fn model(id: &str) -> Model<'_> {
    Model { id, object: "model", created: 0, owned_by: "trilith" }
}

/// A list of models for a client that speaks `client`, or the page of it that `query` (names and values, without
/// percent signs) asks for in dialects that have pages.
///
/// # Errors
/// 400: the query asks for no page that there is.
pub fn encode_list(
    client: DialectId,
    names: &[&str],
    query: &[(String, String)],
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    if client == DialectId::Messages {
        return list::encode_list(names, query, out);
    }
    let list = List { object: "list", data: names.iter().map(|name| model(name)).collect() };
    // Writing plain strings to memory cannot fail.
    serde_json::to_writer(out, &list).ok();
    Ok(())
}

/// One model for a client that speaks `client`.
pub fn encode_model(client: DialectId, name: &str, out: &mut Vec<u8>) {
    if client == DialectId::Messages {
        return list::encode_model(name, out);
    }
    serde_json::to_writer(out, &model(name)).ok();
}
