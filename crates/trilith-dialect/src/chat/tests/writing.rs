//! Streams written for answers of other dialects.

use serde_json::json;
use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, Error, Event, Extra, Finish, FinishReason, Item, ItemBody,
    ItemStatus, Loss, Message, PartSpace, PartStart, Reasoning, Role, Settings, Status, StreamOptions, Usage,
};

use super::{created, ended, order, payloads, write};

fn added(index: u32, body: ItemBody) -> Event {
    Event::ItemAdded { index, choice: 0, item: Box::new(Item::new(body)) }
}

fn done(index: u32, carriers: Vec<Carrier>) -> Event {
    Event::ItemDone { index, status: ItemStatus::Completed, carriers, detail: None, extra: Extra::EMPTY }
}

fn call(kind: CallKind, id: &str) -> ItemBody {
    ItemBody::Call(Call {
        kind,
        call_id: Some(id.into()),
        name: "f".into(),
        namespace: None,
        args: String::new(),
        caller: None,
        detail: None,
    })
}

/// What an upstream of the Responses dialect answers: a summary, a hosted call, two messages, two calls.
fn foreign() -> Vec<Event> {
    let message =
        || ItemBody::Message(Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None });
    let mut events =
        vec![created(Settings { model: "m".into(), ..Settings::default() }), Event::Begin(Box::default())];
    let summary = |part, text: &str| {
        [
            Event::PartAdded { index: 0, part, start: PartStart::Summary },
            Event::PartDelta { index: 0, part, space: PartSpace::Summary, delta: text.into() },
            Event::PartDone { index: 0, part, space: PartSpace::Summary },
        ]
    };
    events.push(added(0, ItemBody::Reasoning(Reasoning::default())));
    events.extend(summary(0, "one"));
    events.extend(summary(1, "two"));
    events.push(done(0, vec![Carrier { kind: CarrierKind::Encrypted, data: "tl1.x".into(), origin: None }]));
    events.extend([added(1, call(CallKind::WebSearch, "ws")), done(1, Vec::new())]);
    for (index, text) in [(2, "Hel"), (3, "lo")] {
        events.extend([
            added(index, message()),
            Event::PartAdded { index, part: 0, start: PartStart::Text },
            Event::TextDelta { index, part: 0, delta: text.into(), logprobs: Vec::new() },
            Event::PartDone { index, part: 0, space: PartSpace::Content },
            done(index, Vec::new()),
        ]);
    }
    events.extend([added(4, call(CallKind::Function, "c1")), added(5, call(CallKind::Custom, "c2"))]);
    events.push(Event::ArgumentsDelta { index: 5, delta: "in".into() });
    events.extend([done(4, Vec::new()), done(5, Vec::new())]);
    events.push(Event::Usage(Usage { input_total: 2, output_total: 3, ..Usage::default() }));
    events.push(Event::Finish(Finish { choice: 0, reason: FinishReason::Stop }));
    events
}

#[test]
fn a_foreign_answer_is_a_legal_stream() {
    let mut events = foreign();
    order::check(&events);
    events.push(Event::Loss(Loss::warn("output[1]", "a web_search call\nhidden")));
    events.push(ended(Status::Completed, None));
    let stream = write(&events, StreamOptions { stream: true, ..StreamOptions::default() });
    assert!(stream.contains(": x-trilith-warning output[1]; a web_search call hidden\n\n"));
    let chunks = payloads(&stream);
    let deltas: Vec<_> = chunks.iter().map(|chunk| chunk["choices"][0]["delta"].clone()).collect();
    assert_eq!(
        deltas,
        [
            json!({"role": "assistant", "content": "", "refusal": null}),
            json!({"reasoning_content": "one", "reasoning": "one"}),
            json!({"reasoning_content": "\n\n", "reasoning": "\n\n"}),
            json!({"reasoning_content": "two", "reasoning": "two"}),
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "tl1.x", "format": "trilith-encrypted"}]}),
            json!({"content": "Hel"}),
            json!({"content": "lo"}),
            json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}]}),
            json!({"tool_calls": [{"index": 1, "id": "c2", "type": "custom", "custom": {"name": "f", "input": ""}}]}),
            json!({"tool_calls": [{"index": 1, "custom": {"input": "in"}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}),
            json!({}),
        ]
    );
    for chunk in &chunks {
        assert_eq!(chunk["id"], "chatcmpl-00112233445566778899aabbccddeeff");
        assert_eq!((&chunk["object"], &chunk["model"]), (&json!("chat.completion.chunk"), &json!("m")));
        assert!(chunk.get("usage").is_none(), "nobody asked for it");
    }
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(chunks.iter().filter(|chunk| !chunk["choices"][0]["finish_reason"].is_null()).count(), 1);
}

#[test]
fn usage_comes_last_and_only_when_asked_for() {
    let mut events = foreign();
    events.push(ended(Status::Completed, None));
    let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: None };
    let chunks = payloads(&write(&events, options));
    let (last, others) = chunks.split_last().unwrap();
    assert_eq!((&last["choices"], &last["usage"]["total_tokens"]), (&json!([]), &json!(5)));
    assert!(others.iter().all(|chunk| chunk.get("usage") == Some(&json!(null))));
}

#[test]
fn a_failure_is_one_error_frame_then_the_end() {
    let mut events = foreign();
    events.push(ended(Status::Failed, Some(Error::upstream("gone"))));
    let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: None };
    let chunks = payloads(&write(&events, options));
    assert_eq!(chunks.last().unwrap()["error"]["message"], "gone");
    assert!(
        chunks.iter().all(|chunk| chunk["choices"][0]["finish_reason"].is_null()),
        "no fabricated finish"
    );
}

#[test]
fn an_answer_without_items_has_its_role_and_finish() {
    let events = [created(Settings::default()), ended(Status::Completed, None)];
    let chunks = payloads(&write(&events, StreamOptions::default()));
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(chunks[1]["choices"][0]["finish_reason"], "stop");
}

#[test]
fn a_sealed_carrier_comes_back_with_its_kind() {
    use crate::{Dialect, chat::Chat};
    let body = json!({"model": "m", "messages": [{"role": "assistant", "content": "x", "reasoning_details": [
        {"type": "reasoning.encrypted", "data": "tl1.x", "format": "trilith-signature"}, {"type": "reasoning.encrypted", "data": "y"}]}]});
    let turn = Chat.decode_request(body.to_string().as_bytes()).unwrap();
    let ItemBody::Reasoning(reasoning) = &turn.input[0].body else { panic!() };
    let kinds: Vec<CarrierKind> = reasoning.carriers.iter().map(|carrier| carrier.kind).collect();
    assert_eq!(kinds, [CarrierKind::Signature, CarrierKind::Details]);
    assert_eq!(&*reasoning.carriers[0].data, "tl1.x");
}
