//! Upstreams that follow the wire loosely, and errors of upstreams.

use serde_json::{Value, json};
use trilith_core::{
    ErrorKind, ErrorOrigin, Event, Finish, FinishReason, ItemBody, ItemStatus, PartKind, Retry,
    StreamOptions, ToolStage,
};

use super::support::{created, data, fold, lifecycle, read, sse, stream};
use crate::{
    dialect::{Dialect, Sniffed},
    names::NameMap,
    responses::Responses,
};

const DONE_ITEM: &str = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"m1",
"role":"assistant","content":[{"type":"output_text","text":"Hello","annotations":[]}]}}"#;
const COMPLETED: &str = r#"{"type":"response.completed","response":{"id":"r","status":"completed","output":[],
"usage":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}}"#;

fn flat(events: &[&str]) -> Vec<u8> {
    let lines: Vec<String> = events.iter().map(|event| event.replace('\n', "")).collect();
    sse(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn text(response: &trilith_core::Response, index: usize) -> &str {
    let ItemBody::Message(message) = &response.output[index].item.body else { panic!() };
    message.parts[0].as_text().unwrap()
}

#[test]
fn items_that_only_end_are_told_whole() {
    let (events, end) = read(&flat(&[DONE_ITEM, COMPLETED]), 5);
    end.unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::TextDelta { delta, .. } if delta == "Hello")));
    let response = fold(events);
    assert_eq!(text(&response, 0), "Hello");
    assert_eq!(response.usage.as_ref().unwrap().total(), 5);
}

#[test]
fn output_that_only_the_last_event_holds_is_told() {
    let last = r#"{"type":"response.completed","response":{"status":"completed","output":[
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"late"}]},
{"type":"function_call","name":"f","call_id":"c","arguments":"{}"}]}}"#;
    let response = fold(read(&flat(&[last]), 9).0);
    assert_eq!(text(&response, 0), "late");
    assert_eq!(response.finishes, [Some(FinishReason::ToolCalls)]);
}

#[test]
fn deltas_without_an_announced_item_make_one() {
    let events = [
        r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"a"}"#,
        r#"{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"b"}"#,
        COMPLETED,
    ];
    let response = fold(read(&flat(&events), 1000).0);
    assert_eq!(text(&response, 0), "ab");
    assert_eq!(response.output[0].item.id.as_deref(), Some("m"));
}

#[test]
fn interleaved_calls_are_kept_apart_and_missing_text_is_filled_in() {
    let events = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"a","call_id":"c1","name":"f","arguments":""}}"#,
        r#"{"type":"response.output_item.added","output_index":3,"item":{"type":"function_call","id":"b","call_id":"c2","name":"g","arguments":""}}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":3,"delta":"{\"y\""}"#,
        r#"{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"x\":1}"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"a","call_id":"c1","name":"f","arguments":"{\"x\":1}"}}"#,
        r#"{"type":"response.function_call_arguments.done","output_index":3,"arguments":"{\"y\":2}"}"#,
        COMPLETED,
    ];
    let response = fold(read(&flat(&events), 17).0);
    let args: Vec<&str> = response
        .output
        .iter()
        .map(|output| match &output.item.body {
            ItemBody::Call(call) => call.args.as_str(),
            _ => panic!(),
        })
        .collect();
    assert_eq!(args, [r#"{"x":1}"#, r#"{"y":2}"#]);
    assert!(response.output.iter().all(|output| output.item.status == Some(ItemStatus::Completed)));
}

#[test]
fn a_cut_answer_leaves_its_last_item_incomplete() {
    let events = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","role":"assistant","content":[]}}"#,
        r#"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"One, tw"}"#,
        r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}"#,
    ];
    let response = fold(read(&flat(&events), 30).0);
    assert_eq!(response.output[0].item.status, Some(ItemStatus::Incomplete));
    assert_eq!(response.incomplete, Some(FinishReason::Length));
}

#[test]
fn hosted_tools_report_their_steps_and_unknown_events_pass() {
    let events = [
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"in_progress"}}"#,
        r#"{"type":"response.web_search_call.in_progress","output_index":0,"item_id":"ws"}"#,
        r#"{"type":"response.web_search_call.searching","output_index":0,"item_id":"ws"}"#,
        r#"{"type":"response.web_search_call.daydreaming","output_index":0,"item_id":"ws","sequence_number":77}"#,
        r#"{"type":"response.web_search_call.completed","output_index":0,"item_id":"ws"}"#,
        r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"q"}}}"#,
        r#"{"type":"response.output_item.done","output_index":1,"item":{"type":"telepathy","id":"t","status":"completed","thought":"x"}}"#,
        COMPLETED,
    ];
    let (events, end) = read(&flat(&events), 11);
    end.unwrap();
    let stages: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolProgress { stage, .. } => Some(*stage),
            _ => None,
        })
        .collect();
    assert_eq!(stages, [ToolStage::InProgress, ToolStage::Searching, ToolStage::Completed]);
    let all = lifecycle(created("resp_9", Default::default(), true), events, None, 5);
    let (stream, response) = stream(&all, StreamOptions::default());
    super::order::check(&stream);
    let odd = data(&stream)
        .into_iter()
        .find(|event| event["type"] == "response.web_search_call.daydreaming")
        .unwrap();
    assert_eq!((&odd["item_id"], &odd["output_index"]), (&json!("ws"), &json!(0)));
    assert_ne!(odd["sequence_number"], 77, "numbers are ours");
    assert!(
        matches!(&response.output[1].item.body, ItemBody::Opaque(opaque) if &*opaque.kind == "telepathy")
    );
}

#[test]
fn a_body_in_place_of_a_stream_is_read() {
    let body = br#" {"id":"r","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"whole"}]}]}"#;
    for size in [1, 8, 4096] {
        let (events, end) = read(body, size);
        end.unwrap();
        assert_eq!(text(&fold(events), 0), "whole");
    }
}

#[test]
fn a_broken_stream_is_never_a_finished_answer() {
    let cut = flat(&[DONE_ITEM]);
    let (events, end) = read(&cut, 64);
    assert_eq!(end.unwrap_err().kind, ErrorKind::UpstreamBroken);
    assert!(!events.iter().any(|event| matches!(event, Event::Finish(_))));
    for bad in ["data: {nonsense\n\n", "data: {\"type\":\"response.output_item.done\",\"item\":7}\n\n", ""] {
        assert!(read(bad.as_bytes(), 1000).1.is_err(), "{bad}");
    }
    let (_, end) = read(b"data: [DONE]\n\n", 100);
    assert!(end.is_err());
}

#[test]
fn errors_in_the_stream_keep_what_came_before() {
    let forms = [
        r#"{"type":"error","error":{"type":"requests","code":"rate_limit_exceeded","message":"slow","param":null}}"#,
        r#"{"type":"error","code":"rate_limit_exceeded","message":"slow","param":null,"sequence_number":1}"#,
        r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"}}}"#,
        r#"{"error":{"code":"rate_limit_exceeded","message":"slow"}}"#,
    ];
    for form in forms {
        let (events, end) = read(&flat(&[DONE_ITEM, form]), 13);
        let error = end.unwrap_err();
        assert_eq!((error.kind, error.origin), (ErrorKind::RateLimited, ErrorOrigin::Upstream), "{form}");
        assert_eq!(error.public, "slow");
        let all = lifecycle(created("resp_2", Default::default(), true), events, Some(error), 5);
        let (stream, _) = stream(&all, StreamOptions::default());
        super::order::check(&stream);
        let told = data(&stream);
        let error = told.iter().find(|event| event["type"] == "error").unwrap();
        assert_eq!(error["code"], error["error"]["code"], "X2");
        assert_eq!(error["error"].as_object().unwrap().len(), 4);
        let failed = &told.last().unwrap()["response"];
        assert_eq!((&failed["status"], &failed["error"]["message"]), (&json!("failed"), &json!("slow")));
        assert_eq!(failed["output"][0]["content"][0]["text"], "Hello");
    }
}

#[test]
fn upstream_error_bodies_are_classed_by_status_and_code() {
    let cases: [(u16, &str, ErrorKind, Retry); 12] = [
        (
            401,
            r#"{"error":{"message":"Incorrect API key sk-abc","code":"invalid_api_key"}}"#,
            ErrorKind::UpstreamBroken,
            Retry::Elsewhere,
        ),
        (403, "<html>no</html>", ErrorKind::UpstreamBroken, Retry::Elsewhere),
        (
            404,
            r#"{"error":{"message":"no such model","code":"model_not_found"}}"#,
            ErrorKind::NotFound,
            Retry::Elsewhere,
        ),
        (400, r#"{"error":{"message":"bad 429","param":"input"}}"#, ErrorKind::BadRequest, Retry::Never),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"long"}}"#,
            ErrorKind::ContextTooLong,
            Retry::Never,
        ),
        (
            429,
            r#"{"error":{"type":"insufficient_quota","message":"pay"}}"#,
            ErrorKind::QuotaExhausted,
            Retry::Never,
        ),
        (429, "", ErrorKind::RateLimited, Retry::Same(None)),
        (500, "[{\"error\":{\"code\":500,\"message\":\"x\"}}]", ErrorKind::UpstreamBroken, Retry::Elsewhere),
        (503, r#"{"detail":"busy"}"#, ErrorKind::Overloaded, Retry::Same(None)),
        (529, r#""busy""#, ErrorKind::Overloaded, Retry::Same(None)),
        (504, "null", ErrorKind::Timeout, Retry::Elsewhere),
        (
            502,
            r#"{"error":"at http://10.0.0.7:9/x, key sk-abc"}"#,
            ErrorKind::UpstreamBroken,
            Retry::Elsewhere,
        ),
    ];
    for (status, body, kind, retry) in cases {
        let error = Responses.decode_error(status, body.as_bytes());
        assert_eq!(
            (error.kind, error.retry, error.origin),
            (kind, retry, ErrorOrigin::Upstream),
            "{status} {body}"
        );
        assert!(!error.public.is_empty());
        for secret in ["sk-", "10.0.0.7", "html"] {
            assert!(!error.public.contains(secret), "{}", error.public);
        }
        let mut out = Vec::new();
        let rendered = Responses.render_error(&error, "", &mut out);
        assert_ne!((status, rendered), (401, 401), "the caller's key is not meant");
        assert!(serde_json::from_slice::<Value>(&out).is_ok());
    }
}

#[test]
fn passing_answers_are_metered() {
    let mut seen = Sniffed::default();
    Responses.sniff(
        br#"{"type":"response.output_text.delta","delta":"\"usage\": response.completed"}"#,
        &mut seen,
    );
    assert_eq!(seen, Sniffed::default());
    Responses.sniff(COMPLETED.replace('\n', "").as_bytes(), &mut seen);
    assert!(seen.ended && !seen.failed);
    assert_eq!(seen.usage.as_ref().unwrap().input_total, 3);
    let mut whole = Sniffed::default();
    let body = br#"{"id":"r","object":"response","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}"#;
    Responses.sniff(body, &mut whole);
    assert!(whole.ended && whole.usage.is_some());
    let mut failed = Sniffed::default();
    Responses.sniff(br#"{"type":"error","error":{"message":"x"}}"#, &mut failed);
    assert!(failed.failed);
}

#[test]
fn parts_of_a_later_version_are_reported() {
    let item = r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"hologram"},{"type":"output_text","text":"x"}]}}"#;
    let (events, end) = read(&flat(&[item, COMPLETED]), 50);
    end.unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Loss(_))));
    assert!(events.contains(&Event::Finish(Finish { choice: 0, reason: FinishReason::Stop })));
    let response = fold(events);
    let ItemBody::Message(message) = &response.output[0].item.body else { panic!() };
    assert!(matches!(&message.parts[0].kind, PartKind::Text(text) if text.text == "x"));
}

#[test]
fn a_whole_answer_that_has_not_ended_is_no_answer() {
    for body in ["{}", "[]", "x", r#"{"error":{"message":"no"}}"#, r#"{"status":"in_progress","output":[]}"#]
    {
        let mut events = Vec::new();
        assert!(
            Responses.decode_response(body.as_bytes(), &NameMap::default(), &mut events).is_err(),
            "{body}"
        );
    }
}

#[test]
fn numbers_and_counts_without_measure_are_survived() {
    let far = r#"{"type":"response.output_item.added","output_index":18446744073709551615,"item":{"type":"message"}}"#;
    let next = r#"{"type":"response.output_item.done","item":{"type":"message","id":"n"}}"#;
    let part = r#"{"type":"response.output_text.delta","content_index":1e300,"output_index":-4,"delta":"x"}"#;
    assert!(read(&flat(&[far, next, part, COMPLETED]), 4096).1.is_ok());
    let many: Vec<u8> = (0..5000)
        .flat_map(|n| {
            format!("data: {{\"type\":\"response.output_item.done\",\"output_index\":{n},\"item\":{{\"type\":\"message\"}}}}\n\n")
                .into_bytes()
        })
        .collect();
    assert!(read(&many, 1 << 16).1.is_err());
}
