//! The order machines themselves: what is legal passes, every other order does not.

use std::{fs, path::PathBuf};

use serde_json::Value;
use trilith_core::DialectId;
use trilith_testkit::order;

fn golden(case: &str, file: &str) -> Vec<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../golden/matrix").join(case).join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.split_inclusive("\n\n").map(str::to_owned).collect()
}

/// The frames, numbered anew where they have numbers, so that nothing but the order can be wrong.
fn renumbered(frames: &[String]) -> String {
    let mut next = 0;
    let mut out = String::new();
    for frame in frames {
        let data = frame.lines().find_map(|line| line.strip_prefix("data: {"));
        match data.and_then(|rest| serde_json::from_str::<Value>(&format!("{{{rest}")).ok()) {
            Some(mut event) if event.get("sequence_number").is_some() => {
                event["sequence_number"] = next.into();
                next += 1;
                out.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
            }
            _ => out.push_str(frame),
        }
    }
    out
}

/// A stream that differs from a legal one in one frame.
struct Neighbour {
    change: &'static str,
    at: usize,
    stream: Vec<String>,
}

/// Every stream with one frame left out, doubled, or swapped with the next.
fn neighbours(frames: &[String]) -> Vec<Neighbour> {
    let mut all = Vec::new();
    for at in 0..frames.len() {
        let mut stream = frames.to_vec();
        stream.remove(at);
        all.push(Neighbour { change: "without", at, stream });
        let mut stream = frames.to_vec();
        stream.insert(at, frames[at].clone());
        all.push(Neighbour { change: "doubled", at, stream });
        if at + 1 < frames.len() {
            let mut stream = frames.to_vec();
            stream.swap(at, at + 1);
            all.push(Neighbour { change: "swapped", at, stream });
        }
    }
    all
}

/// The number after `name` in a frame.
fn number(frame: &str, name: &str) -> Option<u64> {
    let (_, rest) = frame.split_once(&format!("\"{name}\":"))?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// A citation may come before or after any text.
fn may_swap(first: &str, second: &str) -> bool {
    first.contains("output_text.delta") && second.contains("annotation.added")
}

#[test]
fn a_responses_stream_allows_no_other_order() {
    for case in ["plain", "function-tools", "reasoning-text", "citations", "logprobs", "custom-tool"] {
        let frames = golden(case, "responses-to-responses.response.sse");
        assert_eq!(order::check(DialectId::Responses, renumbered(&frames).as_bytes()), Ok(()), "{case}");
        for Neighbour { change, at, stream } in neighbours(&frames) {
            if change == "swapped" && may_swap(&frames[at], &frames[at + 1]) {
                continue;
            }
            let checked = order::check(DialectId::Responses, renumbered(&stream).as_bytes());
            assert!(checked.is_err(), "{case}: {change} {at}: {}", frames[at]);
        }
        let mut gap = frames.clone();
        gap.remove(1);
        assert!(order::check(DialectId::Responses, gap.concat().as_bytes()).is_err());
    }
}

/// Whether only the text of the answer shows that the frame is lost, doubled or moved.
fn is_text(frame: &str) -> bool {
    let marks = ["\"role\"", "\"id\":\"call", "\"finish_reason\":\"", "\"usage\":{", "[DONE]"];
    !marks.iter().any(|mark| frame.contains(mark))
}

#[test]
fn a_chat_stream_allows_no_other_order() {
    for case in ["plain", "function-tools", "parallel-calls-and-results", "several-answers"] {
        let frames = golden(case, "chat-to-chat.response.sse");
        assert_eq!(order::check(DialectId::Chat, frames.concat().as_bytes()), Ok(()), "{case}");
        for Neighbour { change, at, stream } in neighbours(&frames) {
            let answer = |at: usize| number(frames[at].split_once("\"choices\":[{")?.1, "index");
            let free = match change {
                "swapped" => {
                    let next = &frames[at + 1];
                    let text = is_text(&frames[at]) && (is_text(next) || next.contains("\"id\":\"call"));
                    text || answer(at).is_some() && answer(at + 1).is_some() && answer(at) != answer(at + 1)
                }
                _ => is_text(&frames[at]),
            };
            if !free {
                let checked = order::check(DialectId::Chat, stream.concat().as_bytes());
                assert!(checked.is_err(), "{case}: {change} {at}: {}", frames[at]);
            }
        }
    }
}

#[test]
fn what_a_frame_must_not_be_is_told() {
    let chunk = r#"{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
    let end = chunk.replace(r#"{"role":"assistant","content":""}"#, "{}").replace("null", "\"stop\"");
    let legal = format!("data: {chunk}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    let cases = [
        (legal.replace('\n', "\r\n"), "carriage return"),
        (legal.trim_end().to_owned(), "no blank line"),
        (legal.replace("data: {", "event: x\ndata: {"), "no `event:` lines"),
        (legal.replace("\"id\":\"c\"", "\"id\":1"), "`id` must be a string"),
        (legal.replacen("\"m\"", "\"n\"", 1), "changed"),
        (legal.replace("[DONE]", "[DONE]\n\ndata: [DONE]"), "after [DONE]"),
        (legal.replace("stop", "sleepy"), "no finish reason"),
        (legal.replace("stop", "tool_calls"), "without a call"),
        (legal.replace("data: [DONE]\n\n", ""), "[DONE] is missing"),
    ];
    assert_eq!(order::check(DialectId::Chat, legal.as_bytes()), Ok(()));
    for (stream, why) in cases {
        let told = order::check(DialectId::Chat, stream.as_bytes()).unwrap_err();
        assert!(told.contains(why), "{told}\n instead of {why}");
    }
}
