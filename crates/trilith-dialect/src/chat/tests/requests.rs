//! What a client may ask, and how it is told what is wrong.

use serde_json::{Value, json};
use trilith_core::{CallKind, Effort, ErrorKind, ItemBody, Role};

use crate::{ALL_CAPABILITIES, Dialect, Peek, Quirks, Target, chat::Chat, scan};

fn decode(body: &Value) -> Result<trilith_core::Turn, trilith_core::Error> {
    Chat.decode_request(body.to_string().as_bytes())
}

fn asking(field: &str, value: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    body[field] = value;
    body
}

#[test]
fn a_wrong_request_is_told_the_field() {
    let call = json!({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let assistant = json!({"role": "assistant", "tool_calls": [call]});
    let user = json!({"role": "user", "content": "hi"});
    let part = |part: Value| asking("messages", json!([{"role": "user", "content": [part]}]));
    let many: Vec<Value> = vec![json!({"type": "function", "function": {"name": "f"}}); 10_000];
    let table = [
        (json!({"messages": [user]}), "model"),
        (json!({"model": "m"}), "messages"),
        (asking("messages", json!([])), "messages"),
        (asking("messages", json!("hi")), "messages"),
        (asking("messages", json!([{"role": "robot", "content": "x"}])), "messages[0].role"),
        (asking("messages", json!([{"content": "x"}])), "messages[0].role"),
        (asking("messages", json!([{"role": "user"}])), "messages[0].content"),
        (asking("messages", json!([{"role": "user", "content": 5}])), "messages[0].content"),
        (
            asking("messages", json!([user, {"role": "user", "content": [{"type": 5}]}])),
            "messages[1].content[0].type",
        ),
        (
            json!({"model": "m", "messages": [user], "tools": [{"type": "function", "function": {"name": "f"}}],
                "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}}),
            "tool_choice.allowed_tools.tools",
        ),
        (part(json!({"text": "x"})), "messages[0].content[0].type"),
        (part(json!({"type": "smell"})), "messages[0].content[0].type"),
        (part(json!({"type": "text"})), "messages[0].content[0].text"),
        (part(json!({"type": "image_url", "image_url": "x"})), "messages[0].content[0].image_url"),
        (
            part(json!({"type": "image_url", "image_url": {"url": "ftp://x"}})),
            "messages[0].content[0].image_url.url",
        ),
        (
            part(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,%%"}})),
            "messages[0].content[0].image_url.url",
        ),
        (
            part(json!({"type": "image_url", "image_url": {"url": "data:text/html;base64,AAAA"}})),
            "messages[0].content[0].image_url.url",
        ),
        (
            part(json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "ogg"}})),
            "messages[0].content[0].input_audio.format",
        ),
        (part(json!({"type": "file", "file": {}})), "messages[0].content[0].file"),
        (
            part(
                json!({"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit", "ttl": "1s"}}),
            ),
            "messages[0].content[0].prompt_cache_breakpoint.ttl",
        ),
        (asking("messages", json!([user, assistant, user])), "messages"),
        (asking("messages", json!([user, assistant])), "messages"),
        (
            asking("messages", json!([user, {"role": "tool", "tool_call_id": "call_9", "content": "x"}])),
            "messages[1].tool_call_id",
        ),
        (
            asking(
                "messages",
                json!([{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://x"}}]}]),
            ),
            "messages[0].content[0].type",
        ),
        (asking("temperature", json!(2.1)), "temperature"),
        (asking("temperature", json!("hot")), "temperature"),
        (asking("top_p", json!(-0.1)), "top_p"),
        (asking("n", json!(0)), "n"),
        (asking("n", json!(129)), "n"),
        (asking("top_logprobs", json!(3)), "top_logprobs"),
        (asking("max_completion_tokens", json!(0)), "max_completion_tokens"),
        (asking("max_tokens", json!(-1)), "max_tokens"),
        (asking("stop", json!(["a", "b", "c", "d", "e"])), "stop"),
        (asking("reasoning_effort", json!("huge")), "reasoning_effort"),
        (asking("verbosity", json!("huge")), "verbosity"),
        (asking("response_format", json!({"type": "xml"})), "response_format.type"),
        (
            asking("response_format", json!({"type": "json_schema", "json_schema": {"schema": {}}})),
            "response_format.json_schema.name",
        ),
        (
            asking("tools", json!([{"type": "function", "function": {"name": "a b"}}])),
            "tools[0].function.name",
        ),
        (asking("tools", json!([{"type": "web_search"}])), "tools[0].type"),
        (
            asking("tools", json!([{"type": "function", "function": {"name": "f", "parameters": []}}])),
            "tools[0].function.parameters",
        ),
        (asking("tools", json!(many)), "tools"),
        (asking("tool_choice", json!("auto")), "tool_choice"),
        (asking("stream_options", json!({"include_usage": true})), "stream_options"),
        (asking("metadata", json!({"k": "v".repeat(513)})), "metadata"),
        (asking("metadata", json!({"k": 1})), "metadata.k"),
        (asking("service_tier", json!("gold")), "service_tier"),
        (asking("modalities", json!("text")), "modalities"),
        (asking("logit_bias", json!([1])), "logit_bias"),
    ];
    for (body, param) in table {
        let shown: String = body.to_string().chars().take(300).collect();
        let error = decode(&body).expect_err(&shown);
        assert_eq!(
            (error.kind, error.param.as_deref()),
            (ErrorKind::BadRequest, Some(param)),
            "{shown}: {error}"
        );
    }
    for broken in ["", "{", "[]", "null", "{\"model\":\"m\",}", "\u{feff}{}"] {
        assert_eq!(
            Chat.decode_request(broken.as_bytes()).unwrap_err().kind,
            ErrorKind::BadRequest,
            "{broken}"
        );
    }
}

#[test]
fn an_unanswered_call_is_named_in_the_words_of_the_real_wire() {
    let body = asking(
        "messages",
        json!([{"role": "assistant", "tool_calls": [
        {"id": "call_a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "call_b", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_a", "content": "x"}]),
    );
    let error = decode(&body).unwrap_err();
    assert!(error.public.starts_with("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."));
    assert!(error.public.ends_with(": call_b"), "{error}");
}

#[test]
fn null_is_the_same_as_absent() {
    let mut body = asking("temperature", Value::Null);
    for field in [
        "tools",
        "tool_choice",
        "stop",
        "n",
        "stream",
        "stream_options",
        "metadata",
        "response_format",
        "audio",
    ] {
        body[field] = Value::Null;
    }
    let turn = decode(&body).unwrap();
    assert!(turn.settings.extra.is_empty());
    assert_eq!(turn.state.store, Some(false));
}

#[test]
fn the_deprecated_forms_are_read() {
    let body = json!({"model": "m", "functions": [{"name": "f", "parameters": {"type": "object"}}],
        "function_call": {"name": "f"}, "max_tokens": 5, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"}]});
    let turn = decode(&body).unwrap();
    assert_eq!(turn.settings.limits.max_output_tokens, Some(5));
    let [_, call, result] = turn.input.as_slice() else { panic!("{:?}", turn.input) };
    let (ItemBody::Call(call), ItemBody::Result(result)) = (&call.body, &result.body) else { panic!() };
    assert_eq!((call.kind, &call.call_id), (CallKind::Function, &result.call_id));
    let quirks = Quirks::default();
    let encoded = Chat
        .encode_request(&turn, &Target { model: "m", stream: true, quirks: &quirks, can: &ALL_CAPABILITIES })
        .unwrap();
    let sent: Value = serde_json::from_slice(&encoded.body).unwrap();
    assert_eq!(sent["messages"][1]["tool_calls"][0]["id"], sent["messages"][2]["tool_call_id"]);
    assert_eq!(sent["tool_choice"], json!({"type": "function", "function": {"name": "f"}}));
    assert_eq!(sent["stream_options"], json!({"include_usage": true}));
}

#[test]
fn an_assistant_turn_is_reasoning_then_words_then_calls() {
    let body = asking(
        "messages",
        json!([{"role": "assistant", "content": "a", "reasoning": "r", "tool_calls": [
        {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{ }"},
         "extra_content": {"google": {"thought_signature": "s"}}}]},
        {"role": "tool", "tool_call_id": "c", "content": "x"}, {"role": "tool", "tool_call_id": "c", "content": "y"}]),
    );
    let turn = decode(&body).unwrap();
    let kinds: Vec<&str> = turn
        .input
        .iter()
        .map(|item| match &item.body {
            ItemBody::Reasoning(_) => "reasoning",
            ItemBody::Message(message) => message.role.name(),
            ItemBody::Call(_) => "call",
            ItemBody::Result(_) => "result",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["reasoning", Role::Assistant.name(), "call", "result"]);
    assert_eq!(turn.losses.len(), 1, "an answer given twice is told");
}

#[test]
fn peeking_reads_the_road_and_no_more() {
    let peek = |body: &'static [u8]| Chat.peek(&scan::scan(body, &scan::Limits::default()).unwrap());
    let seen = peek(br#"{"model":"m","stream":true,"messages":5}"#).unwrap();
    assert_eq!(seen, Peek { model: Some("m".into()), stream: true, stateful: false });
    assert_eq!(peek(br#"{"model":5}"#).unwrap_err().param.as_deref(), Some("model"));
    assert_eq!(peek(br#"{"stream":"yes"}"#).unwrap_err().param.as_deref(), Some("stream"));
}

#[test]
fn settings_reach_their_places() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "reasoning_effort": "xhigh",
        "stop": "x", "stream": true, "stream_options": {"include_usage": true, "include_obfuscation": false}});
    let turn = decode(&body).unwrap();
    assert_eq!(turn.settings.reasoning.effort, Some(Effort::Xhigh));
    assert_eq!(turn.settings.sampling.stop, vec!["x".into()]);
    assert!(turn.stream.stream && turn.stream.include_usage);
    assert_eq!(turn.stream.include_obfuscation, Some(false));
}
