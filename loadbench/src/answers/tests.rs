use super::*;
use crate::http1::{BodyScanner, parse_head};

fn body(template: &Template) -> String {
    let mut bytes = Vec::new();
    template.render(42, 1_760_000_000_000_000, &mut bytes);
    let head = parse_head(&bytes).unwrap().unwrap();
    let mut out = Vec::new();
    let used = BodyScanner::of_response(head.framing)
        .feed(&bytes[head.len..], &mut |data| out.extend_from_slice(data))
        .unwrap();
    assert_eq!(used, Some(bytes.len() - head.len), "the framing ends with the bytes");
    String::from_utf8(out).unwrap()
}

fn data(stream: &str) -> Vec<Value> {
    stream
        .split("\n\n")
        .filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn chat_streams_have_role_tokens_finish_usage_and_done() {
    let answers = Answers::new(Dialect::Chat);
    let stream = body(&answers.burst_usage);
    assert!(stream.ends_with("data: [DONE]\n\n"));
    let chunks = data(&stream);
    assert_eq!(chunks.len(), 1 + TOKENS + 2);
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(chunks[0]["id"], "chatcmpl-0000000000000042");
    assert_eq!(chunks[TOKENS]["choices"][0]["delta"]["content"], " tok31");
    assert_eq!(chunks[TOKENS + 1]["choices"][0]["finish_reason"], "stop");
    assert_eq!(chunks[TOKENS + 2]["usage"]["completion_tokens"], TOKENS);
    assert_eq!(data(&body(&answers.burst)).len(), 1 + TOKENS + 1);
}

#[test]
fn responses_streams_are_numbered_and_complete() {
    let events = data(&body(&Answers::new(Dialect::Responses).burst));
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(
        kinds[..5],
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta"
        ]
    );
    assert_eq!(
        kinds[4 + TOKENS..],
        [
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed"
        ]
    );
    let text: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(events[3 + TOKENS + 4]["response"]["output"][0]["content"][0]["text"], text);
}

#[test]
fn messages_streams_open_and_close_one_block() {
    let events = data(&body(&Answers::new(Dialect::Messages).burst));
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds[..3], ["message_start", "content_block_start", "content_block_delta"]);
    assert_eq!(kinds[2 + TOKENS..], ["content_block_stop", "message_delta", "message_stop"]);
    assert_eq!(events[1 + TOKENS]["delta"]["text"], " tok31");
    assert_eq!(events[3 + TOKENS]["usage"]["output_tokens"], TOKENS);
}

#[test]
fn plain_answers_are_small_json() {
    for dialect in Dialect::ALL {
        let body = body(&Answers::new(dialect).plain);
        let value: Value = serde_json::from_str(&body).unwrap();
        let key = if dialect == Dialect::Messages { "output_tokens" } else { "total_tokens" };
        assert!(value["usage"][key].is_u64());
        assert!((300..1400).contains(&body.len()), "{} bytes", body.len());
    }
}
