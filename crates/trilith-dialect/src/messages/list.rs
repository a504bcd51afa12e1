//! The list of models (dialects §1.1).

use serde::Serialize;

#[derive(Serialize)]
struct List<'a> {
    data: Vec<Model<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Model<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    display_name: &'a str,
    created_at: &'static str,
    lifecycle: &'static str,
}

const fn model(id: &str) -> Model<'_> {
    // When a model was made is not known here; the wire wants a date.
    Model { kind: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z", lifecycle: "active" }
}

/// One page with all of these models.
pub fn encode_list(names: &[&str], out: &mut Vec<u8>) {
    let list = List {
        data: names.iter().map(|name| model(name)).collect(),
        has_more: false,
        first_id: names.first().copied(),
        last_id: names.last().copied(),
    };
    // Writing plain strings to memory cannot fail.
    serde_json::to_writer(out, &list).ok();
}

/// One model.
pub fn encode_model(name: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &model(name)).ok();
}
