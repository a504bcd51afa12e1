//! The readable cases in the repository's `golden/messages` folder: each is kept whole by decoding and encoding.

use std::{fs, path::PathBuf};

use serde_json::Value;

use super::{decode_whole, encode, fold, items, read, read_cut, whole_life, write};
use crate::{ALL_CAPABILITIES, Dialect, Quirks, Target, messages::Messages};

fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/messages");
    let mut folders: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let all = folders.into_iter().filter_map(|path| {
        let case = path.file_name()?.to_string_lossy().into_owned();
        Some((case, fs::read(path.join(name)).ok()?))
    });
    let all: Vec<_> = all.collect();
    assert!(all.len() >= 8, "{name}");
    all
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_request_comes_back_as_it_went_in() {
    let quirks = Quirks::default();
    for (case, body) in files("request.json") {
        let turn = Messages.decode_request(&body).unwrap_or_else(|error| panic!("{case}: {error:?}"));
        let target = Target {
            model: &turn.settings.model,
            stream: turn.stream.stream,
            quirks: &quirks,
            can: &ALL_CAPABILITIES,
        };
        let encoded =
            Messages.encode_request(&turn, &target).unwrap_or_else(|error| panic!("{case}: {error:?}"));
        assert_eq!(normal(value(&encoded.body)), normal(value(&body)), "{case}");
        assert!(encoded.losses.is_empty(), "{case}: {:?}", encoded.losses);
    }
}

/// The forms that mean the same: `stream: false` and none, results in any order.
fn normal(mut body: Value) -> Value {
    let object = body.as_object_mut().unwrap();
    if object.get("stream") == Some(&Value::Bool(false)) {
        object.shift_remove("stream");
    }
    let mut fields: Vec<_> = std::mem::take(object).into_iter().collect();
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Value::Object(fields.into_iter().collect())
}

#[test]
fn a_whole_answer_comes_back_as_it_went_in() {
    for (case, body) in files("response.json") {
        let response = fold(decode_whole(std::str::from_utf8(&body).unwrap()).unwrap());
        let (before, after) = (value(&body), encode(&response));
        for field in ["type", "role", "content", "stop_reason", "stop_sequence"] {
            assert_eq!(after[field], before[field], "{case}: {field}");
        }
        for (name, count) in before["usage"].as_object().unwrap() {
            assert_eq!(&after["usage"][name], count, "{case}: {name}");
        }
        assert!(Messages.response_losses(&response).is_empty(), "{case}");
    }
}

#[test]
fn a_stream_says_what_the_whole_answer_says_and_survives_a_second_writing() {
    for (case, stream) in files("stream.sse") {
        let text = String::from_utf8(stream).unwrap();
        let events = read(&text).unwrap();
        assert_eq!(events, read_cut(text.as_bytes(), 1).unwrap(), "{case}");
        let said = fold(events.clone());
        if let Some((_, whole)) = files("response.json").into_iter().find(|(name, _)| *name == case) {
            let whole = fold(decode_whole(std::str::from_utf8(&whole).unwrap()).unwrap());
            assert_eq!(items(&said), items(&whole), "{case}");
            assert_eq!(said.finishes, whole.finishes, "{case}");
        }
        let out = write(&whole_life(events));
        let again = fold(read(&out).unwrap());
        assert_eq!(again.output, said.output, "{case}");
    }
}
