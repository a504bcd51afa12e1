//! The frames of a client's stream. What the deltas of one block share is put together once.

use serde::Deserialize;
use serde_json::value::RawValue;
use trilith_core::{Json, Response, Usage};

use crate::{
    json::{Object, int, on_one_line},
    messages::response::{self, usage},
    scan::write_string,
};

/// What a block holds, for its deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Text,
    Thinking,
    Arguments,
}

/// The blocks of one stream: one at a time, numbered from 0.
#[derive(Default)]
pub(super) struct Blocks {
    next: u32,
    open: Option<Holds>,
    /// Every delta of the open block, up to its text.
    head: Vec<u8>,
}

impl Blocks {
    pub(super) const fn open(&self) -> Option<Holds> {
        self.open
    }

    /// Begins a block, whose JSON `write` appends.
    fn start(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(
            b"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":",
        );
        int(out, self.next);
        out.extend_from_slice(b",\"content_block\":");
        let start = out.len();
        write(out);
        on_one_line(out, start);
        out.extend_from_slice(b"}\n\n");
    }

    /// Begins a block that gets its content in deltas.
    pub(super) fn begin(&mut self, holds: Holds, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.stop(out);
        self.start(out, write);
        self.open = Some(holds);
        self.head.clear();
        self.delta_head(match holds {
            Holds::Text => b"{\"type\":\"text_delta\",\"text\":",
            Holds::Thinking => b"{\"type\":\"thinking_delta\",\"thinking\":",
            Holds::Arguments => b"{\"type\":\"input_json_delta\",\"partial_json\":",
        });
    }

    fn delta_head(&mut self, delta: &[u8]) {
        self.head.extend_from_slice(
            b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":",
        );
        int(&mut self.head, self.next);
        self.head.extend_from_slice(b",\"delta\":");
        self.head.extend_from_slice(delta);
    }

    /// Appends to the open block.
    pub(super) fn delta(&self, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        write_string(out, text);
        out.extend_from_slice(b"}}\n\n");
    }

    /// A delta of another kind; `write` appends it.
    pub(super) fn other_delta(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut Object<'_>)) {
        out.extend_from_slice(
            b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":",
        );
        int(out, self.next);
        out.extend_from_slice(b",\"delta\":");
        let start = out.len();
        let mut object = Object::new(out);
        write(&mut object);
        object.end();
        on_one_line(out, start);
        out.extend_from_slice(b"}\n\n");
    }

    /// Ends the open block, if there is one.
    pub(super) fn stop(&mut self, out: &mut Vec<u8>) {
        if self.open.take().is_some() {
            self.end(out);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":",
        );
        int(out, self.next);
        out.extend_from_slice(b"}\n\n");
        self.next = self.next.saturating_add(1);
    }

    /// A block that needs no deltas.
    pub(super) fn whole(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.stop(out);
        self.start(out, write);
        self.end(out);
    }
}

/// The begin of the answer. What it costs is not known yet.
pub(super) fn message_start(response: &Response, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":");
    let mut object = Object::new(out);
    object.string("id", &response::answer_id(response));
    object.string("type", "message");
    object.string("role", "assistant");
    object.string("model", &response.settings.model);
    object.raw("content", "[]");
    object.null("stop_reason");
    object.null("stop_sequence");
    usage::write(&Usage::default(), response.upstream.service_tier.as_deref(), object.key("usage"));
    object.end();
    out.extend_from_slice(b"}\n\n");
}

/// Fields that only this dialect has a place for, at the end of a stream.
#[derive(Default, Deserialize)]
struct Own<'a> {
    #[serde(borrow)]
    stop_details: Option<&'a RawValue>,
    #[serde(borrow)]
    container: Option<&'a RawValue>,
    #[serde(borrow)]
    context_management: Option<&'a RawValue>,
    #[serde(borrow)]
    input_transformations: Option<&'a RawValue>,
}

/// The end of the answer. Of `details` the later ones count.
pub(super) fn message_end(response: &Response, details: &[Json], out: &mut Vec<u8>) {
    let mut own = Own::default();
    for (name, json) in response::own_fields(response) {
        let raw = serde_json::from_str::<&RawValue>(json.as_str()).ok();
        match name {
            "stop_details" => own.stop_details = raw,
            "container" => own.container = raw,
            "context_management" => own.context_management = raw,
            "input_transformations" => own.input_transformations = raw,
            _ => {}
        }
    }
    for detail in details {
        let told = serde_json::from_str::<Own<'_>>(detail.as_str()).unwrap_or_default();
        own.stop_details = told.stop_details.or(own.stop_details);
        own.container = told.container.or(own.container);
        own.context_management = told.context_management.or(own.context_management);
        own.input_transformations = told.input_transformations.or(own.input_transformations);
    }
    let put = |object: &mut Object<'_>, name: &str, raw: Option<&RawValue>| {
        if let Some(raw) = raw {
            object.raw(name, raw.get());
        }
    };
    out.extend_from_slice(b"event: message_delta\ndata: ");
    let start = out.len();
    let mut object = Object::new(out);
    object.string("type", "message_delta");
    let mut delta = object.object("delta");
    let (word, matched) = response::stop_reason(response);
    delta.string("stop_reason", word);
    match matched {
        Some(text) => delta.string("stop_sequence", text),
        None => delta.null("stop_sequence"),
    }
    put(&mut delta, "stop_details", own.stop_details);
    put(&mut delta, "container", own.container);
    delta.end();
    usage::write(response.usage.as_ref().unwrap_or(&Usage::default()), None, object.key("usage"));
    put(&mut object, "context_management", own.context_management);
    put(&mut object, "input_transformations", own.input_transformations);
    object.end();
    on_one_line(out, start);
    out.extend_from_slice(b"\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}
