//! How long a request's input is: the question and its answer, both ways.

use serde_json::{Value, json};
use trilith_core::{ErrorKind, Headers, Turn};

use crate::{ALL_CAPABILITIES, Counting, Dialect, Quirks, Target, messages::Messages};

fn counting() -> &'static dyn Counting {
    Messages.counting().unwrap()
}

fn ask(body: &Value) -> Result<Turn, trilith_core::Error> {
    let headers = Headers::from([("anthropic-version".into(), "2023-06-01".into())]);
    counting().decode_request(&headers, body.to_string().as_bytes())
}

fn asked() -> Value {
    json!({
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "f", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "auto"},
        "thinking": {"type": "enabled", "budget_tokens": 4000},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "cache_control": {"type": "ephemeral"},
        "speed": "fast",
        "context_management": {"edits": []},
    })
}

#[test]
fn the_question_says_all_of_the_input_and_nothing_of_an_answer() {
    let turn = ask(&asked()).unwrap();
    let quirks = Quirks::default();
    let target = Target { model: "m", stream: true, quirks: &quirks, can: &ALL_CAPABILITIES };
    let sent = counting().encode_request(&turn, &target).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&sent.body).unwrap(), asked());
    assert!(sent.losses.is_empty());
}

#[test]
fn what_only_an_answer_has_is_refused() {
    for (name, value) in [
        ("max_tokens", json!(10)),
        ("stream", json!(false)),
        ("stop_sequences", json!([])),
        ("metadata", json!({})),
        ("container", json!("c")),
        ("service_tier", json!("auto")),
        ("temperature", json!(1.0)),
        ("inference_geo", json!("us")),
        ("messages", json!([])),
        ("model", json!("")),
        ("messages", json!(null)),
    ] {
        let mut body = asked();
        body[name] = value;
        let error = ask(&body).unwrap_err();
        assert_eq!((error.kind, error.param.as_deref()), (ErrorKind::BadRequest, Some(name)));
        body[name] = json!(null);
        assert_eq!(ask(&body).is_ok(), !matches!(name, "messages" | "model"), "{name}");
    }
    assert!(counting().decode_request(&Headers::new(), asked().to_string().as_bytes()).is_err());
}

#[test]
fn the_answer() {
    let mut out = Vec::new();
    counting().encode_answer(14, &mut out);
    assert_eq!(out, br#"{"input_tokens":14}"#);
    assert_eq!(counting().decode_answer(&out).unwrap(), 14);
    let more = br#"{"input_tokens":14,"context_management":{"original_input_tokens":20}}"#;
    assert_eq!(counting().decode_answer(more).unwrap(), 14);
    for nonsense in ["", "{}", "[]", r#"{"input_tokens":-1}"#, r#"{"input_tokens":"14"}"#, "<html>"] {
        assert_eq!(
            counting().decode_answer(nonsense.as_bytes()).unwrap_err().kind,
            ErrorKind::UpstreamBroken
        );
    }
    let told = br#"{"type":"error","error":{"type":"overloaded_error","message":"later"}}"#;
    assert_eq!(counting().decode_answer(told).unwrap_err().kind, ErrorKind::Overloaded);
}
