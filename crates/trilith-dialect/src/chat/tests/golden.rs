//! The readable cases in the repository's `golden/chat` folder: each is kept whole by decoding and encoding.

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use trilith_core::StreamOptions;

use super::{decode_whole, fold, payloads, read, read_cut, whole_life, write};
use crate::{ALL_CAPABILITIES, Dialect, Quirks, Target, chat::Chat};

fn cases() -> Vec<(String, PathBuf)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/chat");
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = folders
        .filter(|path| path.is_dir())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .collect();
    cases.sort();
    assert!(cases.len() >= 15);
    cases
}

fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let all = cases().into_iter();
    all.filter_map(|(case, path)| Some((case, fs::read(path.join(name)).ok()?))).collect()
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_request_comes_back_as_it_went_in() {
    let quirks = Quirks { replay_reasoning: true, reasoning_field: "reasoning".into(), ..Quirks::default() };
    for (case, body) in files("request.json") {
        let turn = Chat.decode_request(&body).unwrap_or_else(|error| panic!("{case}: {error:?}"));
        let field = if case == "reasoning" || case == "reasoning-details" {
            "reasoning_content"
        } else {
            "reasoning"
        };
        let quirks = Quirks { reasoning_field: field.into(), ..quirks.clone() };
        let target = Target { model: "gpt-5.6", stream: false, quirks: &quirks, can: &ALL_CAPABILITIES };
        let encoded = Chat.encode_request(&turn, &target).unwrap_or_else(|error| panic!("{case}: {error:?}"));
        let mut after = value(&encoded.body);
        // With this spelling every earlier turn of the model carries the field (see the quirk).
        for message in after["messages"].as_array_mut().unwrap() {
            if message["reasoning_content"] == " " {
                message.as_object_mut().unwrap().shift_remove("reasoning_content");
            }
        }
        assert_eq!(after, value(&body), "{case}");
        assert!(encoded.losses.is_empty(), "{case}: {:?}", encoded.losses);
        assert!(encoded.names.is_empty(), "{case}");
    }
}

#[test]
fn a_whole_answer_comes_back_as_it_went_in() {
    for (case, body) in files("response.json") {
        let response = fold(decode_whole(&body).unwrap());
        let mut out = Vec::new();
        Chat.encode_response(&response, &mut out);
        assert_eq!(value(&out), value(&body), "{case}");
        assert!(Chat.response_losses(&response).is_empty(), "{case}");
    }
}

#[test]
fn a_stream_folds_to_the_whole_answer() {
    let wholes = files("response.json");
    for (case, stream) in files("stream.sse") {
        let (_, whole) = wholes.iter().find(|(name, _)| *name == case).unwrap();
        let streamed = fold(read(&stream).unwrap());
        let mut out = Vec::new();
        Chat.encode_response(&streamed, &mut out);
        assert_eq!(value(&out), value(whole), "{case}");
        let mut items: Vec<_> = streamed.output.iter().map(|output| (output.choice, &output.item)).collect();
        // Several answers come one after the other in a whole body and interleaved in a stream.
        items.sort_by_key(|(choice, _)| *choice);
        let whole = fold(decode_whole(whole).unwrap());
        let wanted: Vec<_> = whole.output.iter().map(|output| (output.choice, &output.item)).collect();
        assert_eq!(items.len(), wanted.len(), "{case}");
        if case != "reasoning-details" {
            assert_eq!(items, wanted, "{case}");
        }
    }
}

#[test]
fn a_written_stream_is_the_stream_that_was_read() {
    let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: None };
    for (case, stream) in files("stream.sse") {
        let written = write(&whole_life(read(&stream).unwrap()), options);
        let wanted = payloads(std::str::from_utf8(&stream).unwrap());
        let found = payloads(&written);
        if !matches!(case.as_str(), "reasoning-details" | "several-answers" | "spoken") {
            assert_eq!(found, wanted, "{case}");
        }
        // Entries of reasoning that wait for a late signature are written after the text they led to.
        if case != "reasoning-details" {
            let again = fold(read(written.as_bytes()).unwrap());
            assert_eq!(again, fold(read(&stream).unwrap()), "{case}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_of_the_bytes_gives_the_same_events(size in 1usize..400, crlf: bool) {
        for (case, stream) in files("stream.sse") {
            let wanted = read(&stream).unwrap();
            let text = String::from_utf8(stream).unwrap();
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            prop_assert_eq!(read_cut(text.as_bytes(), size).unwrap(), wanted, "{}", case);
        }
    }
}
