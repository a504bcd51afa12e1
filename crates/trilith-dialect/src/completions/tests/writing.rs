//! Answers written for what other dialects said.

use serde_json::json;
use trilith_core::{
    Error, Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus, Logprob, Loss, Message, PartSpace,
    PartStart, Reasoning, Response, Role, Status, StreamOptions, TopLogprob, Usage,
};

use super::{created, encode, ended, payloads, whole_life, write};
use crate::{Dialect, completions::Completions};

fn added(index: u32, body: ItemBody) -> Event {
    Event::ItemAdded { index, choice: 0, item: Box::new(Item::new(body)) }
}

fn done(index: u32) -> Event {
    let (carriers, extra) = (Vec::new(), Extra::EMPTY);
    Event::ItemDone { index, status: ItemStatus::Completed, carriers, detail: None, extra }
}

fn message(phase: Option<trilith_core::Phase>) -> ItemBody {
    ItemBody::Message(Message { role: Role::Assistant, parts: Vec::new(), phase, name: None })
}

fn spoken(index: u32, text: &str, logprobs: Vec<Logprob>) -> Vec<Event> {
    vec![
        added(index, message(None)),
        Event::PartAdded { index, part: 0, start: PartStart::Text },
        Event::TextDelta { index, part: 0, delta: text.into(), logprobs },
        Event::PartDone { index, part: 0, space: PartSpace::Content },
        done(index),
    ]
}

fn refused(index: u32, text: &str) -> Vec<Event> {
    let space = PartSpace::Content;
    vec![
        added(index, message(Some(trilith_core::Phase::FinalAnswer))),
        Event::PartAdded { index, part: 0, start: PartStart::Refusal },
        Event::PartDelta { index, part: 0, space, delta: text.into() },
        Event::PartDone { index, part: 0, space },
        done(index),
    ]
}

fn logprob(token: &str, bytes: Option<Vec<u8>>) -> Logprob {
    let chosen = TopLogprob { token: token.into(), logprob: -0.5, bytes };
    Logprob { top: vec![chosen.clone(), chosen.clone()], chosen }
}

/// Thoughts, words with tokens, a refusal.
fn foreign() -> Vec<Event> {
    let mut events = vec![Event::Begin(Box::default()), added(0, ItemBody::Reasoning(Reasoning::default()))];
    events.extend([
        Event::PartAdded { index: 0, part: 0, start: PartStart::Reasoning },
        Event::PartDelta { index: 0, part: 0, space: PartSpace::Reasoning, delta: "hm".into() },
        Event::PartDone { index: 0, part: 0, space: PartSpace::Reasoning },
        done(0),
    ]);
    let half = |byte| logprob("\u{fffd}", Some(vec![byte]));
    events.extend(spoken(1, "é!", vec![half(0xc3), half(0xa9), logprob("!", None)]));
    events.extend(refused(2, "I will not."));
    events.push(Event::Usage(Usage { input_total: 2, output_total: 3, ..Usage::default() }));
    events.push(Event::Finish(Finish { choice: 0, reason: FinishReason::Refusal }));
    events
}

#[test]
fn what_has_a_place_is_shown_and_the_rest_is_told() {
    let response = Response::fold(&whole_life(foreign())).unwrap();
    let shown = encode(&response);
    assert_eq!(
        shown["choices"],
        json!([{
            "text": "é!\n\nI will not.",
            "index": 0,
            "logprobs": {
                "tokens": ["bytes:\\xc3", "bytes:\\xa9", "!"],
                "token_logprobs": [-0.5, -0.5, -0.5],
                "top_logprobs": [{"bytes:\\xc3": -0.5}, {"bytes:\\xa9": -0.5}, {"!": -0.5}],
                "text_offset": [0, 1, 1],
            },
            "finish_reason": "content_filter",
        }])
    );
    assert_eq!(shown["id"], "cmpl-00112233445566778899aabbccddeeff");
    assert_eq!(shown["usage"]["total_tokens"], 5);
    let losses = Completions.response_losses(&response);
    let told: Vec<_> = losses.iter().map(|loss| (loss.disposition.name(), &*loss.path)).collect();
    assert_eq!(
        told,
        [
            ("warn", "output[0]"),
            ("warn", "output[1].content[0].logprobs"),
            ("emulate", "output[2].content[0]")
        ]
    );
}

#[test]
fn a_stream_of_it_is_legal_and_says_the_same() {
    let mut events = foreign();
    events.push(Event::Loss(Loss::warn("output[0]", "a reasoning\nitem")));
    let options = StreamOptions { stream: true, ..StreamOptions::default() };
    let stream = write(&whole_life(events), options);
    assert!(stream.contains(": x-trilith-warning output[0]; a reasoning item\n\n"));
    let chunks = payloads(&stream);
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk["choices"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["é!", "\n\n", "I will not.", ""]);
    let reasons: Vec<_> = chunks.iter().map(|chunk| &chunk["choices"][0]["finish_reason"]).collect();
    assert_eq!(reasons, [&json!(null), &json!(null), &json!(null), &json!("content_filter")]);
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()), "nobody asked for it");
}

#[test]
fn a_failure_is_one_error_frame_then_the_end() {
    for (status, error, text) in [
        (Status::Failed, Some(Error::upstream("gone")), "gone"),
        (Status::Failed, None, "The answer failed."),
        (Status::Cancelled, None, "The answer was cancelled."),
    ] {
        let mut events = vec![created()];
        events.extend(foreign());
        events.push(ended(status, error));
        let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: None };
        let chunks = payloads(&write(&events, options));
        let (last, others) = chunks.split_last().unwrap();
        assert_eq!(last["error"]["message"], text);
        assert!(
            others.iter().all(|chunk| chunk["choices"][0]["finish_reason"].is_null()),
            "no fabricated finish"
        );
        assert!(others.iter().all(|chunk| chunk["usage"].is_null()));
    }
}

#[test]
fn an_answer_without_items_still_ends() {
    let events = [created(), ended(Status::Completed, None)];
    let chunks = payloads(&write(&events, StreamOptions::default()));
    assert_eq!(chunks.len(), 1);
    assert_eq!(
        chunks[0]["choices"],
        json!([{"text": "", "index": 0, "logprobs": null, "finish_reason": "stop"}])
    );
    let response = Response::fold(&events).unwrap();
    assert_eq!(encode(&response)["choices"], chunks[0]["choices"]);
}
