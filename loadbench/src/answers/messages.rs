//! The Messages answers.

use serde_json::{Value, json};

use super::{ID_FIELD, MODEL, Script, http_chunk};
use crate::wire::TOKENS;

/// A message as it stands with this content.
pub(super) fn message(content: Value, stop_reason: Value, output_tokens: usize) -> Value {
    json!({
        "id": format!("msg_{ID_FIELD}"), "type": "message", "role": "assistant", "model": MODEL,
        "content": content, "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 24, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": output_tokens, "service_tier": "standard"},
    })
}

pub(super) fn script(tokens: &[String]) -> Script {
    let event = |body: Value| {
        let kind = body["type"].as_str().unwrap_or_default();
        http_chunk(&format!("event: {kind}\ndata: {body}\n\n"))
    };
    let open = [
        event(json!({"type": "message_start", "message": message(json!([]), Value::Null, 1)})),
        event(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "text", "text": ""}})),
    ]
    .concat();
    let delta = |token: &String| {
        event(json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": token}}))
    };
    let close = [
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": null},
            "usage": {"input_tokens": 24, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
                "output_tokens": TOKENS}})),
        event(json!({"type": "message_stop"})),
    ]
    .concat();
    Script { open, tokens: tokens.iter().map(delta).collect(), close }
}
