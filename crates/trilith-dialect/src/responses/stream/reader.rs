//! Reads an upstream's stream. Servers that send only the end of each item, a body that is no stream, and
//! events of a later version are all read.

use std::borrow::Cow;

use trilith_core::{Error, Event, PartSpace, PartStart};

use super::{
    assembly::{Assembly, Place, is_unsaid},
    progress,
    usual::{Grown, Usual},
};
use crate::{
    dialect::Reader,
    frame::sse::Splitter,
    names::NameMap,
    responses::{
        field::{Field, Side},
        item::{decode_annotation, decode_item, decode_logprobs},
        response::{self, upstream_failure},
    },
    tape::{Tape, Value},
};

/// The most that is read of a body that came instead of a stream: 64 MiB.
const BODY_LIMIT: usize = 64 << 20;

/// What the first bytes turned out to be.
#[derive(Debug)]
enum Shape {
    Unknown,
    Stream,
    /// One JSON body: the server ignored that a stream was asked for.
    Body(Vec<u8>),
}

/// A reader for one streamed answer.
pub(in crate::responses) struct ResponsesReader {
    shape: Shape,
    splitter: Splitter,
    state: State,
}

impl ResponsesReader {
    pub(in crate::responses) fn new(names: NameMap) -> Self {
        Self {
            shape: Shape::Unknown,
            splitter: Splitter::default(),
            state: State {
                tape: Tape::default(),
                assembly: Assembly::new(names),
                usual: Usual::default(),
                begun: false,
                ended: false,
                error: None,
            },
        }
    }

    /// A body opens with a brace; a stream opens with a field name, a comment or a line break.
    fn look(&mut self, bytes: &[u8]) {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match text.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => self.shape = Shape::Body(Vec::new()),
            Some(_) => self.shape = Shape::Stream,
            None => {}
        }
    }
}

impl Reader for ResponsesReader {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        if matches!(self.shape, Shape::Unknown) {
            self.look(bytes);
        }
        if let Shape::Body(body) = &mut self.shape {
            if body.len() + bytes.len() > BODY_LIMIT {
                return Err(Error::upstream("The upstream's answer is too large."));
            }
            body.extend_from_slice(bytes);
            return Ok(());
        }
        let Self { splitter, state, .. } = self;
        let framed = splitter.push(bytes, |frame| state.take(frame.event, frame.data, out));
        state.check(framed.err())
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        let Self { shape, splitter, state } = self;
        if let Shape::Body(body) = shape {
            let body = std::mem::take(body);
            return response::decode(&body, &state.assembly.names, out);
        }
        let framed = splitter.finish(|frame| state.take(frame.event, frame.data, out));
        state.check(framed.err())?;
        if state.ended {
            return Ok(());
        }
        Err(Error::upstream("The upstream's answer broke off before its end."))
    }
}

struct State {
    tape: Tape,
    assembly: Assembly,
    usual: Usual,
    begun: bool,
    ended: bool,
    error: Option<Error>,
}

impl State {
    fn check(&mut self, framing: Option<crate::frame::sse::FrameError>) -> Result<(), Error> {
        match (self.error.clone(), framing) {
            (Some(error), _) => Err(error),
            // What follows the end says nothing.
            (None, Some(framing)) if !self.ended => {
                Err(Error::upstream("The upstream's stream could not be read.").with_source(framing))
            }
            (None, _) => Ok(()),
        }
    }

    fn take(&mut self, name: Option<&str>, data: &str, out: &mut Vec<Event>) {
        if self.ended || self.error.is_some() || data.trim() == "[DONE]" {
            return;
        }
        let Self { tape, assembly, usual, begun, ended, error } = self;
        if let Some(delta) = usual.fill(data) {
            usual.tell(delta, assembly, out);
            *error = assembly.check().err();
            return;
        }
        let Ok(value) = tape.read(data) else {
            *error = Some(Error::upstream("The upstream sent an event that is not valid JSON."));
            return;
        };
        let told = Told::of(value);
        let mut step = Step { assembly, begun, ended, value, told };
        match step.take(name, out).and_then(|()| assembly.check()) {
            Ok(()) => usual.learn(data, value, &told),
            Err(found) => *error = Some(found),
        }
    }
}

/// The members that nearly every event has, found in one pass.
#[derive(Clone, Copy, Default)]
pub(super) struct Told<'t> {
    pub(super) kind: Option<Value<'t>>,
    pub(super) item_id: Option<Value<'t>>,
    pub(super) output_index: Option<u64>,
    pub(super) content_index: Option<u64>,
    pub(super) summary_index: Option<u64>,
    pub(super) delta: Option<Value<'t>>,
    pub(super) logprobs: Option<Value<'t>>,
}

impl<'t> Told<'t> {
    fn of(value: Value<'t>) -> Self {
        let mut told = Self::default();
        for (key, value) in value.raw_members() {
            match key {
                "\"type\"" => told.kind = Some(value),
                "\"item_id\"" => told.item_id = Some(value),
                "\"output_index\"" => told.output_index = value.u64(),
                "\"content_index\"" => told.content_index = value.u64(),
                "\"summary_index\"" => told.summary_index = value.u64(),
                "\"delta\"" => told.delta = Some(value),
                "\"logprobs\"" => told.logprobs = Some(value),
                _ => {}
            }
        }
        told
    }

    fn delta(&self) -> String {
        self.delta.and_then(Value::string).map(Cow::into_owned).unwrap_or_default()
    }
}

/// One event.
struct Step<'s, 't> {
    assembly: &'s mut Assembly,
    begun: &'s mut bool,
    ended: &'s mut bool,
    value: Value<'t>,
    told: Told<'t>,
}

impl<'t> Step<'_, 't> {
    fn string(&self, name: &str) -> String {
        self.value.str(name).map(Cow::into_owned).unwrap_or_default()
    }

    fn begin(&mut self, response: Option<Value<'t>>, out: &mut Vec<Event>) {
        if !std::mem::replace(self.begun, true) {
            let begin = response.map(response::begin).unwrap_or_default();
            out.push(Event::Begin(Box::new(begin)));
        }
    }

    fn take(&mut self, name: Option<&str>, out: &mut Vec<Event>) -> Result<(), Error> {
        let word = match (self.told.kind.and_then(Value::string), name) {
            (Some(word), _) => word,
            (None, Some(name)) => Cow::Owned(name.to_owned()),
            (None, None) if self.value.get("error").is_some() => Cow::Borrowed("error"),
            (None, None) => return Ok(()),
        };
        match &*word {
            "error" => {
                let inner = self.value.get("error").unwrap_or(self.value);
                return Err(upstream_failure(inner));
            }
            "response.created" | "response.queued" | "response.in_progress" => {
                self.begin(self.value.get("response"), out);
                return Ok(());
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.done"
            | "response.cancelled" => return self.terminal(&word, out),
            _ => self.begin(None, out),
        }
        let id = self.told.item_id.and_then(Value::string);
        let place = Place { index: self.told.output_index, id: id.as_deref() };
        if let Some(grown) = Grown::of(&word, &self.told) {
            let logprobs = match grown {
                Grown::Text(PartStart::Text, _) => self.told.logprobs.map(decode_logprobs),
                Grown::Text(..) | Grown::Args => None,
            };
            grown.tell(place, self.told.delta(), logprobs.unwrap_or_default(), self.assembly, out);
            return Ok(());
        }
        if self.item(&word, place, out)? || self.text(&word, place, out) || self.call(&word, place, out) {
            return Ok(());
        }
        match progress::stage_of(&word) {
            Some(stage) => self.assembly.progress(place, stage, out),
            None => self.assembly.detail(place, self.value.json(), out),
        }
        Ok(())
    }

    fn terminal(&mut self, word: &str, out: &mut Vec<Event>) -> Result<(), Error> {
        let response = self.value.get("response").unwrap_or(self.value);
        self.begin(Some(response), out);
        if word == "response.failed" {
            return Err(upstream_failure(response.get("error").unwrap_or(response)));
        }
        self.assembly.terminal(response, out)?;
        *self.ended = true;
        Ok(())
    }

    fn item(&mut self, word: &str, place: Place<'_>, out: &mut Vec<Event>) -> Result<bool, Error> {
        let done = match word {
            "response.output_item.added" => false,
            "response.output_item.done" => true,
            _ => return Ok(false),
        };
        let Some(value) = self.value.get("item") else { return Ok(true) };
        if is_unsaid(value) {
            // It begins nothing, and what is open stays so until the answer's end.
            if done {
                self.assembly.unsaid(place, out);
            }
            return Ok(true);
        }
        let item = decode_item(&Field::root(value, Side::Upstream))?;
        let id = item.id.clone();
        let place = Place { index: place.index, id: id.as_deref().or(Some("")) };
        if done {
            self.assembly.done(place, item, out);
        } else if self.assembly.find(place).is_none() {
            self.assembly.add(place, item, out);
        }
        Ok(true)
    }

    /// Events of text parts, but for their growth.
    fn text(&mut self, word: &str, place: Place<'_>, out: &mut Vec<Event>) -> bool {
        let Some(rest) = word.strip_prefix("response.") else { return false };
        let content = self.told.content_index.unwrap_or(0);
        let summary = self.told.summary_index.unwrap_or(0);
        let (theirs, start, member) = match rest {
            "output_text.done" => (content, PartStart::Text, "text"),
            "refusal.done" => (content, PartStart::Refusal, "refusal"),
            "reasoning_text.done" | "reasoning.done" => (content, PartStart::Reasoning, "text"),
            "reasoning_summary_text.done" => (summary, PartStart::Summary, "text"),
            "content_part.added"
            | "content_part.done"
            | "reasoning_summary_part.added"
            | "reasoning_summary_part.done" => {
                self.part(rest, place, out);
                return true;
            }
            "output_text.annotation.added" => {
                self.annotation(place, content, out);
                return true;
            }
            _ => return false,
        };
        let text = self.string(member);
        self.assembly.whole_text(place, theirs, start, &text, out);
        true
    }

    fn part(&mut self, rest: &str, place: Place<'_>, out: &mut Vec<Event>) {
        let kind = self.value.get("part").and_then(|part| part.str("type")).unwrap_or_default();
        let start = match &*kind {
            _ if rest.starts_with("reasoning_summary") => PartStart::Summary,
            "output_text" => PartStart::Text,
            "refusal" => PartStart::Refusal,
            "reasoning_text" => PartStart::Reasoning,
            // What it is shows in the whole item.
            _ => return,
        };
        let summary = start == PartStart::Summary;
        let theirs =
            if summary { self.told.summary_index } else { self.told.content_index }.unwrap_or_default();
        if rest.ends_with("added") {
            self.assembly.text(place, theirs, start, String::new(), Vec::new(), out);
            return;
        }
        let member = if start == PartStart::Refusal { "refusal" } else { "text" };
        if let Some(text) = self.value.get("part").and_then(|part| part.str(member)) {
            self.assembly.whole_text(place, theirs, start, &text, out);
        }
        // Annotations and log-probabilities that only the whole item has must still find the part open.
        if start.space() != PartSpace::Content || !self.holds_more(place, theirs) {
            self.assembly.end_part(place, theirs, start.space(), out);
        }
    }

    /// Whether the final part holds annotations or log-probabilities that were not told.
    fn holds_more(&self, place: Place<'_>, theirs: u64) -> bool {
        let count = |name: &str| {
            let list = self.value.get("part").and_then(|part| part.get(name));
            list.map_or(0, |list| list.elements().count())
        };
        let Some(told) = self.assembly.find(place).and_then(|at| self.assembly.items.get(at)) else {
            return false;
        };
        let same = told.parts.iter().rfind(|part| part.space == PartSpace::Content && part.theirs == theirs);
        same.is_some_and(|part| count("annotations") > part.annotations || count("logprobs") > part.logprobs)
    }

    fn annotation(&mut self, place: Place<'_>, theirs: u64, out: &mut Vec<Event>) {
        let Some(value) = self.value.get("annotation") else { return };
        let Some(at) = self.assembly.find(place) else { return };
        let Some((index, slot)) = self.assembly.part(at, theirs, PartStart::Text, out) else { return };
        let Some(part) = self.assembly.items.get_mut(at).and_then(|told| told.parts.get_mut(slot)) else {
            return;
        };
        if !part.done {
            part.annotations += 1;
            let annotation = decode_annotation(value);
            out.push(Event::AnnotationAdded { index, part: part.ours, annotation });
        }
    }

    /// The ends of argument texts.
    fn call(&mut self, word: &str, place: Place<'_>, out: &mut Vec<Event>) -> bool {
        match word {
            "response.function_call_arguments.done" | "response.mcp_call_arguments.done" => {
                let args = self.string("arguments");
                self.assembly.whole_args(place, &args, out);
            }
            "response.custom_tool_call_input.done" => {
                let args = self.string("input");
                self.assembly.whole_args(place, &args, out);
            }
            _ => return false,
        }
        true
    }
}
