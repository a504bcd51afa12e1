//! The readable cases in the repository's `golden/completions` folder: each is kept whole by decoding and encoding.

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use trilith_core::StreamOptions;

use super::{body, decode_whole, encode, fold, payloads, read, read_cut, sent_by, whole_life, write};
use crate::{Dialect, completions::Completions};

fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/completions");
    let mut folders: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let all = folders.into_iter().filter_map(|path| {
        let case = path.file_name()?.to_string_lossy().into_owned();
        Some((case, fs::read(path.join(name)).ok()?))
    });
    let all: Vec<_> = all.collect();
    assert!(all.len() >= 5, "{name}");
    all
}

fn value(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_request_comes_back_as_it_went_in() {
    for (case, request) in files("request.json") {
        let turn = Completions.decode_request(&request).unwrap_or_else(|error| panic!("{case}: {error:?}"));
        let encoded = sent_by(&Completions, &turn).unwrap_or_else(|error| panic!("{case}: {error:?}"));
        assert_eq!(encoded.losses, [], "{case}");
        let (mut after, mut before) = (body(&encoded), value(&request));
        if case == "start-of-a-document" {
            // Absent and `null` are the same.
            after.as_object_mut().unwrap().shift_remove("prompt");
            before.as_object_mut().unwrap().shift_remove("prompt");
        }
        assert_eq!(after, before, "{case}");
        assert_eq!(Completions.decode_request(&encoded.body).unwrap(), turn, "{case}");
    }
}

#[test]
fn a_whole_answer_comes_back_as_it_went_in() {
    for (case, whole) in files("response.json") {
        let response = fold(decode_whole(&whole).unwrap());
        assert_eq!(encode(&response), value(&whole), "{case}");
        assert_eq!(Completions.response_losses(&response), [], "{case}");
    }
}

#[test]
fn a_stream_says_what_the_whole_answer_says_and_is_written_as_it_was_read() {
    let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: None };
    let wholes = files("response.json");
    for (case, stream) in files("stream.sse") {
        let (_, whole) = wholes.iter().find(|(name, _)| *name == case).unwrap();
        let events = read(&stream).unwrap();
        assert_eq!(encode(&fold(events.clone())), value(whole), "{case}");
        let written = write(&whole_life(events), options);
        assert_eq!(payloads(&written), payloads(std::str::from_utf8(&stream).unwrap()), "{case}");
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
            let (events, outcome) = read_cut(text.as_bytes(), size);
            prop_assert_eq!(outcome, Ok(()));
            prop_assert_eq!(events, wanted, "{}", case);
        }
    }
}
