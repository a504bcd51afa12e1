//! The model list of the OpenAI dialects (openai-checklist MO1).

use serde::Serialize;

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

/// A list of models.
pub fn encode_list(names: &[&str], out: &mut Vec<u8>) {
    let list = List { object: "list", data: names.iter().map(|name| model(name)).collect() };
    // Writing plain strings to memory cannot fail.
    serde_json::to_writer(out, &list).ok();
}

/// One model.
pub fn encode_model(name: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, &model(name)).ok();
}
