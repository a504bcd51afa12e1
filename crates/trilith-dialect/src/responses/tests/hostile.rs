//! Streams of other dialects' events: what a client must read whatever the upstream was.

use std::sync::Arc;

use serde_json::json;
use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus,
    Loss, Message, PartSpace, PartStart, Reasoning, Role, Settings, StreamOptions,
};

use super::{
    order,
    support::{created, data, lifecycle, stream},
};
use crate::{dialect::Dialect, responses::Responses};

fn call(name: &str) -> Item {
    Item::new(ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: None,
        name: name.into(),
        namespace: None,
        args: String::new(),
        caller: None,
        detail: None,
    }))
}

fn done(index: u32) -> Event {
    Event::ItemDone {
        index,
        status: ItemStatus::Completed,
        carriers: Vec::new(),
        detail: None,
        extra: Extra::EMPTY,
    }
}

fn added(index: u32, item: Item) -> Event {
    Event::ItemAdded { index, choice: 0, item: Box::new(item) }
}

fn args(index: u32, delta: &str) -> Event {
    Event::ArgumentsDelta { index, delta: delta.into() }
}

fn run(events: Vec<Event>, settings: Settings, store: bool) -> (String, trilith_core::Response) {
    let first = created("resp_0123", Arc::new(settings), store);
    stream(&lifecycle(first, events, None, 9), StreamOptions::default())
}

#[test]
fn interleaved_calls_without_ids_make_a_legal_stream() {
    let events = vec![
        Event::Begin(Box::default()),
        added(0, call("a")),
        added(1, call("b")),
        args(1, "{\"y\""),
        args(0, "  "),
        args(1, ":2}"),
        args(0, "{\"x\":1}"),
        done(1),
        done(0),
        Event::Finish(Finish { choice: 0, reason: FinishReason::ToolCalls }),
    ];
    let (stream, _) = run(events, Settings::default(), true);
    order::check(&stream);
    let told = data(&stream);
    let output = &told.last().unwrap()["response"]["output"];
    assert_eq!(output[0]["arguments"], "  {\"x\":1}");
    assert!(output[0]["call_id"].as_str().unwrap().starts_with("call_"));
    assert_ne!(output[0]["call_id"], output[1]["call_id"]);
    assert_eq!(told.last().unwrap()["type"], "response.completed", "a called tool is no reason to wait");
}

#[test]
fn a_call_without_arguments_still_has_a_delta() {
    for text in ["", " ", "{}"] {
        let mut events = vec![added(0, call("now"))];
        if !text.is_empty() {
            events.push(args(0, text));
        }
        events.push(done(0));
        let (stream, _) = run(events, Settings::default(), true);
        order::check(&stream);
        assert_eq!(data(&stream).last().unwrap()["response"]["output"][0]["arguments"], "{}");
    }
}

#[test]
fn encrypted_reasoning_is_shown_only_to_who_keeps_it() {
    let carrier = Carrier { kind: CarrierKind::Encrypted, data: "gAAAA".into(), origin: None };
    let events = || {
        vec![
            added(0, Item::new(ItemBody::Reasoning(Reasoning::default()))),
            Event::PartAdded { index: 0, part: 0, start: PartStart::Reasoning },
            Event::PartDelta { index: 0, part: 0, space: PartSpace::Reasoning, delta: "hm".into() },
            Event::PartDone { index: 0, part: 0, space: PartSpace::Reasoning },
            Event::ItemDone {
                index: 0,
                status: ItemStatus::Completed,
                carriers: vec![carrier.clone()],
                detail: None,
                extra: Extra::EMPTY,
            },
        ]
    };
    let include = Settings { include: vec!["reasoning.encrypted_content".into()], ..Settings::default() };
    for (settings, store, shown) in
        [(Settings::default(), true, false), (Settings::default(), false, true), (include, true, true)]
    {
        let (stream, response) = run(events(), settings, store);
        order::check(&stream);
        assert_eq!(stream.contains("gAAAA"), shown);
        let mut whole = Vec::new();
        Responses.encode_response(&response, &mut whole);
        let whole: serde_json::Value = serde_json::from_slice(&whole).unwrap();
        assert_eq!(whole, data(&stream).last().unwrap()["response"], "one response, two views");
        assert!(whole["output"][0].get("status").is_none(), "recorded streams show none");
    }
}

#[test]
fn losses_in_the_stream_are_comments() {
    let mut events = vec![added(
        0,
        Item::new(ItemBody::Message(Message {
            role: Role::Assistant,
            parts: Vec::new(),
            phase: None,
            name: None,
        })),
    )];
    events.push(Event::Loss(Loss::warn("output[0]\ndata: x", "two\r\nlines")));
    events.push(done(0));
    let (stream, _) = run(events, Settings::default(), true);
    order::check(&stream);
    assert!(stream.contains("\n\n: x-trilith-warning output[0] data: x; two  lines\n\n"));
}

#[test]
fn padding_hides_the_length_of_a_delta_when_asked_for() {
    let message = Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None };
    let delta = |text: &str| Event::TextDelta { index: 0, part: 0, delta: text.into(), logprobs: Vec::new() };
    let events = vec![
        added(0, Item::new(ItemBody::Message(message))),
        Event::PartAdded { index: 0, part: 0, start: PartStart::Text },
        delta("a"),
        delta("longer"),
        Event::PartDone { index: 0, part: 0, space: PartSpace::Content },
        done(0),
    ];
    let first = created("resp_1", Arc::default(), true);
    let options = StreamOptions { include_obfuscation: Some(true), ..StreamOptions::default() };
    let (stream, _) = stream(&lifecycle(first, events, None, 1), options);
    order::check(&stream);
    let sizes: Vec<usize> = data(&stream)
        .iter()
        .filter_map(|event| Some(event["delta"].as_str()?.len() + event["obfuscation"].as_str()?.len()))
        .collect();
    assert_eq!(sizes, [64, 64]);
}

#[test]
fn other_answers_than_the_first_are_named_as_lost() {
    let text = |choice| Event::ItemAdded {
        index: u32::from(choice),
        choice,
        item: Box::new(Item::new(ItemBody::Message(Message {
            role: Role::Assistant,
            parts: Vec::new(),
            phase: None,
            name: None,
        }))),
    };
    let (stream, response) = run(vec![text(0), text(1), done(1), done(0)], Settings::default(), true);
    order::check(&stream);
    let losses = Responses.response_losses(&response);
    assert_eq!(losses.iter().map(|loss| &*loss.path).collect::<Vec<_>>(), ["output[1]"]);
    assert_eq!(data(&stream).last().unwrap()["response"]["output"].as_array().unwrap().len(), 1);
    assert_eq!(data(&stream)[0]["response"]["tool_choice"], json!("auto"));
}

#[test]
fn items_that_grow_at_the_same_time_take_turns() {
    let message = || {
        Item::new(ItemBody::Message(Message {
            role: Role::Assistant,
            parts: Vec::new(),
            phase: None,
            name: None,
        }))
    };
    let start = |index| Event::PartAdded { index, part: 0, start: PartStart::Text };
    let say =
        |index, text: &str| Event::TextDelta { index, part: 0, delta: text.into(), logprobs: Vec::new() };
    let end = |index| Event::PartDone { index, part: 0, space: PartSpace::Content };
    let events = vec![
        added(0, message()),
        start(0),
        added(1, message()),
        start(1),
        say(1, "se"),
        added(2, call("f")),
        args(2, "{\"x\""),
        say(0, "first"),
        end(1),
        done(1),
        end(0),
        done(0),
        args(2, ":1}"),
        done(2),
    ];
    let (stream, response) = run(events, Settings::default(), true);
    order::check(&stream);
    let mut whole = Vec::new();
    Responses.encode_response(&response, &mut whole);
    let whole: serde_json::Value = serde_json::from_slice(&whole).unwrap();
    let deltas: Vec<_> =
        data(&stream).iter().filter_map(|event| Some(event["delta"].as_str()?.to_owned())).collect();
    assert_eq!(deltas, ["first", "se", "{\"x\"", ":1}"]);
    assert_eq!(whole["output"][1]["content"][0]["text"], "se");
}
