//! What clients read.

use serde_json::{Value, json};
use trilith_core::{
    Annotation, AnnotationKind, Begin, Call, CallKind, Carrier, CarrierKind, Error, ErrorKind, ErrorOrigin,
    Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus, Loss, Message, PartSpace, PartStart,
    Reasoning, Response, Role, Status,
};

use super::{created, encode, ended, write};
use crate::{Dialect, messages::Messages};

fn begin() -> Event {
    Event::Begin(Box::new(Begin { upstream_id: Some("chatcmpl-9".into()), ..Begin::default() }))
}

fn added(index: u32, body: ItemBody) -> Event {
    Event::ItemAdded { index, choice: 0, item: Box::new(Item::new(body)) }
}

fn message(index: u32) -> Event {
    added(
        index,
        ItemBody::Message(Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None }),
    )
}

fn call(index: u32, kind: CallKind) -> Event {
    let call_id = Some(format!("call_{index}").into());
    let name = format!("f{index}").into();
    added(
        index,
        ItemBody::Call(Call {
            kind,
            call_id,
            name,
            namespace: None,
            args: String::new(),
            caller: None,
            detail: None,
        }),
    )
}

fn args(index: u32, delta: &str) -> Event {
    Event::ArgumentsDelta { index, delta: delta.into() }
}

fn part(index: u32, part: u32, start: PartStart) -> Event {
    Event::PartAdded { index, part, start }
}

fn text(index: u32, part: u32, delta: &str) -> Event {
    Event::TextDelta { index, part, delta: delta.into(), logprobs: Vec::new() }
}

fn piece(index: u32, part: u32, space: PartSpace, delta: &str) -> Event {
    Event::PartDelta { index, part, space, delta: delta.into() }
}

fn part_done(index: u32, part: u32, space: PartSpace) -> Event {
    Event::PartDone { index, part, space }
}

fn done(index: u32, carriers: Vec<Carrier>) -> Event {
    Event::ItemDone { index, status: ItemStatus::Completed, carriers, detail: None, extra: Extra::EMPTY }
}

fn carrier(kind: CarrierKind, data: &str) -> Carrier {
    Carrier { kind, data: data.into(), origin: None }
}

fn finish(reason: FinishReason) -> Event {
    Event::Finish(Finish { choice: 0, reason })
}

/// A short form of a stream: what every block is and holds, and how it ended. Checks the order on the way.
fn blocks(stream: &str) -> (Vec<Value>, Value) {
    let mut blocks: Vec<Value> = Vec::new();
    let (mut open, mut end) = (false, Value::Null);
    for frame in stream.split_terminator("\n\n").filter(|frame| !frame.starts_with(':')) {
        let (event, data) = frame.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["type"], event);
        assert!(end.is_null() || event == "message_stop", "nothing after the end");
        match event {
            "message_start" => assert!(blocks.is_empty()),
            "content_block_start" => {
                assert!(!open);
                assert_eq!(data["index"], blocks.len());
                open = true;
                blocks.push(data["content_block"].clone());
            }
            "content_block_delta" => {
                assert!(open);
                assert_eq!(data["index"], blocks.len() - 1);
                let block = blocks.last_mut().unwrap();
                let delta = &data["delta"];
                let mut append = |from: &str, to: &str| {
                    let text =
                        format!("{}{}", block[to].as_str().unwrap_or(""), delta[from].as_str().unwrap());
                    block[to] = json!(text);
                };
                match delta["type"].as_str().unwrap() {
                    "text_delta" => append("text", "text"),
                    "thinking_delta" => append("thinking", "thinking"),
                    "signature_delta" => append("signature", "signature"),
                    "input_json_delta" => append("partial_json", "input"),
                    "citations_delta" => block["citation"] = delta["citation"].clone(),
                    kind => panic!("{kind}"),
                }
            }
            "content_block_stop" => {
                assert!(open);
                assert_ne!(blocks.last().unwrap()["text"], json!(""));
                open = false;
            }
            "message_delta" | "error" => {
                assert!(!open || event == "error");
                end = data;
            }
            "message_stop" => {}
            other => panic!("{other}"),
        }
    }
    (blocks, end)
}

fn run(events: Vec<Event>) -> (Vec<Value>, Value, Response) {
    let mut all = vec![created(), Event::Status(Status::InProgress), begin()];
    all.extend(events);
    all.push(ended(Status::Completed, None));
    let (blocks, end) = blocks(&write(&all));
    (blocks, end, Response::fold(&all).unwrap())
}

/// The blocks of the stream as the whole form has them.
fn settled(mut blocks: Vec<Value>) -> Vec<Value> {
    for block in &mut blocks {
        if let Some(input) = block["input"].as_str() {
            block["input"] = serde_json::from_str(input).unwrap_or_else(|_| json!({"input": input}));
        }
    }
    blocks
}

#[test]
fn the_frames_byte_for_byte() {
    let stream = write(&[
        created(),
        begin(),
        message(0),
        part(0, 0, PartStart::Text),
        text(0, 0, "Hi \"x\""),
        part_done(0, 0, PartSpace::Content),
        done(0, vec![]),
        Event::Loss(Loss::warn("input[0]", "a\nb")),
        finish(FinishReason::Stop),
        ended(Status::Completed, None),
    ]);
    let usage = r#"{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":0}"#;
    let wanted = format!(
        "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"msg_00112233445566778899aabbccddeeff\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{usage}}}}}\n\n\
         event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"text\",\"text\":\"\"}}}}\n\n\
         event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"Hi \\\"x\\\"\"}}}}\n\n\
         event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
         : x-trilith-warning messages.0; a b\n\n\
         event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\",\"stop_sequence\":null}},\"usage\":{usage}}}\n\n\
         event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
    );
    assert_eq!(stream, wanted);
}

#[test]
fn calls_side_by_side_are_shown_one_after_another() {
    let (blocks, end, response) = run(vec![
        message(0),
        part(0, 0, PartStart::Text),
        call(1, CallKind::Function),
        text(0, 0, "a"),
        call(2, CallKind::Custom),
        args(1, "{\"x\""),
        text(0, 0, "b"),
        args(2, "ls "),
        part_done(0, 0, PartSpace::Content),
        done(0, vec![]),
        args(1, ":1}"),
        args(2, "-l"),
        call(3, CallKind::Function),
        done(3, vec![]),
        done(2, vec![]),
        message(4),
        part(4, 0, PartStart::Text),
        text(4, 0, "c"),
        done(1, vec![]),
        text(4, 0, "d"),
        part_done(4, 0, PartSpace::Content),
        done(4, vec![]),
        finish(FinishReason::ToolCalls),
    ]);
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    let wanted = json!([
        {"type": "text", "text": "ab"},
        {"type": "tool_use", "id": "call_1", "name": "f1", "input": {"x": 1}},
        {"type": "tool_use", "id": "call_2", "name": "f2", "input": {"input": "ls -l"}},
        {"type": "tool_use", "id": "call_3", "name": "f3", "input": {}},
        {"type": "text", "text": "cd"},
    ]);
    assert_eq!(json!(settled(blocks)), wanted);
    assert_eq!(encode(&response)["content"], wanted);
}

#[test]
fn reasoning_and_its_carriers() {
    let reasoning = |index| added(index, ItemBody::Reasoning(Reasoning::default()));
    let (blocks, _, response) = run(vec![
        reasoning(0),
        part(0, 0, PartStart::Summary),
        piece(0, 0, PartSpace::Summary, "a"),
        part_done(0, 0, PartSpace::Summary),
        part(0, 1, PartStart::Summary),
        reasoning(1),
        part(1, 0, PartStart::Reasoning),
        piece(0, 1, PartSpace::Summary, "b"),
        piece(1, 0, PartSpace::Reasoning, "q"),
        part_done(1, 0, PartSpace::Reasoning),
        part(1, 1, PartStart::Reasoning),
        part_done(0, 1, PartSpace::Summary),
        done(0, vec![carrier(CarrierKind::Encrypted, "tl1.x")]),
        piece(1, 1, PartSpace::Reasoning, "r"),
        part_done(1, 1, PartSpace::Reasoning),
        done(1, vec![]),
        reasoning(2),
        done(2, vec![carrier(CarrierKind::Redacted, "red")]),
        reasoning(3),
        done(3, vec![carrier(CarrierKind::Signature, "s1"), carrier(CarrierKind::Signature, "s2")]),
        reasoning(4),
        done(4, vec![]),
        finish(FinishReason::Stop),
    ]);
    let wanted = json!([
        {"type": "thinking", "thinking": "a\n\nb", "signature": "tl1.x"},
        {"type": "thinking", "thinking": "q\n\nr", "signature": ""},
        {"type": "redacted_thinking", "data": "red"},
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "thinking", "thinking": "", "signature": "s2"},
    ]);
    assert_eq!(encode(&response)["content"], wanted);
    let shown: Vec<Value> = blocks;
    // A carrier after the first comes whole.
    assert_eq!(json!(shown), wanted);
}

#[test]
fn what_has_no_form_is_not_shown_but_told() {
    let url = AnnotationKind::Url { url: "https://a.example".into(), title: "A".into() };
    let annotation = Annotation { kind: url, start: Some(0), end: Some(1), index: None, extra: Extra::EMPTY };
    let (blocks, end, response) = run(vec![
        call(0, CallKind::WebSearch),
        done(0, vec![]),
        message(1),
        part(1, 0, PartStart::Text),
        part_done(1, 0, PartSpace::Content),
        part(1, 1, PartStart::Text),
        text(1, 1, "x"),
        Event::AnnotationAdded { index: 1, part: 1, annotation },
        part_done(1, 1, PartSpace::Content),
        part(1, 2, PartStart::Refusal),
        piece(1, 2, PartSpace::Content, "No."),
        part_done(1, 2, PartSpace::Content),
        done(1, vec![]),
        finish(FinishReason::ToolCalls),
    ]);
    assert_eq!(end["delta"]["stop_reason"], "end_turn");
    let wanted = json!([{"type": "text", "text": "x"}, {"type": "text", "text": "No."}]);
    assert_eq!(json!(blocks), wanted);
    assert_eq!(encode(&response)["content"], wanted);
    let losses: Vec<String> =
        Messages.response_losses(&response).iter().map(|loss| loss.path.to_string()).collect();
    assert_eq!(losses, ["output[0]", "output[1].content[1].annotations", "output[1].content[2]"]);
}

#[test]
fn an_error_ends_the_stream() {
    let error = Error::new(ErrorKind::Overloaded, ErrorOrigin::Upstream, "Busy.");
    for start in
        [vec![], vec![begin(), message(0), part(0, 0, PartStart::Text), text(0, 0, "x"), done(0, vec![])]]
    {
        let mut all = vec![created()];
        all.extend(start);
        all.push(ended(Status::Failed, Some(error.clone())));
        let stream = write(&all);
        let last = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Busy.\"}}\n\n";
        assert!(stream.ends_with(last), "{stream}");
        blocks(&stream);
    }
    assert!(write(&[created(), ended(Status::Cancelled, None)]).starts_with("event: error\n"));
}

#[test]
fn an_empty_answer_is_whole() {
    let (blocks, end, response) = run(vec![finish(FinishReason::Refusal)]);
    assert!(blocks.is_empty());
    assert_eq!(end["delta"]["stop_reason"], "refusal");
    assert_eq!(encode(&response)["content"], json!([]));
}
