//! Upstreams as they are: what must be survived, and what must never be taken for an answer.

use proptest::prelude::*;
use serde_json::{Value, json};
use trilith_core::{ErrorKind, Event, FinishReason, ItemBody, PartSpace, Response, Retry, StreamOptions};

use super::{calls, decode_whole, fold, payloads, read, text, whole_life, write};
use crate::{Dialect, NameMap, Sniffed, chat::Chat};

fn stream(chunks: &[Value]) -> Vec<u8> {
    let mut out = String::new();
    for chunk in chunks {
        out.push_str(&format!("data: {chunk}\n\n"));
    }
    out.into_bytes()
}

fn delta(delta: Value) -> Value {
    json!({"id": "x", "model": "m", "created": 1, "choices": [{"index": 0, "delta": delta}]})
}

fn end(word: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": word}]})
}

/// Calls from the pieces of `tool_calls`, each its own chunk.
fn called(pieces: &[Value]) -> Response {
    let mut chunks: Vec<Value> = pieces.iter().map(|piece| delta(json!({"tool_calls": [piece]}))).collect();
    chunks.push(end("stop"));
    let response = fold(read(&stream(&chunks)).unwrap());
    assert_eq!(response.finishes, [Some(FinishReason::ToolCalls)], "a call is the finish, whatever was said");
    response
}

#[test]
fn nulls_and_empties_say_nothing() {
    let chunks = [
        json!({"id": "", "model": "", "created": 0, "choices": [], "prompt_filter_results": [{"prompt_index": 0}]}),
        json!({"id": "x", "model": "m", "created": 5, "choices": [{"index": 0, "delta": null, "finish_reason": null}]}),
        delta(
            json!({"role": "assistant", "content": "", "tool_calls": null, "refusal": null, "function_call": null}),
        ),
        delta(json!({"content": "hi", "reasoning": "", "audio": null, "annotations": null})),
        json!({"choices": [{"index": 0, "delta": {"content": null}, "finish_reason": ""}]}),
        end("stop"),
    ];
    let response = fold(read(&stream(&chunks)).unwrap());
    assert_eq!(text(&response), "hi");
    assert_eq!(response.upstream.upstream_id.as_deref(), Some("x"));
    assert_eq!(response.upstream.created_at, Some(5));
}

#[test]
fn an_answer_of_nothing_is_an_empty_message() {
    let response = fold(read(&stream(&[delta(json!({})), end("stop")])).unwrap());
    let whole = fold(decode_whole(br#"{"id":"x","model":"m","created":1,"choices":[{"index":0,"message":{"content":null},"finish_reason":"stop"}]}"#).unwrap());
    assert_eq!(response.output, whole.output);
    assert_eq!(response.output.len(), 1);
}

#[test]
fn calls_are_told_apart_however_they_come() {
    let f = |name: &str, args: &str| json!({"name": name, "arguments": args});
    type Case<'c> = (&'c str, Vec<Value>, Vec<(&'c str, &'c str)>);
    let table: Vec<Case<'_>> = vec![
        (
            "no index, two ids",
            vec![json!({"id": "a", "function": f("x", "{}")}), json!({"id": "b", "function": f("y", "{}")})],
            vec![("x", "{}"), ("y", "{}")],
        ),
        (
            "constant index",
            vec![
                json!({"index": 0, "id": "a", "function": f("x", "{}")}),
                json!({"index": 0, "id": "b", "function": f("x", "{\"k\":1}")}),
            ],
            vec![("x", "{}"), ("x", "{\"k\":1}")],
        ),
        (
            "constant index, no id",
            vec![
                json!({"index": 0, "function": f("x", "{}")}),
                json!({"index": 0, "function": f("y", "{}")}),
            ],
            vec![("x", "{}"), ("y", "{}")],
        ),
        (
            "index from 1",
            vec![
                json!({"index": 1, "id": "a", "function": f("x", "")}),
                json!({"index": 1, "function": {"arguments": "{}"}}),
            ],
            vec![("x", "{}")],
        ),
        (
            "index as text",
            vec![
                json!({"index": "0", "id": "a", "function": f("x", "{")}),
                json!({"index": "0", "function": {"arguments": "}"}}),
            ],
            vec![("x", "{}")],
        ),
        (
            "interleaved",
            vec![
                json!({"index": 0, "id": "a", "function": f("x", "")}),
                json!({"index": 1, "id": "b", "function": f("y", "")}),
                json!({"index": 0, "function": {"arguments": "{\"a\""}}),
                json!({"index": 1, "function": {"arguments": "{}"}}),
                json!({"index": 0, "function": {"arguments": ":1}"}}),
            ],
            vec![("x", "{\"a\":1}"), ("y", "{}")],
        ),
        (
            "name again and again",
            vec![
                json!({"index": 0, "id": "a", "function": f("x", "{")}),
                json!({"index": 0, "id": "a", "function": f("x", "}")}),
            ],
            vec![("x", "{}")],
        ),
        (
            "name in fragments",
            vec![
                json!({"index": 0, "id": "a", "function": {"name": "get_"}}),
                json!({"index": 0, "function": f("weather", "{}")}),
            ],
            vec![("get_weather", "{}")],
        ),
        (
            "id changes",
            vec![
                json!({"index": 0, "id": "a", "function": f("x", "{\"k\"")}),
                json!({"index": 0, "id": "b", "function": {"arguments": ":1}"}}),
            ],
            vec![("x", "{\"k\":1}")],
        ),
        (
            "id repeated for another",
            vec![
                json!({"index": 0, "id": "a", "function": f("x", "{}")}),
                json!({"index": 1, "id": "a", "function": f("y", "{}")}),
            ],
            vec![("x", "{}"), ("y", "{}")],
        ),
        (
            "object",
            vec![json!({"index": 0, "id": "a", "function": {"name": "x", "arguments": {"b": [1, "}{"]}}})],
            vec![("x", r#"{"b":[1,"}{"]}"#)],
        ),
        (
            "no arguments",
            vec![
                json!({"index": 0, "id": "a", "function": {"name": "x"}}),
                json!({"index": 1, "id": "b", "function": {"name": "y", "arguments": null}}),
            ],
            vec![("x", ""), ("y", "")],
        ),
        (
            "concatenated",
            vec![
                json!({"index": 0, "id": "a", "function": f("x", "{\"a\":\"}{\"}{\"a\"")}),
                json!({"index": 0, "function": {"arguments": ":2}\n{\"a\":3}"}}),
            ],
            vec![("x", "{\"a\":\"}{\"}"), ("x", "{\"a\":2}\n"), ("x", "{\"a\":3}")],
        ),
        (
            "arguments before the name",
            vec![
                json!({"index": 0, "id": "a", "function": {"arguments": "{"}}),
                json!({"index": 0, "function": f("x", "}")}),
            ],
            vec![("x", "{}")],
        ),
    ];
    for (case, pieces, wanted) in table {
        let response = called(&pieces);
        let found = calls(&response);
        let pairs: Vec<(&str, &str)> = found.iter().map(|(_, name, args)| (*name, *args)).collect();
        assert_eq!(pairs, wanted, "{case}");
        let mut ids: Vec<&str> = found.iter().map(|(id, ..)| *id).collect();
        assert!(ids.iter().all(|id| !id.is_empty()), "{case}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), wanted.len(), "{case}: ids are unique");
    }
}

#[test]
fn the_deprecated_call_and_whole_chunks_are_read() {
    let chunks = [
        delta(json!({"function_call": {"name": "f", "arguments": "{\"a"}})),
        delta(json!({"function_call": {"arguments": "\":1}"}})),
        end("function_call"),
    ];
    assert_eq!(calls(&fold(read(&stream(&chunks)).unwrap()))[0].2, "{\"a\":1}");
    let message = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]});
    assert_eq!(text(&fold(read(&stream(&[message])).unwrap())), "hi");
}

#[test]
fn a_body_where_a_stream_was_asked_for_is_read() {
    let body = json!({"id": "x", "model": "m", "created": 1, "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}});
    let mut spaced = b"\n ".to_vec();
    spaced.extend_from_slice(body.to_string().as_bytes());
    let response = fold(read(&spaced).unwrap());
    assert_eq!((text(&response).as_str(), response.usage.as_ref().unwrap().total()), ("hi", 3));
}

#[test]
fn the_end_is_a_finish_and_nothing_else() {
    let hi = delta(json!({"content": "hi"}));
    assert!(read(&stream(&[hi.clone(), end("stop")])).is_ok(), "finish and close");
    let mut marked = stream(&[hi.clone(), end("stop")]);
    marked.extend_from_slice(b"data: [DONE]\n\ndata: rubbish\n\n");
    assert!(read(&marked).is_ok(), "nothing is read after the end");
    let mut unfinished = stream(std::slice::from_ref(&hi));
    for closing in ["", "data: [DONE]\n\n"] {
        unfinished.extend_from_slice(closing.as_bytes());
        let error = read(&unfinished).unwrap_err();
        assert_eq!((error.kind, error.retry), (ErrorKind::UpstreamBroken, Retry::Elsewhere));
    }
    assert!(read(b"").is_err() && read(b": ping\n\n").is_err(), "silence is no answer");
    assert!(decode_whole(br#"{"choices":[]}"#).is_err());
    let mut reader = Chat.reader(NameMap::default());
    let mut out = Vec::new();
    reader.push(&stream(&[hi]), &mut out).unwrap();
    assert!(reader.finish(&mut out).is_err());
    assert!(matches!(out.last(), Some(Event::ItemDone { .. })), "what was open is closed");
    assert!(reader.finish(&mut out).is_ok(), "an error is told once");
}

#[test]
fn finish_words_are_understood() {
    let table = [
        ("stop", FinishReason::Stop),
        ("length", FinishReason::Length),
        ("model_length", FinishReason::ContextWindow),
        ("content_filter", FinishReason::ContentFilter),
        ("tool_calls", FinishReason::Stop),
        ("odd", FinishReason::Other("odd".into())),
    ];
    for (word, reason) in table {
        let events = read(&stream(&[delta(json!({"content": "hi"})), end(word)])).unwrap();
        assert_eq!(events.iter().any(|event| matches!(event, Event::Loss(_))), word == "odd");
        assert_eq!(fold(events).finishes, [Some(reason)], "{word}");
    }
    assert!(read(&stream(&[delta(json!({"content": "hi"})), end("error")])).is_err());
    let matched =
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "stop_reason": "END"}]});
    let response = fold(read(&stream(&[delta(json!({"content": "hi"})), matched])).unwrap());
    assert_eq!(response.finishes, [Some(FinishReason::StopString(Some("END".into())))]);
    // Azure's filter speaks late.
    let late = [delta(json!({"content": "hi"})), end("stop"), end("content_filter")];
    assert_eq!(fold(read(&stream(&late)).unwrap()).finishes, [Some(FinishReason::ContentFilter)]);
}

#[test]
fn a_call_cut_by_the_limit_is_no_call_to_make() {
    let piece = json!({"index": 0, "id": "a", "function": {"name": "x", "arguments": "{\"k\":"}});
    let response = fold(read(&stream(&[delta(json!({"tool_calls": [piece]})), end("length")])).unwrap());
    assert_eq!(response.finishes, [Some(FinishReason::Length)]);
    assert_eq!(response.output[0].item.status, Some(trilith_core::ItemStatus::Incomplete));
}

#[test]
fn usage_replaces_and_keeps_its_arithmetic() {
    let used = |usage: Value| {
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
        let last = json!({"choices": [], "usage": usage});
        let events = read(&stream(&[chunk, end("stop"), last])).unwrap();
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Usage(_))).count(), 1);
        fold(events).usage.clone().unwrap()
    };
    let openai = used(
        json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}}),
    );
    assert_eq!((openai.input_total, openai.cache_read, openai.output_total, openai.reasoning), (10, 4, 5, 3));
    let xai = used(
        json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 18, "completion_tokens_details": {"reasoning_tokens": 3}}),
    );
    assert_eq!((xai.output_total, xai.reasoning), (8, 3));
    let deepseek =
        used(json!({"completion_tokens": 5, "prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 4}));
    assert_eq!((deepseek.input_total, deepseek.cache_read), (10, 6));
    let odd = used(json!({"prompt_tokens": 10.0, "completion_tokens": -5, "cached_tokens": "2"}));
    assert_eq!((odd.input_total, odd.output_total, odd.cache_read), (10, 0, 2));
    let groq = json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}], "x_groq": {"usage": {"prompt_tokens": 7, "completion_tokens": 1}}});
    assert_eq!(fold(read(&stream(&[groq])).unwrap()).usage.clone().unwrap().input_total, 7);
    let richer = [
        delta(json!({"content": "a"})),
        end("stop"),
        json!({"choices": [], "usage": {"prompt_tokens": 1}}),
        json!({"choices": [], "usage": {"prompt_tokens": 9}}),
    ];
    assert_eq!(
        fold(read(&stream(&richer)).unwrap()).usage.clone().unwrap().input_total,
        9,
        "the later one counts"
    );
}

#[test]
fn an_error_with_a_success_status_is_an_error() {
    let table = [
        (
            json!({"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}),
            ErrorKind::RateLimited,
        ),
        (json!({"error": {"message": "broken", "code": 502, "metadata": {}}}), ErrorKind::UpstreamBroken),
        (json!({"error": "out of memory"}), ErrorKind::UpstreamBroken),
        (
            json!([{"error": {"message": "quota", "code": 429, "status": "RESOURCE_EXHAUSTED"}}]),
            ErrorKind::RateLimited,
        ),
        (json!({"object": "error", "message": "bad", "code": 400}), ErrorKind::BadRequest),
    ];
    for (body, kind) in table {
        let streamed = [delta(json!({"content": "hi"})), body.clone()];
        assert_eq!(read(&stream(&streamed)).unwrap_err().kind, kind, "{body}");
        assert_eq!(decode_whole(body.to_string().as_bytes()).unwrap_err().kind, kind, "{body}");
    }
    for nonsense in ["data: {\"a\":\n\n", "data: 5\n\n", "data: hello\n\n", "<html>"] {
        assert_eq!(read(nonsense.as_bytes()).unwrap_err().kind, ErrorKind::UpstreamBroken, "{nonsense}");
    }
}

#[test]
fn reasoning_comes_in_every_spelling() {
    let spelled = [
        vec![
            delta(json!({"reasoning_content": "th"})),
            delta(json!({"reasoning_content": "ink", "reasoning": "ink"})),
        ],
        vec![delta(json!({"reasoning": "th"})), delta(json!({"reasoning": "ink"}))],
        vec![delta(
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "think"}]}]}),
        )],
        vec![
            delta(json!({"reasoning_details": [{"type": "reasoning.text", "text": "th", "index": 0}]})),
            delta(json!({"reasoning_details": [{"type": "reasoning.text", "text": "ink", "index": 0}]})),
        ],
    ];
    for mut chunks in spelled {
        chunks.push(delta(json!({"content": [{"type": "text", "text": "so"}]})));
        chunks.push(end("stop"));
        let response = fold(read(&stream(&chunks)).unwrap());
        let ItemBody::Reasoning(reasoning) = &response.output[0].item.body else { panic!("{chunks:?}") };
        assert_eq!(reasoning.text, ["think"]);
        assert_eq!(text(&response), "so");
        for carrier in &reasoning.carriers {
            assert_eq!(&*carrier.data, r#"{"type":"reasoning.text","text":"think","index":0}"#);
        }
    }
    let late = [
        delta(json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "s"}]})),
        delta(json!({"content": "so"})),
        delta(json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "e"}]})),
        end("stop"),
    ];
    let events = read(&stream(&late)).unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::PartDelta { space: PartSpace::Summary, .. })));
    let response = fold(events);
    let ItemBody::Reasoning(reasoning) = &response.output[0].item.body else { panic!() };
    assert_eq!(reasoning.carriers.len(), 2, "a late signature joins its reasoning");
    assert_eq!(response.output.len(), 2);
}

#[test]
fn names_are_changed_back() {
    let mut names = NameMap::default();
    let wire = names.outward(Some("ns"), "run");
    let mut reader = Chat.reader(names);
    let mut out = Vec::new();
    let piece = json!({"index": 0, "id": "a", "function": {"name": &*wire, "arguments": "{}"}});
    reader.push(&stream(&[delta(json!({"tool_calls": [piece]})), end("tool_calls")]), &mut out).unwrap();
    reader.finish(&mut out).unwrap();
    let ItemBody::Call(call) = &fold(out).output[0].item.body.clone() else { panic!() };
    assert_eq!((call.namespace.as_deref(), &*call.name), (Some("ns"), "run"));
}

#[test]
fn sniffing_sees_usage_end_and_failure() {
    let sniff = |payloads: &[&str]| {
        let mut seen = Sniffed::default();
        payloads.iter().for_each(|payload| Chat.sniff(payload.as_bytes(), &mut seen));
        seen
    };
    let seen = sniff(&[
        r#"{"choices":[{"delta":{"content":"\"usage\":{} \"error\":{}"},"finish_reason":null}],"usage":null}"#,
    ]);
    assert_eq!(seen, Sniffed::default());
    let seen = sniff(&[
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage": null}"#,
        r#"{"choices":[],"usage" : {"prompt_tokens":3,"completion_tokens":1}}"#,
    ]);
    assert_eq!((seen.usage.unwrap().input_total, seen.ended, seen.failed), (3, true, false));
    assert!(sniff(&["[DONE]"]).ended);
    assert!(sniff(&[r#"{"error":{"message":"x"}}"#]).failed);
    assert!(!sniff(&[r#"{"error":null,"choices":[]}"#]).failed);
}

/// The text of each of two answers.
fn texts(response: &Response) -> [String; 2] {
    let mut texts = [String::new(), String::new()];
    for output in &response.output {
        if let ItemBody::Message(message) = &output.item.body {
            texts[usize::from(output.choice)].extend(message.parts.iter().filter_map(|part| part.as_text()));
        }
    }
    texts
}

/// One piece of a delta, by number.
fn piece(kind: u8, n: u8) -> Value {
    match kind {
        0 => json!({"content": "ab"}),
        1 => json!({"reasoning": "r"}),
        2 => json!({"refusal": "no"}),
        3 => {
            json!({"tool_calls": [{"index": n, "id": format!("c{n}"), "function": {"name": "f", "arguments": ""}}]})
        }
        4 => json!({"tool_calls": [{"index": n, "function": {"arguments": "{}"}}]}),
        5 => {
            json!({"tool_calls": [{"id": format!("c{n}"), "type": "custom", "custom": {"name": "g", "input": "x"}}]})
        }
        6 => json!({"reasoning_details": [{"type": "reasoning.text", "text": "r", "index": n}]}),
        7 => json!({"audio": {"id": "a", "data": "AA"}}),
        8 => json!({"annotations": [{"type": "url_citation", "url_citation": {"url": "u"}}]}),
        9 => json!({"content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "c"}]}),
        _ => json!({"function_call": {"name": "f", "arguments": "{\"a\":1}{\"a\":2}"}}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_mix_of_pieces_keeps_the_order_rules(pieces in prop::collection::vec((0u8..11, 0u8..3, 0u64..2), 0..24)) {
        let mut chunks: Vec<Value> = pieces
            .iter()
            .map(|(kind, n, choice)| json!({"id": "x", "model": "m", "created": 1, "choices": [{"index": choice, "delta": piece(*kind, *n)}]}))
            .collect();
        for choice in 0..2 {
            chunks.push(json!({"choices": [{"index": choice, "delta": {}, "finish_reason": "stop"}]}));
        }
        let events = read(&stream(&chunks)).unwrap();
        let response = fold(events.clone());
        let written = write(&whole_life(events), StreamOptions::default());
        let finishes = payloads(&written).into_iter().filter(|chunk| !chunk["choices"][0]["finish_reason"].is_null()).count();
        prop_assert_eq!(finishes, 2);
        let again = fold(read(written.as_bytes()).unwrap());
        prop_assert_eq!(texts(&again), texts(&response));
        prop_assert_eq!(calls(&again).len(), calls(&response).len());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 1usize..50) {
        let _ = Chat.decode_request(&bytes);
        let _ = decode_whole(&bytes);
        let _ = Chat.decode_error(500, &bytes);
        let _ = super::read_cut(&bytes, cut);
        Chat.sniff(&bytes, &mut Sniffed::default());
    }
}
