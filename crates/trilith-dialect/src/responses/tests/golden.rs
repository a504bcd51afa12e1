//! The readable cases in `golden/responses`: a request, its answer, and the same answer as a stream.
//! With `TRILITH_UPDATE_GOLDEN` set, answers and streams are written anew; read the difference.

use std::{fs, path::PathBuf, sync::Arc};

use serde_json::Value;
use trilith_core::{Event, StreamOptions, Turn};

use super::{
    order,
    support::{created, lifecycle, read, stream, target},
};
use crate::{
    dialect::{Dialect, Quirks},
    names::NameMap,
    responses::Responses,
};

fn cases() -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden/responses");
    let mut cases: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 20);
    cases
}

/// A model speaks in tokens: texts come in several deltas.
fn in_words(events: Vec<Event>) -> Vec<Event> {
    let words = |text: &str| text.split_inclusive(' ').map(String::from).collect::<Vec<_>>();
    let mut out = Vec::new();
    for event in events {
        match event {
            Event::TextDelta { index, part, delta, logprobs } if logprobs.is_empty() => {
                out.extend(words(&delta).into_iter().map(|delta| Event::TextDelta {
                    index,
                    part,
                    delta,
                    logprobs: Vec::new(),
                }));
            }
            Event::PartDelta { index, part, space, delta } => {
                out.extend(words(&delta).into_iter().map(|delta| Event::PartDelta {
                    index,
                    part,
                    space,
                    delta,
                }));
            }
            Event::ArgumentsDelta { index, delta } => {
                out.extend(words(&delta).into_iter().map(|delta| Event::ArgumentsDelta { index, delta }));
            }
            other => out.push(other),
        }
    }
    out
}

/// The answer as Trilith gives it, whole and as a stream.
fn answer(turn: &Turn, upstream: &[u8]) -> (Value, String) {
    let told: Value = serde_json::from_slice(upstream).unwrap();
    let mut events = Vec::new();
    let failure = Responses.decode_response(upstream, &NameMap::default(), &mut events).err();
    let mut first =
        created(told["id"].as_str().unwrap(), Arc::clone(&turn.settings), turn.state.store.unwrap_or(true));
    first.created_at = told["created_at"].as_i64().unwrap();
    first.previous_response_id.clone_from(&turn.state.previous_response_id);
    let end = told["completed_at"].as_i64().unwrap_or(first.created_at + 10);
    let (stream, response) =
        stream(&lifecycle(first, in_words(events), failure, end), StreamOptions::default());
    let mut whole = Vec::new();
    Responses.encode_response(&response, &mut whole);
    (serde_json::from_slice(&whole).unwrap(), stream)
}

#[test]
fn answers_and_streams_are_as_recorded() {
    let update = std::env::var_os("TRILITH_UPDATE_GOLDEN").is_some();
    for case in cases() {
        let turn = Responses.decode_request(&fs::read(case.join("request.json")).unwrap()).unwrap();
        let upstream = fs::read(case.join("response.json")).unwrap();
        let (whole, stream) = answer(&turn, &upstream);
        order::check(&stream);
        if update {
            fs::write(case.join("response.json"), serde_json::to_string_pretty(&whole).unwrap() + "\n")
                .unwrap();
            fs::write(case.join("stream.sse"), &stream).unwrap();
        }
        let recorded: Value = serde_json::from_slice(&fs::read(case.join("response.json")).unwrap()).unwrap();
        assert_eq!(whole, recorded, "{}", case.display());
        assert_eq!(stream, fs::read_to_string(case.join("stream.sse")).unwrap(), "{}", case.display());
    }
}

#[test]
fn a_stream_and_its_whole_answer_make_the_same_response() {
    for case in cases().into_iter().filter(|case| !case.ends_with("failed")) {
        // Space between tokens is no part of an answer.
        let whole: Value = serde_json::from_slice(&fs::read(case.join("response.json")).unwrap()).unwrap();
        let whole = serde_json::to_vec(&whole).unwrap();
        let stream = fs::read(case.join("stream.sse")).unwrap();
        let mut events = Vec::new();
        Responses.decode_response(&whole, &NameMap::default(), &mut events).unwrap();
        let expected = super::support::fold(events);
        let (reference, end) = read(&stream, stream.len());
        end.unwrap();
        assert_eq!(super::support::fold(reference.clone()), expected, "{}", case.display());
        for size in [1, 2, 3, 7, 64] {
            let (events, end) = read(&stream, size);
            end.unwrap();
            assert_eq!(events, reference, "{} in pieces of {size}", case.display());
        }
    }
}

#[test]
fn a_request_is_the_same_after_encoding_and_decoding() {
    for case in cases() {
        let turn = Responses.decode_request(&fs::read(case.join("request.json")).unwrap()).unwrap();
        let model = turn.settings.model.clone();
        let quirks = Quirks::default();
        let encoded = Responses.encode_request(&turn, &target(&model, &quirks)).unwrap();
        assert!(encoded.losses.is_empty(), "{}: {:?}", case.display(), encoded.losses);
        assert!(encoded.names.is_empty());
        let again = Responses.decode_request(&encoded.body).unwrap();
        assert_eq!(again.state.store, Some(false), "Trilith holds the state");
        assert_eq!(again.state.previous_response_id, None);
        let mut settings = (*turn.settings).clone();
        settings.include.clone_from(&again.settings.include);
        // Items of instructions lose their ids like all others.
        assert_eq!(*again.settings, settings, "{}", case.display());
        let mut items = turn.input.clone();
        for item in &mut items {
            // Ids mean something to the server that issued them; this kind's id is its call's.
            if !matches!(item.body, trilith_core::ItemBody::Opaque(_)) {
                item.id = None;
            }
        }
        assert_eq!(again.input, items, "{}", case.display());
    }
}
