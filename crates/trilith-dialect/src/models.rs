//! The list of models, as clients of each dialect read it (openai-checklist MO1, dialects §1.1).

use serde::Serialize;
use trilith_core::DialectId;

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

/// A list of models for a client that speaks `client`.
pub fn encode_list(client: DialectId, names: &[&str], out: &mut Vec<u8>) {
    if client == DialectId::Messages {
        return list::encode_list(names, out);
    }
    let list = List { object: "list", data: names.iter().map(|name| model(name)).collect() };
    // Writing plain strings to memory cannot fail.
    serde_json::to_writer(out, &list).ok();
}

/// One model for a client that speaks `client`.
pub fn encode_model(client: DialectId, name: &str, out: &mut Vec<u8>) {
    if client == DialectId::Messages {
        return list::encode_model(name, out);
    }
    serde_json::to_writer(out, &model(name)).ok();
}
