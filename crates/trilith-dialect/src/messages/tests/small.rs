//! The card, the tee and the small bodies.

use trilith_core::DialectId;

use crate::{
    Dialect, Sniffed,
    messages::Messages,
    scan::{Limits, scan},
};

#[test]
fn the_card() {
    assert_eq!((Messages.id(), Messages.path()), (DialectId::Messages, "/messages"));
    assert_eq!(Messages.credential("k"), ("x-api-key", "k".to_owned()));
    assert_eq!(Messages.standing_headers(), [("anthropic-version", "2023-06-01")]);
    assert_eq!(Messages.ping(), b"event: ping\ndata: {\"type\": \"ping\"}\n\n");
    for (body, stateful, stream) in [
        (r#"{"model":"m"}"#, false, false),
        (r#"{"model":"m","thread":null,"stream":true}"#, false, true),
        (r#"{"model":"m","thread":{"type":"create"}}"#, true, false),
    ] {
        let peek = Messages.peek(&scan(body.as_bytes(), &Limits::default()).unwrap()).map(|peek| {
            assert_eq!(peek.model.as_deref(), Some("m"));
            (peek.stateful, peek.stream)
        });
        assert_eq!(peek.unwrap(), (stateful, stream));
    }
    let wrong = scan(br#"{"stream":1}"#, &Limits::default()).unwrap();
    assert_eq!(Messages.peek(&wrong).unwrap_err().param.as_deref(), Some("stream"));
}

#[test]
fn a_tee_sees_the_counts_and_the_end() {
    let mut seen = Sniffed::default();
    for data in [
        r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}"#,
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"\"message_stop\" \"error\""}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}"#,
    ] {
        Messages.sniff(data.as_bytes(), &mut seen);
    }
    assert!(!seen.ended && !seen.failed);
    let usage = seen.usage.clone().unwrap();
    assert_eq!((usage.input_total, usage.cache_read, usage.output_total), (15, 5, 7));
    Messages.sniff(br#"{"type":"message_stop"}"#, &mut seen);
    assert!(seen.ended);
    Messages.sniff(br#"{"type":"error","error":{"type":"api_error","message":"x"}}"#, &mut seen);
    assert!(seen.failed);
    let mut seen = Sniffed::default();
    Messages.sniff(
        br#"{"type":"message","stop_reason":"end_turn","content":[],"usage":{"input_tokens":1,"output_tokens":2}}"#,
        &mut seen,
    );
    assert!(seen.ended);
    assert_eq!(seen.usage.unwrap().total(), 3);
}

#[test]
fn a_client_reads_of_its_own_fields() {
    for (path, own) in [
        ("input", "messages"),
        ("input[0].content[1].text", "messages.0.content.1.text"),
        ("input[3].content[1]", "messages"),
        ("inputs", "inputs"),
        ("instructions[2]", "system"),
        ("messages.3.content", "messages.3.content"),
        ("messages[3].content", "messages.3.content"),
        ("max_output_tokens", "max_tokens"),
        ("text.format", "output_config.format"),
        ("response_format.json_schema.schema", "output_config.format.schema"),
        ("reasoning.effort", "output_config.effort"),
        ("reasoning_effort", "output_config.effort"),
        ("stop", "stop_sequences"),
        ("stop_sequences", "stop_sequences"),
        ("safety_identifier", "metadata.user_id"),
        ("user", "metadata.user_id"),
        ("parallel_tool_calls", "tool_choice.disable_parallel_tool_use"),
        ("tools[3].parameters.x", "tools.3.input_schema.x"),
        ("tools[3].function.name", "tools.3.name"),
        ("tools[3]", "tools.3"),
        ("tools", "tools"),
        ("temperature", "temperature"),
        ("", ""),
    ] {
        assert_eq!(Messages.respell(path), own, "{path}");
        assert_eq!(Messages.respell(own), own, "{own}");
    }
}
