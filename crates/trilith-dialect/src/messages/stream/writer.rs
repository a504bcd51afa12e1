//! Writes a client's stream (dialects §1.7). The wire shows one block at a time, so items that grow side by side
//! are shown one after another; what waits is read from the response, which holds it anyway.

use std::collections::VecDeque;

use trilith_core::{
    Annotation, CallKind, CarrierKind, DialectId, End, Error, Event, ItemBody, Json, Loss, OutputItem,
    PartKind, Response, Status,
};

use super::frames::{Blocks, Holds, message_end, message_start};
use crate::{
    Writer,
    frame::sse::write_comment,
    messages::{
        error,
        response::{self, BREAK, Form},
        spelling,
    },
};

/// Details that are kept for the end of the stream.
const DETAILS: usize = 16;

/// Writes a client's stream of events.
#[derive(Default)]
pub(in crate::messages) struct MessagesWriter {
    started: bool,
    /// The response ended; nothing more is written.
    ended: bool,
    items: Vec<Slot>,
    /// The item whose events are written as they come.
    current: Option<u32>,
    /// Items that wait for it to end.
    queue: VecDeque<u32>,
    blocks: Blocks,
    /// A new part of the reasoning that is shown began, after others.
    apart: bool,
    details: Vec<Json>,
}

/// What an item is to this stream.
#[derive(Clone, Copy)]
struct Slot {
    form: Form,
    /// Its newest part can still grow.
    part_open: bool,
    /// That part has text.
    part_said: bool,
}

impl MessagesWriter {
    fn start(&mut self, response: &Response, out: &mut Vec<u8>) {
        if !self.started {
            self.started = true;
            message_start(response, out);
        }
    }

    fn slot(&mut self, index: u32) -> Option<&mut Slot> {
        self.items.get_mut(index as usize)
    }

    fn form(&self, index: u32) -> Form {
        self.items.get(index as usize).map_or(Form::Hidden, |slot| slot.form)
    }

    fn added(&mut self, index: u32, response: &Response, out: &mut Vec<u8>) {
        self.start(response, out);
        let form = response.output.get(index as usize).map_or(Form::Hidden, response::form);
        self.items.push(Slot { form, part_open: false, part_said: false });
        if form != Form::Hidden {
            self.queue.push_back(index);
            self.advance(response, out);
        }
    }

    /// Shows what waits, until an item that still grows.
    fn advance(&mut self, response: &Response, out: &mut Vec<u8>) {
        while self.current.is_none()
            && let Some(index) = self.queue.pop_front()
        {
            let Some(output) = response.output.get(index as usize) else { continue };
            self.current = Some(index);
            self.enter(index, output, out);
            if !output.open {
                self.leave(output, out);
            }
        }
    }

    /// Shows what the item has so far.
    fn enter(&mut self, index: u32, output: &OutputItem, out: &mut Vec<u8>) {
        let Some(Slot { part_open, part_said, .. }) = self.slot(index).copied() else { return };
        match &output.item.body {
            ItemBody::Message(message) => {
                for (number, part) in message.parts.iter().enumerate() {
                    match &part.kind {
                        PartKind::Text(text) => {
                            self.text(&text.text, out);
                            text.annotations.iter().for_each(|annotation| self.cite(annotation, out));
                        }
                        PartKind::Refusal(refusal) => self.text(refusal, out),
                        _ => {}
                    }
                    if !part_open || number + 1 < message.parts.len() {
                        self.blocks.stop(out);
                    }
                }
            }
            ItemBody::Reasoning(reasoning) => {
                self.apart = false;
                let text = response::reasoning_text(reasoning);
                self.think(&text, out);
                self.apart = part_open && !part_said && !text.is_empty();
            }
            ItemBody::Call(call) => {
                self.blocks.begin(Holds::Arguments, out, |out| {
                    let mut block = response::call_head(call, out);
                    block.raw("input", "{}");
                    for field in output.item.extra.of(DialectId::Messages) {
                        block.json(&field.name, &field.value);
                    }
                    block.end();
                });
                if call.kind == CallKind::Function {
                    self.arguments(&call.args, out);
                }
            }
            ItemBody::Opaque(opaque) => {
                self.blocks.whole(out, |out| out.extend_from_slice(opaque.json.as_str().as_bytes()));
                // Nothing of it can follow.
                self.current = None;
            }
            _ => {}
        }
    }

    /// The item that is shown is whole.
    fn leave(&mut self, output: &OutputItem, out: &mut Vec<u8>) {
        self.current = None;
        match &output.item.body {
            ItemBody::Reasoning(reasoning) => {
                let (signature, others) = response::signature(reasoning);
                if let Some(signature) = signature {
                    self.sign(signature, out);
                }
                for carrier in others {
                    self.blocks.stop(out);
                    match carrier.kind {
                        CarrierKind::Redacted => {
                            self.blocks.whole(out, |out| response::write_carrier(carrier, out));
                        }
                        _ => self.sign(&carrier.data, out),
                    }
                }
            }
            // The input of a custom tool is wrapped, and for that it must be whole.
            ItemBody::Call(call) if call.kind == CallKind::Custom => {
                self.blocks.delta(&crate::custom::wrap(&call.args), out);
            }
            _ => {}
        }
        self.blocks.stop(out);
    }

    /// Ends thinking with its signature. A block never begins with one: clients wait for its delta.
    fn sign(&mut self, signature: &str, out: &mut Vec<u8>) {
        self.open(Holds::Thinking, out);
        self.blocks.other_delta(out, |delta| {
            delta.string("type", "signature_delta");
            delta.string("signature", signature);
        });
    }

    fn done(&mut self, index: u32, response: &Response, out: &mut Vec<u8>) {
        if self.current == Some(index)
            && let Some(output) = response.output.get(index as usize)
        {
            self.leave(output, out);
            self.advance(response, out);
        }
    }

    /// Begins a block, unless one of its kind is open.
    fn open(&mut self, holds: Holds, out: &mut Vec<u8>) {
        if self.blocks.open() == Some(holds) {
            return;
        }
        let head: &[u8] = match holds {
            Holds::Text => br#"{"type":"text","text":""}"#,
            _ => br#"{"type":"thinking","thinking":"","signature":""}"#,
        };
        self.blocks.begin(holds, out, |out| out.extend_from_slice(head));
    }

    fn text(&mut self, delta: &str, out: &mut Vec<u8>) {
        if !delta.is_empty() {
            self.open(Holds::Text, out);
            self.blocks.delta(delta, out);
        }
    }

    fn think(&mut self, delta: &str, out: &mut Vec<u8>) {
        if delta.is_empty() {
            return;
        }
        self.open(Holds::Thinking, out);
        if std::mem::take(&mut self.apart) {
            self.blocks.delta(BREAK, out);
        }
        self.blocks.delta(delta, out);
    }

    fn arguments(&self, delta: &str, out: &mut Vec<u8>) {
        if !delta.is_empty() {
            self.blocks.delta(delta, out);
        }
    }

    /// A citation stands in the block that it is of; a block without text is never begun for one.
    fn cite(&self, annotation: &Annotation, out: &mut Vec<u8>) {
        if let Some(json) = response::citation(annotation).filter(|_| self.blocks.open() == Some(Holds::Text))
        {
            self.blocks.other_delta(out, |delta| {
                delta.string("type", "citations_delta");
                delta.json("citation", json);
            });
        }
    }

    fn part_added(&mut self, index: u32, out: &mut Vec<u8>) {
        if let Some(slot) = self.slot(index) {
            (slot.part_open, slot.part_said) = (true, false);
        }
        if self.current == Some(index) {
            match self.form(index) {
                Form::Message => self.blocks.stop(out),
                _ => self.apart = self.blocks.open() == Some(Holds::Thinking),
            }
        }
    }

    fn piece(&mut self, index: u32, delta: &str, out: &mut Vec<u8>) {
        if let Some(slot) = self.slot(index) {
            slot.part_said |= !delta.is_empty();
        }
        if self.current == Some(index) {
            match self.form(index) {
                Form::Message => self.text(delta, out),
                Form::Reasoning => self.think(delta, out),
                _ => {}
            }
        }
    }

    fn end(&mut self, end: &End, response: &Response, out: &mut Vec<u8>) {
        self.ended = true;
        match (end.status, &end.error) {
            (Status::Completed | Status::Incomplete, _) => {
                self.start(response, out);
                self.blocks.stop(out);
                message_end(response, &self.details, out);
            }
            (_, Some(error)) => failure(error, out),
            (Status::Cancelled, None) => failure(&cancelled(), out),
            (_, None) => failure(&Error::internal("The answer failed."), out),
        }
    }
}

fn failure(error: &Error, out: &mut Vec<u8>) {
    out.extend_from_slice(b"event: error\ndata: ");
    error::write(error, None, out);
    out.extend_from_slice(b"\n\n");
}

fn cancelled() -> Error {
    use trilith_core::{ErrorKind, ErrorOrigin};
    Error::new(ErrorKind::Conflict, ErrorOrigin::Caller, "The answer was cancelled.")
}

fn comment(loss: &Loss, out: &mut Vec<u8>) {
    let text = format!("x-trilith-warning {}; {}", spelling::respell(&loss.path), loss.why);
    write_comment(out, &text.replace(['\n', '\r'], " "));
}

impl Writer for MessagesWriter {
    fn write(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::Begin(_) => self.start(response, out),
            Event::ItemAdded { index, .. } => self.added(*index, response, out),
            Event::PartAdded { index, .. } => self.part_added(*index, out),
            Event::TextDelta { index, delta, .. } | Event::PartDelta { index, delta, .. } => {
                self.piece(*index, delta, out);
            }
            Event::ArgumentsDelta { index, delta } => {
                // A custom tool's input comes in one piece, at its end.
                let item = response.output.get(*index as usize).map(|output| &output.item.body);
                let plain = matches!(item, Some(ItemBody::Call(call)) if call.kind == CallKind::Function);
                if self.current == Some(*index) && plain {
                    self.arguments(delta, out);
                }
            }
            Event::AnnotationAdded { index, annotation, .. } => {
                if self.current == Some(*index) {
                    self.cite(annotation, out);
                }
            }
            Event::PartDone { index, .. } => {
                if let Some(slot) = self.slot(*index) {
                    slot.part_open = false;
                }
                if self.current == Some(*index) && self.form(*index) == Form::Message {
                    self.blocks.stop(out);
                }
            }
            Event::ItemDone { index, .. } => self.done(*index, response, out),
            Event::Detail { dialect: DialectId::Messages, json, .. } => {
                if self.details.len() < DETAILS {
                    self.details.push(json.clone());
                }
            }
            Event::Loss(loss) => comment(loss, out),
            Event::End(end) => self.end(end, response, out),
            Event::Created(_)
            | Event::Status(_)
            | Event::AudioDelta { .. }
            | Event::ToolProgress { .. }
            | Event::Detail { .. }
            | Event::Usage(_)
            | Event::Finish(_) => {}
        }
    }
}
