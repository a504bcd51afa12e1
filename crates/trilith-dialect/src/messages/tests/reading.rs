//! What upstreams send, as items.

use proptest::prelude::*;
use serde_json::{Value, json};
use trilith_core::{
    AnnotationKind, CallKind, Carrier, CarrierKind, DialectId, Event, FinishReason, ItemBody, ItemStatus,
    PartKind, Status,
};

use super::{decode_whole, encode, finish, fold, items, read, read_cut, sse, whole_life, write};

/// An answer with all kinds of blocks.
fn rich() -> Value {
    json!({
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude", "content": [
            {"type": "thinking", "thinking": "Hm, 気.", "signature": "c2ln"},
            {"type": "redacted_thinking", "data": "cmVk"},
            {"type": "text", "text": "I look it up. "},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "a \"b\""}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                {"type": "web_search_result", "url": "https://a.example", "encrypted_content": "e", "n": 1.50}
            ]},
            {"type": "text", "text": "Plain. "},
            {"type": "text", "text": "Cité 🙂", "citations": [
                {"type": "web_search_result_location", "url": "https://a.example", "title": "A",
                 "encrypted_index": "ei", "cited_text": "x"},
                {"type": "char_location", "document_index": 0, "start_char_index": 1, "end_char_index": 2,
                 "cited_text": "y"}
            ]},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": [1, 2.0, "}"]},
             "caller": {"type": "direct"}},
            {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}}
        ],
        "stop_reason": "tool_use", "stop_sequence": null, "container": {"id": "c_1"},
        "usage": {"input_tokens": 10, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 5,
            "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 10},
            "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 7}, "service_tier": "standard"}
    })
}

/// The stream that an upstream sends of an answer: texts in pieces of three characters.
fn streamed(answer: &Value) -> String {
    let mut events = Vec::new();
    let mut message = answer.clone();
    message["content"] = json!([]);
    message["stop_reason"] = json!(null);
    message["container"] = json!(null);
    message["usage"]["output_tokens"] = json!(1);
    events.push(json!({"type": "message_start", "message": message}));
    events.push(json!({"type": "ping"}));
    let pieces = |text: &str| {
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(3).map(|piece| piece.iter().collect::<String>()).collect::<Vec<_>>()
    };
    for (index, block) in answer["content"].as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        match block["type"].as_str().unwrap() {
            "text" => {
                start["text"] = json!("");
                start.as_object_mut().unwrap().shift_remove("citations");
                for citation in block["citations"].as_array().into_iter().flatten() {
                    deltas.push(json!({"type": "citations_delta", "citation": citation}));
                }
                let text = block["text"].as_str().unwrap();
                deltas.extend(pieces(text).iter().map(|text| json!({"type": "text_delta", "text": text})));
            }
            "thinking" => {
                (start["thinking"], start["signature"]) = (json!(""), json!(""));
                let text = block["thinking"].as_str().unwrap();
                let texts = pieces(text);
                deltas.extend(texts.iter().map(|text| json!({"type": "thinking_delta", "thinking": text})));
                deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            }
            "tool_use" | "server_tool_use" => {
                start["input"] = json!({});
                let input = block["input"].to_string();
                let input = if input == "{}" { String::new() } else { input };
                deltas.push(json!({"type": "input_json_delta", "partial_json": ""}));
                deltas.extend(
                    pieces(&input)
                        .iter()
                        .map(|text| json!({"type": "input_json_delta", "partial_json": text})),
                );
            }
            _ => {}
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta",
        "delta": {"stop_reason": answer["stop_reason"], "stop_sequence": answer["stop_sequence"],
            "container": answer["container"]},
        "usage": {"output_tokens": answer["usage"]["output_tokens"], "input_tokens": null}}));
    events.push(json!({"type": "message_stop"}));
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    sse(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn every_block_has_its_item() {
    let response = fold(read(&streamed(&rich())).unwrap());
    let kinds: Vec<String> = items(&response)
        .iter()
        .map(|item| match &item.body {
            ItemBody::Message(message) => format!("message/{}", message.parts.len()),
            ItemBody::Reasoning(reasoning) => format!("{:?}", reasoning.carriers[0].kind),
            ItemBody::Call(call) => format!("{}{}", call.name, call.args),
            ItemBody::Opaque(opaque) => opaque.kind.to_string(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "Signature",
            "Redacted",
            "message/1",
            "server_tool_use",
            "web_search_tool_result",
            "message/2",
            "f{\"a\":[1,2.0,\"}\"]}",
            "g{}",
        ]
    );
    assert!(items(&response).iter().all(|item| item.status == Some(ItemStatus::Completed)));
    assert_eq!(finish(&response), Some(&FinishReason::ToolCalls));
    let ItemBody::Reasoning(thought) = &items(&response)[0].body else { panic!() };
    assert_eq!(thought.text, ["Hm, 気."]);
    let signature = Carrier { kind: CarrierKind::Signature, data: "c2ln".into(), origin: None };
    assert_eq!(thought.carriers, [signature]);
    let ItemBody::Opaque(search) = &items(&response)[3].body else { panic!() };
    assert_eq!(
        search.json.as_str(),
        r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"a \"b\""}}"#
    );
    let ItemBody::Message(message) = &items(&response)[5].body else { panic!() };
    let PartKind::Text(text) = &message.parts[1].kind else { panic!() };
    assert_eq!(text.text, "Cité 🙂");
    assert!(text.annotations.iter().all(|mark| (mark.start, mark.end) == (Some(0), Some(6))));
    let url = AnnotationKind::Url { url: "https://a.example".into(), title: "A".into() };
    assert_eq!(text.annotations[0].kind, url);
    assert!(matches!(text.annotations[1].kind, AnnotationKind::Opaque { dialect: DialectId::Messages, .. }));
    let usage = response.usage.as_ref().unwrap();
    assert_eq!((usage.input_total, usage.cache_read, usage.output_total, usage.reasoning), (45, 5, 50, 7));
    assert_eq!((usage.cache_write.m5, usage.cache_write.h1), (20, 10));
    assert_eq!(response.upstream.upstream_id.as_deref(), Some("msg_01"));
    assert_eq!(response.upstream.service_tier.as_deref(), Some("standard"));
}

#[test]
fn a_stream_says_what_a_whole_answer_says_and_both_come_back() {
    let answer = rich();
    let whole = fold(decode_whole(&answer.to_string()).unwrap());
    let events = read(&streamed(&answer)).unwrap();
    let stream = fold(events.clone());
    assert_eq!(
        (&whole.output, &whole.finishes, &whole.usage),
        (&stream.output, &stream.finishes, &stream.usage)
    );
    assert_eq!(encode(&whole), answer);

    let written = write(&whole_life(events));
    let again = fold(read(&written).unwrap());
    assert_eq!(
        (&again.output, &again.finishes, &again.usage),
        (&whole.output, &whole.finishes, &whole.usage)
    );
    assert!(written.contains(r#""container":{"id":"c_1"}"#), "{written}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_gives_the_same_events(size in 1_usize..200, crlf in any::<bool>()) {
        let stream = streamed(&rich());
        let cut = if crlf { stream.replace('\n', "\r\n") } else { stream.clone() };
        let joined = |events: Vec<Event>| fold(events).output.clone();
        prop_assert_eq!(joined(read(&stream).unwrap()), joined(read_cut(cut.as_bytes(), size).unwrap()));
        prop_assert_eq!(read(&stream).unwrap(), read_cut(cut.as_bytes(), size).unwrap());
    }
}

#[test]
fn stop_reasons() {
    let table = [
        ("end_turn", false, FinishReason::Stop, "end_turn"),
        ("tool_use", true, FinishReason::ToolCalls, "tool_use"),
        ("tool_use", false, FinishReason::Stop, "end_turn"),
        ("end_turn", true, FinishReason::ToolCalls, "tool_use"),
        ("stop_sequence", false, FinishReason::StopString(Some("X".into())), "stop_sequence"),
        ("max_tokens", false, FinishReason::Length, "max_tokens"),
        (
            "model_context_window_exceeded",
            false,
            FinishReason::ContextWindow,
            "model_context_window_exceeded",
        ),
        ("pause_turn", false, FinishReason::Paused, "pause_turn"),
        ("refusal", false, FinishReason::Refusal, "refusal"),
        ("refusal", true, FinishReason::Refusal, "refusal"),
        ("tired", false, FinishReason::Other("tired".into()), "end_turn"),
        ("compaction", false, FinishReason::Other("compaction".into()), "compaction"),
    ];
    for (word, call, reason, shown) in table {
        let mut answer = rich();
        let block = if call {
            json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})
        } else {
            json!({"type": "text", "text": "x"})
        };
        answer["content"] = json!([block]);
        answer["stop_reason"] = json!(word);
        answer["stop_sequence"] = if word == "stop_sequence" { json!("X") } else { json!(null) };
        for events in [decode_whole(&answer.to_string()).unwrap(), read(&streamed(&answer)).unwrap()] {
            let told = events.iter().any(|event| matches!(event, Event::Loss(_)));
            assert_eq!(told, matches!(reason, FinishReason::Other(_)), "{word}");
            let response = fold(events);
            assert_eq!(finish(&response), Some(&reason), "{word}");
            let encoded = encode(&response);
            assert_eq!(encoded["stop_reason"], shown);
            assert_eq!(encoded["stop_sequence"], answer["stop_sequence"]);
        }
    }
}

#[test]
fn a_call_that_was_cut_is_no_call_to_run() {
    let stream = sse(&[
        r#"{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":1,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \"b"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}"#,
        r#"{"type":"message_stop"}"#,
    ]);
    let response = fold(read(&stream).unwrap());
    assert_eq!(finish(&response), Some(&FinishReason::Length));
    assert_eq!(items(&response)[0].status, Some(ItemStatus::Incomplete));
    assert_eq!(encode(&response)["content"][0]["input"], json!({"input": "{\"a\": \"b"}));
    assert_eq!(response.status, Status::Completed);
}

#[test]
fn names_come_back_and_custom_tools_are_unwrapped() {
    let mut names = crate::NameMap::default();
    let wire = names.outward(Some("functions"), "exec");
    names.wrap(&wire, crate::names::Wrap::Custom);
    let mut answer = rich();
    answer["content"] =
        json!([{"type": "tool_use", "id": "t", "name": &*wire, "input": {"input": "ls -l\n"}}]);
    let (streamed, outcome) = super::read_all(streamed(&answer).as_bytes(), 7, names.clone());
    outcome.unwrap();
    let mut whole = Vec::new();
    crate::Dialect::decode_response(&super::Messages, answer.to_string().as_bytes(), &names, &mut whole)
        .unwrap();
    for events in [streamed, whole] {
        let response = fold(events);
        let ItemBody::Call(call) = &items(&response)[0].body else { panic!() };
        assert_eq!(
            (call.kind, call.namespace.as_deref(), &*call.name),
            (CallKind::Custom, Some("functions"), "exec")
        );
        assert_eq!(call.args, "ls -l\n");
    }
}
