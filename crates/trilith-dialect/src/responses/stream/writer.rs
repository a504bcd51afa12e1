//! Writes a client's stream in the order that both published specifications allow
//! (openai-checklist §11.2). The writer keeps no text: what is whole is read from the response.

use trilith_core::{
    CallKind, DialectId, Event, Item, ItemBody, Json, Logprob, Loss, OutputItem, PartKind, PartSpace,
    PartStart, Response, Status, StreamOptions, ToolStage,
};

use super::{
    delta::{DeltaFrame, Target, end_frame, start_frame},
    progress,
    replay::head,
    spot::{Spot, call_of, part_of, spot, text_in},
    turns::{Turns, item_of},
};
use crate::{
    dialect::Writer,
    openai_error,
    responses::{
        item::{Voice, shown_args, write_annotation, write_logprobs, write_part},
        object::Object,
        response::{Shown, render, write_output_item},
    },
    spelling,
    tape::Tape,
};

/// Deltas are padded to a multiple of this many bytes where the client asked for it, so that their length
/// does not tell the text.
const PADDING: usize = 64;

/// A writer for one streamed answer.
#[derive(Debug)]
pub(in crate::responses) struct ResponsesWriter {
    number: u64,
    /// The item whose events are written; those of later items wait for their turn.
    current: u32,
    turns: Turns,
    obfuscate: bool,
    shown: Option<Shown>,
    delta: DeltaFrame,
    /// What follows the text of a delta; kept for its memory.
    after: Vec<u8>,
    /// Calls whose arguments were begun, and those whose arguments were ended.
    args_begun: Vec<u32>,
    args_ended: Vec<u32>,
}

impl Writer for ResponsesWriter {
    fn write(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>) {
        match item_of(event) {
            Some(index) if index > self.current => self.turns.defer(event),
            Some(index) => {
                self.now(event, response, out);
                if index == self.current && matches!(event, Event::ItemDone { .. }) {
                    self.current += 1;
                    self.catch_up(response, out);
                }
            }
            None => self.now(event, response, out),
        }
    }
}

impl ResponsesWriter {
    /// Writes an event whose turn it is.
    fn now(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>) {
        match event {
            Event::Created(_) => {
                self.shown = Some(Shown::of(response));
                self.life("response.created", response, out);
            }
            Event::Status(Status::Queued) => self.life("response.queued", response, out),
            Event::Status(Status::InProgress) => self.life("response.in_progress", response, out),
            Event::ItemAdded { index, .. } => self.item("response.output_item.added", *index, response, out),
            Event::PartAdded { index, part, start } => self.part_added(*index, *part, *start, response, out),
            Event::TextDelta { index, part, delta, logprobs } => {
                self.text_delta((*index, *part), delta, logprobs, response, out);
            }
            Event::PartDelta { index, part, space, delta } => {
                self.write_delta(Target::of_space(*space), (*index, *part), delta, response, out);
            }
            Event::ArgumentsDelta { index, delta } => self.args_delta(*index, delta, response, out),
            Event::AudioDelta { index, part, transcript, .. } if !transcript.is_empty() => {
                self.text_delta((*index, *part), transcript, &[], response, out);
            }
            Event::AnnotationAdded { index, part, .. } => self.last_annotation(*index, *part, response, out),
            Event::PartDone { index, part, space } => self.part_done(*index, *part, *space, response, out),
            Event::ToolProgress { index, stage } => self.progress(*index, *stage, response, out),
            Event::Detail { index, dialect: DialectId::Responses, json } => {
                self.detail(*index, json, response, out);
            }
            Event::ItemDone { index, .. } => {
                self.end_args(*index, response, out);
                self.item("response.output_item.done", *index, response, out);
            }
            Event::Loss(loss) => write_loss(loss, out),
            Event::End(_) => self.end(response, out),
            Event::Begin(_)
            | Event::Status(_)
            | Event::AudioDelta { .. }
            | Event::Detail { .. }
            | Event::Usage(_)
            | Event::Finish(_) => {}
        }
    }
}

impl ResponsesWriter {
    pub(in crate::responses) fn new(options: StreamOptions) -> Self {
        Self {
            number: 0,
            current: 0,
            turns: Turns::default(),
            obfuscate: options.include_obfuscation == Some(true),
            shown: None,
            delta: DeltaFrame::default(),
            after: Vec::new(),
            args_begun: Vec::new(),
            args_ended: Vec::new(),
        }
    }

    /// Tells the items that had to wait, as far as they are by now. Their text is in the response.
    fn catch_up(&mut self, response: &Response, out: &mut Vec<u8>) {
        while let Some(output) = response.output.get(self.current as usize) {
            let index = self.current;
            if output.choice == 0 {
                self.tell_head(index, output, response, out);
                self.tell_parts(index, &output.item, response, out);
                self.args_delta(index, "", response, out);
            }
            let waiting = self.turns.take(index);
            let done = waiting.iter().any(|event| matches!(event, Event::ItemDone { .. }));
            for event in waiting.iter().filter(|event| !matches!(event, Event::PartDone { .. })) {
                self.now(event, response, out);
            }
            if !done {
                return;
            }
            self.current += 1;
        }
    }

    fn tell_head(&mut self, index: u32, output: &OutputItem, response: &Response, out: &mut Vec<u8>) {
        let Some(spot) = spot(response, index) else { return };
        let item = head(output.item.clone()).unwrap_or_else(|| output.item.clone());
        let start = OutputItem { choice: 0, open: true, item };
        let shown = self.shown.take().unwrap_or_else(|| Shown::of(response));
        self.frame("response.output_item.added", out, |object| {
            object.int("output_index", spot.position);
            write_output_item(object.key("item"), response, index, &start, &shown);
        });
        self.shown = Some(shown);
    }

    fn tell_parts(&mut self, index: u32, item: &Item, response: &Response, out: &mut Vec<u8>) {
        let mut starts: Vec<(u32, PartStart)> = Vec::new();
        match &item.body {
            ItemBody::Message(message) => {
                starts.extend((0..).zip(&message.parts).map(|(part, content)| match &content.kind {
                    PartKind::Refusal(_) => (part, PartStart::Refusal),
                    _ => (part, PartStart::Text),
                }));
            }
            ItemBody::Reasoning(reasoning) => {
                starts.extend((0..).zip(&reasoning.summary).map(|(part, _)| (part, PartStart::Summary)));
                starts.extend((0..).zip(&reasoning.text).map(|(part, _)| (part, PartStart::Reasoning)));
            }
            _ => {}
        }
        for (part, start) in starts {
            let space = start.space();
            self.part_added(index, part, start, response, out);
            let text = text_in(item, part, space).unwrap_or_default();
            match (start, part_of(item, part).map(|part| &part.kind)) {
                (PartStart::Text, Some(PartKind::Text(whole))) if !text.is_empty() => {
                    self.text_delta((index, part), text, &whole.logprobs, response, out);
                }
                (PartStart::Text, _) if !text.is_empty() => {
                    self.text_delta((index, part), text, &[], response, out);
                }
                _ if text.is_empty() => {}
                _ => self.write_delta(Target::of_space(space), (index, part), text, response, out),
            }
            self.annotations(index, part, 0, response, out);
            if self.turns.is_part_done(index, part, space) {
                self.part_done(index, part, space, response, out);
            }
        }
    }

    const fn take_number(&mut self) -> u64 {
        let number = self.number;
        self.number += 1;
        number
    }

    /// Writes one event whose members `fill` appends.
    fn frame(&mut self, event: &str, out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
        start_frame(out, event);
        let start = out.len();
        fill(&mut Object::resume(out, false));
        crate::json::on_one_line(out, start);
        end_frame(out, self.take_number());
    }

    /// An event of an item: which one, and what `fill` appends.
    fn item_frame(
        &mut self,
        event: &str,
        spot: &Spot<'_>,
        out: &mut Vec<u8>,
        fill: impl FnOnce(&mut Object<'_>),
    ) {
        self.frame(event, out, |object| {
            object.str("item_id", &spot.id);
            object.int("output_index", spot.position);
            fill(object);
        });
    }

    fn life(&mut self, event: &str, response: &Response, out: &mut Vec<u8>) {
        let shown = self.shown.take().unwrap_or_else(|| Shown::of(response));
        self.frame(event, out, |object| render(object.key("response"), response, &shown));
        self.shown = Some(shown);
    }

    fn item(&mut self, event: &str, index: u32, response: &Response, out: &mut Vec<u8>) {
        let Some(spot) = spot(response, index) else { return };
        let shown = self.shown.take().unwrap_or_else(|| Shown::of(response));
        self.frame(event, out, |object| {
            object.int("output_index", spot.position);
            write_output_item(object.key("item"), response, index, spot.output, &shown);
        });
        self.shown = Some(shown);
    }

    fn logprobs(&self) -> bool {
        self.shown.as_ref().is_some_and(|shown| shown.logprobs)
    }

    fn part_added(
        &mut self,
        index: u32,
        part: u32,
        start: PartStart,
        response: &Response,
        out: &mut Vec<u8>,
    ) {
        let Some(spot) = spot(response, index) else { return };
        let (event, name, empty) = match start {
            PartStart::Summary => (
                "response.reasoning_summary_part.added",
                "summary_index",
                r#"{"type":"summary_text","text":""}"#,
            ),
            PartStart::Reasoning => {
                ("response.content_part.added", "content_index", r#"{"type":"reasoning_text","text":""}"#)
            }
            PartStart::Refusal => {
                ("response.content_part.added", "content_index", r#"{"type":"refusal","refusal":""}"#)
            }
            PartStart::Text | PartStart::Audio => (
                "response.content_part.added",
                "content_index",
                r#"{"type":"output_text","text":"","annotations":[],"logprobs":[]}"#,
            ),
        };
        self.item_frame(event, &spot, out, |object| {
            object.int(name, part);
            object.raw("part", empty);
        });
    }

    fn text_delta(
        &mut self,
        (index, part): (u32, u32),
        delta: &str,
        logprobs: &[Logprob],
        response: &Response,
        out: &mut Vec<u8>,
    ) {
        self.after.clear();
        if logprobs.is_empty() || !self.logprobs() {
            self.after.extend_from_slice(b",\"logprobs\":[]");
        } else {
            self.after.extend_from_slice(b",\"logprobs\":");
            write_logprobs(&mut self.after, logprobs);
        }
        self.write_after(Target::Text, (index, part), delta, response, out);
    }

    fn write_delta(
        &mut self,
        target: Target,
        place: (u32, u32),
        delta: &str,
        response: &Response,
        out: &mut Vec<u8>,
    ) {
        self.after.clear();
        self.write_after(target, place, delta, response, out);
    }

    fn write_after(
        &mut self,
        target: Target,
        (index, part): (u32, u32),
        delta: &str,
        response: &Response,
        out: &mut Vec<u8>,
    ) {
        if !self.delta.is_of(target, index, part) {
            let Some(spot) = spot(response, index) else { return };
            self.delta.set(target, index, part, &spot.id, spot.position);
        }
        if self.obfuscate {
            let pad = PADDING - delta.len() % PADDING;
            self.after.extend_from_slice(b",\"obfuscation\":\"");
            self.after.resize(self.after.len() + pad, b'x');
            self.after.push(b'"');
        }
        let number = self.take_number();
        self.delta.write(out, delta, &self.after, number);
    }

    /// Blank argument text is held back: if nothing else comes, it stands for `{}`.
    fn args_delta(&mut self, index: u32, delta: &str, response: &Response, out: &mut Vec<u8>) {
        let Some(call) = response.output.get(index as usize).and_then(|output| call_of(&output.item)) else {
            return;
        };
        if !matches!(call.kind, CallKind::Function | CallKind::Custom | CallKind::Mcp) {
            return;
        }
        let target = Target::Args(call.kind);
        if self.args_begun.contains(&index) {
            return self.write_delta(target, (index, 0), delta, response, out);
        }
        if call.kind == CallKind::Custom || !call.args.trim().is_empty() {
            self.args_begun.push(index);
            self.write_delta(target, (index, 0), &call.args, response, out);
        }
    }

    /// Ends the arguments of a call. At least one delta comes before, even for a call without arguments.
    fn end_args(&mut self, index: u32, response: &Response, out: &mut Vec<u8>) {
        let Some(spot) = spot(response, index) else { return };
        let Some(call) = call_of(&spot.output.item) else { return };
        let streamed = matches!(call.kind, CallKind::Function | CallKind::Custom | CallKind::Mcp);
        if !streamed || self.args_ended.contains(&index) {
            return;
        }
        self.args_ended.push(index);
        let args = if call.kind == CallKind::Mcp { call.args.as_str() } else { shown_args(call) };
        let target = Target::Args(call.kind);
        if !self.args_begun.contains(&index) && (call.kind == CallKind::Function || !args.is_empty()) {
            self.write_delta(target, (index, 0), args, response, out);
        }
        self.item_frame(&target.event("done"), &spot, out, |object| {
            if call.kind == CallKind::Function {
                object.str("name", &call.name);
            }
            object.str(target.whole_name(), args);
        });
    }

    /// The annotations of a part from the given one on.
    fn annotations(&mut self, index: u32, part: u32, from: usize, response: &Response, out: &mut Vec<u8>) {
        let Some(spot) = spot(response, index) else { return };
        let Some(PartKind::Text(text)) = part_of(&spot.output.item, part).map(|part| &part.kind) else {
            return;
        };
        for (n, annotation) in text.annotations.iter().enumerate().skip(from) {
            let foreign = matches!(annotation.kind, trilith_core::AnnotationKind::Opaque { dialect, .. }
                if dialect != DialectId::Responses);
            if foreign {
                continue;
            }
            self.item_frame("response.output_text.annotation.added", &spot, out, |object| {
                object.int("content_index", part);
                object.int("annotation_index", n);
                write_annotation(object.key("annotation"), annotation);
            });
        }
    }

    fn last_annotation(&mut self, index: u32, part: u32, response: &Response, out: &mut Vec<u8>) {
        let item = response.output.get(index as usize).map(|output| &output.item);
        if let Some(PartKind::Text(text)) = item.and_then(|item| part_of(item, part)).map(|part| &part.kind) {
            self.annotations(index, part, text.annotations.len().saturating_sub(1), response, out);
        }
    }

    fn part_done(&mut self, index: u32, part: u32, space: PartSpace, response: &Response, out: &mut Vec<u8>) {
        let Some(spot) = spot(response, index) else { return };
        let Some(text) = text_in(&spot.output.item, part, space) else { return };
        let content = part_of(&spot.output.item, part);
        let target = match (space, content.map(|part| &part.kind)) {
            (PartSpace::Content, Some(PartKind::Refusal(_))) => Target::Refusal,
            (PartSpace::Content, _) => Target::Text,
            (space, _) => Target::of_space(space),
        };
        let name = target.index_name().unwrap_or("content_index");
        let logprobs = self.logprobs();
        self.item_frame(&target.event("done"), &spot, out, |object| {
            object.int(name, part);
            object.str(target.whole_name(), text);
            if target == Target::Text {
                let shown = match content.map(|part| &part.kind) {
                    Some(PartKind::Text(text)) if logprobs => text.logprobs.as_slice(),
                    _ => &[],
                };
                write_logprobs(object.key("logprobs"), shown);
            }
        });
        let (event, word) = match target {
            Target::Summary => ("response.reasoning_summary_part.done", "summary_text"),
            _ => ("response.content_part.done", "reasoning_text"),
        };
        self.item_frame(event, &spot, out, |object| {
            object.int(name, part);
            match content.filter(|_| space == PartSpace::Content) {
                Some(content) => write_part(object.key("part"), content, Voice::Output { logprobs }),
                None => {
                    let mut inner = Object::open(object.key("part"));
                    inner.str("type", word);
                    inner.str("text", text);
                    inner.close();
                }
            }
        });
    }

    fn progress(&mut self, index: u32, stage: ToolStage, response: &Response, out: &mut Vec<u8>) {
        let Some(spot) = spot(response, index) else { return };
        let event = match (&spot.output.item.body, stage) {
            (ItemBody::Compaction(_), ToolStage::Compacting) => Some(progress::COMPACTING),
            (ItemBody::Call(call), stage) => progress::event_of(call.kind, stage),
            _ => None,
        };
        let Some(event) = event else { return };
        if matches!(stage, ToolStage::Completed | ToolStage::Failed) {
            self.end_args(index, response, out);
        }
        self.item_frame(event, &spot, out, |_| {});
    }

    /// An event that only this dialect has, with our numbers in place of the upstream's.
    fn detail(&mut self, index: Option<u32>, json: &Json, response: &Response, out: &mut Vec<u8>) {
        let mut tape = Tape::default();
        let Ok(value) = tape.read(json.as_str()) else { return };
        let Some(event) = value.str("type").filter(|event| is_plain(event)) else {
            return;
        };
        let spot = match index {
            Some(index) => match spot(response, index) {
                Some(spot) => Some(spot),
                None => return,
            },
            None => None,
        };
        self.frame(&event, out, |object| {
            for (name, value) in value.members() {
                match (&*name, &spot) {
                    ("type" | "sequence_number", _) => {}
                    ("item_id", Some(spot)) => object.str("item_id", &spot.id),
                    ("output_index", Some(spot)) => object.int("output_index", spot.position),
                    (name, _) => object.raw(name, value.raw()),
                }
            }
        });
    }

    fn end(&mut self, response: &Response, out: &mut Vec<u8>) {
        let event = match response.status {
            Status::Completed => "response.completed",
            Status::Incomplete => "response.incomplete",
            // There is no event for a cancelled response; its object says so.
            Status::Failed | Status::Cancelled | Status::Queued | Status::InProgress => "response.failed",
        };
        if let (Status::Failed, Some(failure)) = (response.status, &response.error) {
            self.frame("error", out, |object| {
                // OpenAI's wire nests these, its types do not: both are served.
                let param = failure.param.as_deref().map(spelling::responses);
                object.str_or_null("code", openai_error::code(failure));
                object.str("message", &openai_error::message(failure, spelling::responses));
                object.str_or_null("param", param.as_deref());
                openai_error::write_fields(failure, spelling::responses, object.key("error"));
            });
        }
        self.life(event, response, out);
        out.extend_from_slice(b"data: [DONE]\n\n");
    }
}

/// A comment, which clients skip and people see.
fn write_loss(loss: &Loss, out: &mut Vec<u8>) {
    let line = |text: &str| text.replace(['\n', '\r'], " ");
    out.extend_from_slice(b": x-trilith-warning ");
    out.extend_from_slice(line(&spelling::responses(&loss.path)).as_bytes());
    out.extend_from_slice(b"; ");
    out.extend_from_slice(line(&loss.why).as_bytes());
    out.extend_from_slice(b"\n\n");
}

/// Whether the word can stand in a name line and in JSON as it is.
fn is_plain(event: &str) -> bool {
    !event.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'))
}
