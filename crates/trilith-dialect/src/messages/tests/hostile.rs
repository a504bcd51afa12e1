//! Upstreams that break the rules (translation contract §16).

use trilith_core::{Event, FinishReason, ItemBody, ItemStatus};

use super::{decode_whole, finish, fold, items, order, read, read_all, sse};
use crate::NameMap;

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","model":"m","usage":{"input_tokens":3,"output_tokens":1}}}"#;
const END: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn text(index: u8, text: &str) -> [String; 3] {
    [
        format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"text","text":""}}}}"#
        ),
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        ),
        format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
    ]
}

fn said(events: Vec<Event>) -> String {
    let response = fold(events);
    let mut all = String::new();
    for item in items(&response) {
        if let ItemBody::Message(message) = &item.body {
            message.parts.iter().for_each(|part| all.push_str(part.as_text().unwrap()));
        }
    }
    all
}

#[test]
fn broken_rules_that_do_not_matter() {
    let [start, delta, stop] = text(0, "Hi");
    let lines: [(&str, Vec<&str>); 9] = [
        ("plain", vec![START, &start, &delta, &stop, END, STOP]),
        ("no message_stop", vec![START, &start, &delta, &stop, END]),
        ("begun twice", vec![START, START, &start, &delta, &stop, END, STOP]),
        ("never begun", vec![&start, &delta, &stop, END, STOP]),
        ("the block never begun", vec![START, &delta, &stop, END, STOP]),
        ("the block never stopped", vec![START, &start, &delta, END, STOP]),
        ("stopped twice", vec![START, &start, &delta, &stop, &stop, END, STOP]),
        ("ends twice", vec![START, &start, &delta, &stop, END, END, STOP, STOP]),
        (
            "unknown things",
            vec![
                START,
                r#"{"type":"news","x":1}"#,
                &start,
                &delta,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"odd_delta","x":1}}"#,
                &stop,
                END,
                STOP,
            ],
        ),
    ];
    for (what, events) in lines {
        let read = read(&sse(&events)).unwrap_or_else(|error| panic!("{what}: {error:?}"));
        assert_eq!(said(read.clone()), "Hi", "{what}");
        assert_eq!(finish(&fold(read)), Some(&FinishReason::Stop), "{what}");
    }
    let bare: String = [START, &start, &delta, &stop, END, STOP]
        .iter()
        .map(|data| format!("data:{data}\n\n: x\n\n"))
        .collect();
    assert_eq!(said(read(&format!("\u{feff}{bare}data: [DONE]\n\n")).unwrap()), "Hi");
}

#[test]
fn an_answer_without_its_end_is_an_error_and_a_piece() {
    let [start, delta, stop] = text(0, "Hi");
    let thinking =
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"x"}}"#;
    let call =
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f"}}"#;
    let raw = r#"{"type":"content_block_start","index":1,"content_block":{"type":"odd"}}"#;
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for events in [
        vec![],
        vec![START],
        vec![START, &start],
        vec![START, &start, &delta],
        vec![START, &start, &delta, &stop],
        vec![START, &start, &delta, &stop, thinking],
        vec![START, &start, &delta, &stop, call],
        vec![START, &start, &delta, &stop, raw],
        vec![START, &start, &delta, overloaded],
        vec![STOP],
    ] {
        let stream = sse(&events);
        let (events, outcome) = read_all(stream.as_bytes(), 5, NameMap::default());
        let error = outcome.unwrap_err();
        assert!(!error.public.is_empty());
        assert!(!events.iter().any(|event| matches!(event, Event::Finish(_))), "{stream}");
        order::check(&super::whole_life(events.clone()));
        let open = |event: &&Event| matches!(event, Event::ItemAdded { .. });
        let closed = |event: &&Event| matches!(event, Event::ItemDone { .. });
        assert_eq!(events.iter().filter(open).count(), events.iter().filter(closed).count(), "{stream}");
        let response = fold(events);
        // A block that is kept until it is whole leaves nothing behind, and ended the message before it.
        if let Some(last) = items(&response).last().filter(|_| !stream.contains("odd")) {
            assert_eq!(last.status, Some(ItemStatus::Incomplete), "{stream}");
        }
    }
}

#[test]
fn blocks_side_by_side() {
    let call = |index: u8| {
        format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"tool_use","id":"same","name":"f","input":{{}}}}}}"#
        )
    };
    let piece = |index: u8, text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"input_json_delta","partial_json":"{text}"}}}}"#
        )
    };
    let events = [call(0), call(1), piece(0, "[0"), piece(1, "[1"), piece(0, "]"), piece(1, "]")];
    let mut all = vec![START];
    all.extend(events.iter().map(String::as_str));
    all.extend([END, STOP]);
    let response = fold(read(&sse(&all)).unwrap());
    let calls: Vec<(String, String)> = items(&response)
        .iter()
        .filter_map(|item| match &item.body {
            ItemBody::Call(call) => Some((call.call_id.clone().unwrap().into(), call.args.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(calls.iter().map(|(_, args)| args.as_str()).collect::<Vec<_>>(), ["[0]", "[1]"]);
    assert_ne!(calls[0].0, calls[1].0, "ids are told apart");
    assert_eq!(finish(&response), Some(&FinishReason::ToolCalls));
}

#[test]
fn input_where_it_does_not_belong() {
    for (start, delta, args) in [
        (r#"{"a":1}"#, None, r#"{"a":1}"#),
        ("{}", None, "{}"),
        ("null", None, "{}"),
        (r#"{"a":1}"#, Some("{}"), "{}"),
        ("{}", Some(""), "{}"),
    ] {
        let begin = format!(
            r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"t","name":"f","input":{start}}}}}"#
        );
        let piece = delta.map(|delta| {
            format!(
                r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{delta}"}}}}"#
            )
        });
        let mut all = vec![START, &begin];
        all.extend(piece.as_deref());
        all.extend([END, STOP]);
        let response = fold(read(&sse(&all)).unwrap());
        let ItemBody::Call(call) = &items(&response)[0].body else { panic!() };
        assert_eq!(call.args, args);
    }
}

#[test]
fn bodies_in_the_place_of_streams() {
    let body = r#"{"id":"msg_1","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#;
    assert_eq!(said(read(body).unwrap()), "Hi");
    for body in [
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#,
        r#"{"error":"x"}"#,
        "{",
        "[]",
        "{\"id\":1}",
        "<html>",
    ] {
        assert!(read(body).is_err(), "{body}");
        assert!(decode_whole(body).is_err(), "{body}");
    }
    for odd in [
        r#"{"content":[{"type":"text"}],"stop_reason":7,"usage":{"input_tokens":"x","cache_creation":3}}"#,
        r#"{"content":[7,{},{"type":"tool_use"},{"type":4}],"stop_reason":null,"usage":null}"#,
    ] {
        fold(decode_whole(odd).unwrap());
    }
}

#[test]
fn nothing_is_kept_without_bound() {
    let start =
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s"}}"#;
    let mega = "x".repeat(1 << 20);
    let piece = format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{mega}"}}}}"#
    );
    let mut all = vec![START, start];
    all.extend(std::iter::repeat_n(piece.as_str(), 17));
    let (_, outcome) = read_all(sse(&all).as_bytes(), 1 << 16, NameMap::default());
    assert!(outcome.is_err());
}
