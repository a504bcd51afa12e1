//! What upstreams do to their own wire (translation contract §16).

use serde_json::json;
use trilith_core::{ErrorKind, Event, FinishReason};

use super::{decode_whole, encode, fold, read, read_cut};
use crate::{Dialect, Sniffed, completions::Completions};

/// Chunks with one choice each.
fn chunk(text: &str, finish: &str) -> String {
    format!(r#"data: {{"id":"cmpl-1","choices":[{{"text":"{text}","index":0,"finish_reason":{finish}}}]}}"#)
}

fn said(stream: &str) -> (String, Option<FinishReason>) {
    let response = fold(read(stream.as_bytes()).unwrap_or_else(|error| panic!("{error}: {stream}")));
    let text = encode(&response)["choices"][0]["text"].as_str().unwrap().to_owned();
    (text, response.finishes[0].clone())
}

#[test]
fn odd_streams_say_what_they_say() {
    let (a, b, end) = (chunk("a", "null"), chunk("b", "null"), chunk("", "\"stop\""));
    let whole = r#"{"choices":[{"text":"ab","index":0,"finish_reason":"stop"}]}"#;
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#;
    for stream in [
        format!("{a}\n\n{b}\n\n{end}\n\ndata: [DONE]\n\n"),
        format!("\u{feff}{a}\r\n\r\n{b}\r\n\r\n{end}\r\n\r\ndata:[DONE]\r\n\r\n"),
        format!(": ping\n\n{a}\n\n: ping\n\nevent: x\n{b}\n\n{end}\n\ndata: [DONE]\n\n"),
        // The end is the close of the connection.
        format!("{a}\n\n{b}\n\n{end}"),
        format!("{a}\n\n{b}\n\n{end}\n\n{usage}\n\ndata: [DONE]\n\n"),
        format!("{usage}\n\n{a}\n\n{b}\n\n{end}\n\n{usage}\n\n"),
        // All in one chunk, the reason beside the text, the reason twice, one that is null between.
        chunk("ab", "\"stop\""),
        format!("{a}\n\n{}\n\n{end}", chunk("b", "\"stop\"")),
        // No index, an index that is text, a text that is null, no text.
        format!("{}\n\n{b}\n\n{end}", a.replace(r#""index":0,"#, "")),
        format!("{}\n\n{b}\n\n{end}", a.replace(r#""index":0"#, r#""index":"0""#)),
        format!("{a}\n\n{}\n\n{b}\n\n{end}", a.replace(r#""a""#, "null")),
        format!("{a}\n\n{b}\n\n{}", end.replace(r#""text":"","#, "")),
        // A body where a stream was asked for.
        whole.to_owned(),
        format!("\n \n{whole}\n"),
        // A notice, and what follows the end.
        format!("data: {{\"object\":\"notice\"}}\n\n{a}\n\n{b}\n\n{end}\n\ndata: [DONE]\n\n{a}\n\nnonsense"),
        format!(
            "{}\n\n{b}\n\n{end}",
            a.replace("\n", "\ndata:").replace(r#","choices""#, ",\ndata: \"choices\"")
        ),
    ] {
        let stream = format!("{stream}\n\n");
        assert_eq!(said(&stream), ("ab".to_owned(), Some(FinishReason::Stop)), "{stream}");
        for size in 1..9 {
            assert_eq!(
                read_cut(stream.as_bytes(), size),
                read_cut(stream.as_bytes(), stream.len()),
                "{stream}"
            );
        }
    }
}

#[test]
fn an_end_without_a_reason_is_an_error_and_what_came_before_is_kept() {
    let a = chunk("a", "null");
    for stream in
        [a.clone(), format!("{a}\n\ndata: [DONE]\n\n"), String::new(), "data: [DONE]\n\n".to_owned()]
    {
        let (events, outcome) = read_cut(stream.as_bytes(), stream.len().max(1));
        assert_eq!(outcome.unwrap_err().kind, ErrorKind::UpstreamBroken, "{stream}");
        assert!(!events.iter().any(|event| matches!(event, Event::Finish(_))), "no fabricated stop");
        let begun = events.iter().filter(|event| matches!(event, Event::ItemAdded { .. })).count();
        let done = events.iter().filter(|event| matches!(event, Event::ItemDone { .. })).count();
        assert_eq!(begun, done);
    }
}

#[test]
fn errors_inside_of_a_success_are_errors() {
    let told = r#"{"error":{"message":"too busy","type":"rate_limit_error","code":429}}"#;
    let bare = r#"{"object":"error","message":"too busy","type":"rate_limit_error","code":429}"#;
    for body in [told, bare] {
        let a = chunk("a", "null");
        for stream in [format!("data: {body}\n\n"), format!("{a}\n\ndata: {body}\n\ndata: [DONE]\n\n")] {
            let error = read(stream.as_bytes()).unwrap_err();
            assert_eq!((error.kind, &*error.public), (ErrorKind::RateLimited, "too busy"), "{stream}");
        }
        assert_eq!(decode_whole(body.as_bytes()).unwrap_err().kind, ErrorKind::RateLimited);
    }
    for body in
        ["", "<html>", "[]", "{}", r#"{"choices":[]}"#, r#"{"choices":5}"#, r#"{"choices":[{"text":"a"}]}"#]
    {
        let error = decode_whole(body.as_bytes()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::UpstreamBroken, "{body}");
    }
    for stream in ["data: nonsense\n\n", "data: 5\n\n", r#"data: {"choices":[{"index":2048,"text":"a"}]}"#] {
        assert!(read(stream.as_bytes()).is_err(), "{stream}");
    }
    let aborted = chunk("a", "\"abort\"");
    assert_eq!(read(aborted.as_bytes()).unwrap_err().kind, ErrorKind::UpstreamBroken);
}

#[test]
fn reasons_of_other_servers_are_understood() {
    for (word, beside, reason) in [
        ("eos_token", "null", FinishReason::Stop),
        ("stop", r#""END""#, FinishReason::StopString(Some("END".into()))),
        ("stop", "128001", FinishReason::Stop),
        ("stop_sequence", "null", FinishReason::StopString(None)),
        ("length", "null", FinishReason::Length),
        ("content_filter", "null", FinishReason::ContentFilter),
        // There are no tools here.
        ("tool_calls", "null", FinishReason::Stop),
        ("sleepy", "null", FinishReason::Other("sleepy".into())),
    ] {
        let body =
            format!(r#"{{"choices":[{{"text":"a","finish_reason":"{word}","stop_reason":{beside}}}]}}"#);
        let events = decode_whole(body.as_bytes()).unwrap();
        let losses = events.iter().filter(|event| matches!(event, Event::Loss(_))).count();
        assert_eq!(losses, usize::from(word == "sleepy"));
        assert_eq!(fold(events).finishes, [Some(reason)]);
    }
}

#[test]
fn choices_may_interleave_and_leave_gaps() {
    let piece = |index: u32, text: &str, finish: &str| {
        format!(
            "data: {{\"choices\":[{{\"text\":\"{text}\",\"index\":{index},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let stream = [
        piece(2, "c", "null"),
        piece(0, "a", "null"),
        piece(2, "C", "\"length\""),
        piece(0, "A", "\"stop\""),
        piece(1, "", "\"stop\""),
    ]
    .concat();
    let shown = encode(&fold(read(stream.as_bytes()).unwrap()));
    let texts: Vec<_> =
        shown["choices"].as_array().unwrap().iter().map(|choice| choice["text"].clone()).collect();
    assert_eq!(texts, ["aA", "", "cC"]);
    assert_eq!(shown["choices"][2]["finish_reason"], "length");
}

#[test]
fn log_probabilities_in_the_words_of_chat_and_broken_ones_break_nothing() {
    let with = |logprobs: &str| {
        let body = format!(r#"{{"choices":[{{"text":"a","finish_reason":"stop","logprobs":{logprobs}}}]}}"#);
        encode(&fold(decode_whole(body.as_bytes()).unwrap()))["choices"][0]["logprobs"].clone()
    };
    let chat = r#"{"content":[{"id":5,"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-0.5},{"token":"b","logprob":-1.5}]}]}"#;
    let wanted = json!({
        "tokens": ["a"], "token_logprobs": [-0.5], "top_logprobs": [{"a": -0.5, "b": -1.5}], "text_offset": [0],
    });
    assert_eq!(with(chat), wanted);
    assert_eq!(with(r#"{"tokens":["a"]}"#)["token_logprobs"], json!([null]));
    assert_eq!(with(r#"{"tokens":["token_id:7"],"token_logprobs":[-1.0]}"#)["tokens"], json!(["token_id:7"]));
    for broken in ["null", "5", "[]", "{}", r#"{"tokens":5}"#, r#"{"tokens":[],"token_logprobs":[1.0]}"#] {
        assert_eq!(with(broken), json!(null), "{broken}");
    }
    let twice = r#"{"tokens":["a"],"token_logprobs":[-1.0],"top_logprobs":[{"b":-2.0,"b":-3.0}]}"#;
    assert_eq!(with(twice)["top_logprobs"], json!([{"b": -2.0}]));
}

#[test]
fn a_tee_learns_of_counts_ends_and_errors() {
    let mut seen = Sniffed::default();
    Completions
        .sniff(br#"{"choices":[{"text":"\"finish_reason\":\"stop\"","finish_reason":null}]}"#, &mut seen);
    assert_eq!(seen, Sniffed::default());
    Completions.sniff(br#"{"choices":[{"text":"","finish_reason":"stop"}]}"#, &mut seen);
    assert!(seen.ended);
    Completions.sniff(br#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#, &mut seen);
    assert_eq!(seen.usage.as_ref().map(trilith_core::Usage::total), Some(7));
    Completions.sniff(br#"{"error":{"message":"x"}}"#, &mut seen);
    assert!(seen.failed);
}
