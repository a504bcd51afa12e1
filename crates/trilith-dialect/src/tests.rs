//! What one dialect makes of the other's requests.

use std::sync::Arc;

use serde_json::{Value, json};
use trilith_core::{Carrier, CarrierKind, DialectId, Item, ItemBody, Origin, Reasoning, Role, Turn};

use crate::{ALL_CAPABILITIES, Dialect, Quirks, Target, chat::Chat, responses::Responses};

#[test]
fn a_file_id_of_another_dialect_is_refused_and_keeping_is_no_loss() {
    let body = json!({"model": "m", "store": true, "metadata": {"a": "b"}, "messages": [{"role": "user", "content": [
        {"type": "text", "text": "x"}]}], "tools": [{"type": "function", "function": {"name": "f"}}]});
    let turn = Chat.decode_request(body.to_string().as_bytes()).unwrap();
    let quirks = Quirks::default();
    let target = &Target { model: "m", stream: false, quirks: &quirks, can: &ALL_CAPABILITIES };
    let encoded = Responses.encode_request(&turn, target).unwrap();
    assert_eq!(encoded.losses, []);
    let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(sent["tools"][0]["strict"], false, "silence means the opposite there");

    let body = json!({"model": "m", "messages": [{"role": "user", "content": [
        {"type": "file", "file": {"file_id": "file-1"}}]}]});
    let turn = Chat.decode_request(body.to_string().as_bytes()).unwrap();
    let error = Responses.encode_request(&turn, target).unwrap_err();
    assert_eq!(error.param.as_deref(), Some("input[0].content[0]"));
}

#[test]
fn a_carrier_goes_back_to_its_maker_as_it_came() {
    let entry = r#"{"type":"reasoning.encrypted","data":"X","format":"trilith-encrypted","id":"e"}"#;
    let answer = format!(
        r#"{{"id":"x","choices":[{{"index":0,"message":{{"content":"so","reasoning_details":[{entry}]}},"finish_reason":"stop"}}]}}"#
    );
    let mut events = Vec::new();
    Chat.decode_response(answer.as_bytes(), &crate::NameMap::default(), &mut events).unwrap();
    let made = events.iter().find_map(|event| match event {
        trilith_core::Event::ItemDone { carriers, .. } => carriers.first().cloned(),
        _ => None,
    });
    let origin = |dialect| {
        Some(Arc::new(Origin { dialect, upstream: "up".into(), model: "m".into(), account: "".into() }))
    };
    let of = |kind, data: &str, dialect| Carrier { kind, data: data.into(), origin: origin(dialect) };
    let nested = r#"{"type":"reasoning.encrypted","data":"tl1.x","format":"trilith-encrypted"}"#;
    for (carrier, shown) in [
        (made.unwrap(), Some(entry)),
        (of(CarrierKind::Details, entry, DialectId::Chat), Some(entry)),
        (of(CarrierKind::Encrypted, "tl1.x", DialectId::Chat), Some(nested)),
        (of(CarrierKind::Encrypted, "X", DialectId::Responses), None),
        (Carrier { kind: CarrierKind::Encrypted, data: "tl1.x".into(), origin: None }, None),
    ] {
        let thought = Reasoning { carriers: vec![carrier], ..Reasoning::default() };
        let input = vec![
            Item::message(Role::User, "x"),
            Item::new(ItemBody::Reasoning(thought)),
            Item::message(Role::Assistant, "so"),
            Item::message(Role::User, "y"),
        ];
        let quirks = Quirks::default();
        let target = &Target { model: "m", stream: false, quirks: &quirks, can: &ALL_CAPABILITIES };
        let encoded = Chat.encode_request(&Turn { input, ..Turn::default() }, target).unwrap();
        let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
        let found = sent["messages"][1].get("reasoning_details").map(|list| list[0].clone());
        assert_eq!(found, shown.map(|entry| serde_json::from_str(entry).unwrap()));
        assert_eq!(encoded.losses.len(), usize::from(shown.is_none()), "a carrier is never lost silently");
    }
}

#[test]
fn half_of_a_surrogate_pair_is_refused_in_what_is_passed_on_unread() {
    for (dialect, open) in [
        (&Chat as &dyn Dialect, r#""messages":[{"role":"user","content":"x"}]"#),
        (&Responses as &dyn Dialect, r#""input":"x""#),
    ] {
        for (key, fine) in [(r"\ud83d\ude00", true), (r"a\ud800", false)] {
            let body = format!(r#"{{"model":"m",{open},"later":{{"{key}":1}}}}"#);
            assert_eq!(dialect.decode_request(body.as_bytes()).is_ok(), fine, "{body}");
        }
    }
}

#[test]
fn a_context_that_says_nothing_is_not_sent() {
    let body =
        json!({"model": "m", "input": [{"type": "reasoning", "summary": [], "encrypted_content": "tl1.x"}]});
    let turn = Responses.decode_request(body.to_string().as_bytes()).unwrap();
    let quirks = Quirks::default();
    let target = &Target { model: "m", stream: false, quirks: &quirks, can: &ALL_CAPABILITIES };
    assert_eq!(Chat.encode_request(&turn, target).unwrap_err().param.as_deref(), Some("input"));
}
