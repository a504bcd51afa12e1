//! The scripted upstream's answers, built once and patched per request.

use memchr::memmem;
use serde_json::{Value, json};

use crate::wire::{Dialect, STAMP_DIGITS, TOKENS, write_digits};

/// Stands in the built bytes where the number that makes an answer's ids unique goes.
const ID_FIELD: &str = "7777000000000007";
/// Stands in a paced token where its send time goes.
const STAMP_FIELD: &str = "8888000000000008";
const CREATED: u64 = 1_760_000_000;
const MODEL: &str = "bench-model-1";

/// Wire bytes with the places that change from answer to answer.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    ids: Vec<usize>,
    stamps: Vec<usize>,
}

impl Template {
    fn new(bytes: Vec<u8>) -> Self {
        let ids = memmem::find_iter(&bytes, ID_FIELD).collect();
        let stamps = memmem::find_iter(&bytes, STAMP_FIELD).collect();
        Self { bytes, ids, stamps }
    }

    /// Appends the bytes to `out` with this id number; send times become `stamp`.
    pub(crate) fn render(&self, id: u64, stamp: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        for (places, value) in [(&self.ids, id), (&self.stamps, stamp)] {
            for place in places {
                let at = start + place;
                if let Some(field) = out.get_mut(at..at + STAMP_DIGITS) {
                    write_digits(field, value);
                }
            }
        }
    }
}

/// Every answer of one dialect.
#[derive(Debug)]
pub(crate) struct Answers {
    /// A whole JSON answer.
    pub(crate) plain: Template,
    /// A whole stream.
    pub(crate) burst: Template,
    /// A whole stream with the usage chunk that the caller asked for.
    pub(crate) burst_usage: Template,
    /// The head, then the events before the first token.
    pub(crate) paced_open: Template,
    /// One token each.
    pub(crate) paced_tokens: Vec<Template>,
    /// What follows the last token.
    pub(crate) paced_close: Template,
    /// The same with the usage chunk.
    pub(crate) paced_close_usage: Template,
}

impl Answers {
    /// Builds the answers of `dialect`.
    pub(crate) fn new(dialect: Dialect) -> Self {
        let burst = |usage| {
            let tokens: Vec<String> = (0..TOKENS).map(burst_token).collect();
            let script = script(dialect, &tokens, usage);
            Template::new([script.open, script.tokens.concat(), script.close].concat())
        };
        let stamped: Vec<String> = (0..TOKENS).map(|_| format!(" @{STAMP_FIELD}")).collect();
        let paced = script(dialect, &stamped, false);
        Self {
            plain: Template::new(plain(dialect)),
            burst: burst(false),
            burst_usage: burst(true),
            paced_open: Template::new(paced.open),
            paced_tokens: paced.tokens.into_iter().map(Template::new).collect(),
            paced_close: Template::new(paced.close),
            paced_close_usage: Template::new(script(dialect, &stamped, true).close),
        }
    }
}

fn burst_token(index: usize) -> String {
    format!(" tok{index:02}")
}

/// A stream in wire bytes: HTTP chunks, one per event.
struct Script {
    open: Vec<u8>,
    tokens: Vec<Vec<u8>>,
    close: Vec<u8>,
}

fn script(dialect: Dialect, tokens: &[String], usage: bool) -> Script {
    let mut script = match dialect {
        Dialect::Chat => chat_script(tokens, usage),
        Dialect::Responses => responses_script(tokens),
        Dialect::Messages => messages::script(tokens),
    };
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
        cache-control: no-cache\r\nx-request-id: req_7777000000000007\r\ntransfer-encoding: chunked\r\n\r\n";
    script.open.splice(0..0, head.iter().copied());
    script.close.extend_from_slice(b"0\r\n\r\n");
    script
}

fn http_chunk(event: &str) -> Vec<u8> {
    format!("{:x}\r\n{event}\r\n", event.len()).into_bytes()
}

fn chat_script(tokens: &[String], usage: bool) -> Script {
    let chunk = |delta: Value, finish: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{ID_FIELD}"), "object": "chat.completion.chunk", "created": CREATED,
            "model": MODEL, "service_tier": "default", "system_fingerprint": "fp_44709d6fcb",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        });
        if usage && let Some(fields) = chunk.as_object_mut() {
            fields.insert("usage".to_owned(), Value::Null);
        }
        http_chunk(&format!("data: {chunk}\n\n"))
    };
    let mut close = chunk(json!({}), json!("stop"));
    if usage {
        let last = json!({
            "id": format!("chatcmpl-{ID_FIELD}"), "object": "chat.completion.chunk", "created": CREATED,
            "model": MODEL, "service_tier": "default", "system_fingerprint": "fp_44709d6fcb",
            "choices": [], "usage": chat_usage(),
        });
        close.extend(http_chunk(&format!("data: {last}\n\n")));
    }
    close.extend(http_chunk("data: [DONE]\n\n"));
    Script {
        open: chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null),
        tokens: tokens.iter().map(|token| chunk(json!({"content": token}), Value::Null)).collect(),
        close,
    }
}

fn responses_script(tokens: &[String]) -> Script {
    let mut sequence = 0;
    let mut event = |kind: &str, mut fields: Value| {
        let mut body = json!({"type": kind, "sequence_number": sequence});
        sequence += 1;
        if let (Some(body), Some(fields)) = (body.as_object_mut(), fields.as_object_mut()) {
            body.append(fields);
        }
        http_chunk(&format!("event: {kind}\ndata: {body}\n\n"))
    };
    let item_id = format!("msg_{ID_FIELD}");
    let text = tokens.concat();
    let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
    let item = |status: &str, content: Value| json!({"id": item_id, "type": "message", "status": status, "content": content, "role": "assistant"});
    let done_item = item("completed", json!([part(&text)]));
    let place = json!({"item_id": item_id, "output_index": 0, "content_index": 0});
    let with = |fields: Value| {
        let mut all = place.clone();
        if let (Some(all), Value::Object(mut fields)) = (all.as_object_mut(), fields) {
            all.append(&mut fields);
        }
        all
    };
    let started = response("in_progress", json!([]), Value::Null);
    let open = [
        event("response.created", json!({"response": started})),
        event("response.in_progress", json!({"response": started})),
        event(
            "response.output_item.added",
            json!({"output_index": 0, "item": item("in_progress", json!([]))}),
        ),
        event("response.content_part.added", with(json!({"part": part("")}))),
    ]
    .concat();
    let deltas = tokens
        .iter()
        .map(|token| event("response.output_text.delta", with(json!({"delta": token, "logprobs": []}))))
        .collect();
    let close = [
        event("response.output_text.done", with(json!({"text": text, "logprobs": []}))),
        event("response.content_part.done", with(json!({"part": part(&text)}))),
        event("response.output_item.done", json!({"output_index": 0, "item": done_item})),
        event(
            "response.completed",
            json!({"response": response("completed", json!([done_item]), responses_usage())}),
        ),
    ]
    .concat();
    Script { open, tokens: deltas, close }
}

fn plain(dialect: Dialect) -> Vec<u8> {
    let text = (TOKENS - 8..TOKENS).map(burst_token).collect::<String>();
    let body = match dialect {
        Dialect::Chat => json!({
            "id": format!("chatcmpl-{ID_FIELD}"), "object": "chat.completion", "created": CREATED,
            "model": MODEL,
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text, "refusal": null,
                "annotations": []}, "logprobs": null, "finish_reason": "stop"}],
            "usage": chat_usage(), "service_tier": "default", "system_fingerprint": "fp_44709d6fcb",
        }),
        Dialect::Responses => {
            let part = json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
            let item = json!({"id": format!("msg_{ID_FIELD}"), "type": "message", "status": "completed",
                "content": [part], "role": "assistant"});
            response("completed", json!([item]), responses_usage())
        }
        Dialect::Messages => {
            messages::message(json!([{"type": "text", "text": text}]), json!("end_turn"), TOKENS)
        }
    }
    .to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_{ID_FIELD}\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn response(status: &str, output: Value, usage: Value) -> Value {
    let completed_at = if status == "completed" { json!(CREATED + 1) } else { Value::Null };
    json!({
        "id": format!("resp_{ID_FIELD}"), "object": "response", "created_at": CREATED, "status": status,
        "completed_at": completed_at, "background": false, "error": null, "incomplete_details": null,
        "instructions": null, "max_output_tokens": null, "max_tool_calls": null, "model": MODEL,
        "output": output, "parallel_tool_calls": true, "previous_response_id": null,
        "prompt_cache_key": null, "reasoning": {"effort": null, "summary": null},
        "safety_identifier": null, "service_tier": "default", "store": false, "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"}, "tool_choice": "auto", "tools": [],
        "top_logprobs": 0, "top_p": 1.0, "truncation": "disabled", "usage": usage, "user": null,
        "metadata": {},
    })
}

fn chat_usage() -> Value {
    json!({"prompt_tokens": 24, "completion_tokens": TOKENS, "total_tokens": 24 + TOKENS,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}})
}

fn responses_usage() -> Value {
    json!({"input_tokens": 24, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 24 + TOKENS})
}

mod messages;
#[cfg(test)]
mod tests;
