//! One content block, from its begin to its stop.

use serde_json::value::RawValue;
use trilith_core::{
    Annotation, AnnotationKind, Call, CallKind, Carrier, CarrierKind, DialectId, Error, Event, Extra,
    ItemBody, Json, Opaque, PartSpace, PartStart, Reasoning,
};

use super::assemble::{Assembler, Ends, part_done};
use crate::{
    frame::sse::DEFAULT_EVENT_LIMIT,
    loose::Text,
    messages::{
        error,
        response::wire::{Block, Delta},
    },
    names::Wrap,
    scan::{Limits, scan},
    typed,
};

/// A block that was begun and not stopped.
pub(super) enum Open {
    Text(Said),
    Thinking(Thought),
    Call(Called),
    /// A block that only this dialect understands, kept until it is whole.
    Raw(Kept),
    /// A block that cannot be read; it was reported.
    Nothing,
}

/// The kinds of pieces that a stream mostly consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Piece {
    #[default]
    Text,
    Thinking,
    /// Arguments.
    Input,
}

impl Piece {
    pub(super) const ALL: [Self; 3] = [Self::Text, Self::Thinking, Self::Input];

    /// The delta's type, and the member that holds the text.
    pub(super) const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Text => ("text_delta", "text"),
            Self::Thinking => ("thinking_delta", "thinking"),
            Self::Input => ("input_json_delta", "partial_json"),
        }
    }

    pub(super) fn into_delta(self, text: String) -> Delta<'static> {
        let mut delta = Delta { kind: Text(Some(self.words().0.to_owned())), ..Delta::default() };
        let place = match self {
            Self::Text => &mut delta.text,
            Self::Thinking => &mut delta.thinking,
            Self::Input => &mut delta.partial_json,
        };
        *place = Text(Some(text));
        delta
    }
}

/// A text block: one part of a message. An empty one makes no part.
#[derive(Default)]
pub(super) struct Said {
    part: Option<(u32, u32)>,
    /// Code points so far.
    length: u32,
    citations: Vec<Json>,
}

/// A block of reasoning: one item.
pub(super) struct Thought {
    index: u32,
    /// The text was begun.
    begun: bool,
    carrier: Option<Carrier>,
}

/// A call: one item.
pub(super) struct Called {
    index: u32,
    /// The input that the begin of the block holds; pieces stand in its place.
    input: Option<Box<str>>,
    /// The function stands for a custom tool: its arguments are taken apart once they are whole.
    wrapped: Option<Wrap>,
    held: String,
    shape: Shape,
}

/// A block as it came, and the pieces that belong into it.
pub(super) struct Kept {
    kind: Box<str>,
    block: String,
    input: String,
    content: Option<String>,
    encrypted: Option<String>,
}

impl Open {
    pub(super) const fn is_call(&self) -> bool {
        matches!(self, Self::Call(_))
    }

    pub(super) const fn is_raw(&self) -> bool {
        matches!(self, Self::Raw(_))
    }

    pub(super) fn start(
        block: Block<'_>,
        raw: &RawValue,
        to: &mut Assembler,
        ends: &mut Ends<'_>,
    ) -> Result<Self, Error> {
        match block.kind.0.as_deref() {
            Some("text") => {
                let mut said = Said::default();
                said.say(block.text.0.unwrap_or_default(), to, ends);
                let citations =
                    block.citations.and_then(|raw| typed::from_str::<Vec<&RawValue>>(raw.get()).ok());
                for citation in citations.unwrap_or_default() {
                    said.cite(citation, to)?;
                }
                Ok(Self::Text(said))
            }
            Some("thinking") => {
                let mut thought = Thought::new(to, ends);
                thought.think(block.thinking.0.unwrap_or_default(), ends);
                thought.sign(CarrierKind::Signature, block.signature.filled());
                Ok(Self::Thinking(thought))
            }
            Some("redacted_thinking") => {
                let mut thought = Thought::new(to, ends);
                thought.sign(CarrierKind::Redacted, block.data.filled());
                Ok(Self::Thinking(thought))
            }
            Some("tool_use") if block.name.0.as_deref().is_some_and(|name| !name.is_empty()) => {
                Ok(Self::Call(Called::new(block, to, ends)))
            }
            Some(kind) if kind != "tool_use" => {
                keep(to, raw.get().len())?;
                let (kind, block) = (kind.into(), raw.get().to_owned());
                Ok(Self::Raw(Kept { kind, block, input: String::new(), content: None, encrypted: None }))
            }
            _ => {
                to.report(ends, "a block without a type, or a call without a name, is left out");
                Ok(Self::Nothing)
            }
        }
    }

    pub(super) fn take(
        &mut self,
        delta: Delta<'_>,
        to: &mut Assembler,
        ends: &mut Ends<'_>,
    ) -> Result<(), Error> {
        let Delta { kind, text, thinking, partial_json, signature, citation, content, .. } = delta;
        match (self, kind.0.as_deref()) {
            (open, Some("text_delta")) => {
                return open.piece(Piece::Text, text.0.unwrap_or_default(), to, ends);
            }
            (open, Some("thinking_delta")) => {
                return open.piece(Piece::Thinking, thinking.0.unwrap_or_default(), to, ends);
            }
            (open, Some("input_json_delta")) => {
                return open.piece(Piece::Input, partial_json.0.unwrap_or_default(), to, ends);
            }
            (Self::Text(said), Some("citations_delta")) => {
                if let Some(raw) = citation {
                    said.cite(raw, to)?;
                }
            }
            (Self::Thinking(thought), Some("signature_delta")) => {
                thought.sign(CarrierKind::Signature, signature.filled());
            }
            (Self::Raw(kept), Some("compaction_delta")) => {
                let (content, encrypted) = (content.0, delta.encrypted_content.0);
                keep(to, content.as_ref().map_or(0, String::len))?;
                keep(to, encrypted.as_ref().map_or(0, String::len))?;
                if let Some(content) = content {
                    kept.content.get_or_insert_default().push_str(&content);
                }
                kept.encrypted = encrypted.or_else(|| kept.encrypted.take());
            }
            (Self::Nothing, _) => {}
            _ => to.report(ends, "a piece of another kind than its block is left out"),
        }
        Ok(())
    }

    /// A piece of the usual kind.
    pub(super) fn piece(
        &mut self,
        piece: Piece,
        text: String,
        to: &mut Assembler,
        ends: &mut Ends<'_>,
    ) -> Result<(), Error> {
        match (self, piece) {
            (Self::Text(said), Piece::Text) => said.say(text, to, ends),
            (Self::Thinking(thought), Piece::Thinking) => thought.think(text, ends),
            (Self::Call(call), Piece::Input) => {
                if call.wrapped.is_some() {
                    keep(to, text.len())?;
                }
                call.append(text, ends);
            }
            (Self::Raw(kept), Piece::Input) => {
                keep(to, text.len())?;
                kept.input.push_str(&text);
            }
            (Self::Nothing, _) => {}
            _ => to.report(ends, "a piece of another kind than its block is left out"),
        }
        Ok(())
    }

    pub(super) fn stop(self, to: &mut Assembler, ends: &mut Ends<'_>) {
        match self {
            Self::Text(said) => said.stop(ends),
            Self::Thinking(thought) => {
                if thought.begun {
                    part_done(ends, thought.index, 0, PartSpace::Reasoning);
                }
                let whole = thought.carrier.is_some();
                to.wait(thought.index, thought.carrier.into_iter().collect(), whole, ends);
            }
            Self::Call(call) => call.stop(to, ends),
            Self::Raw(kept) => kept.stop(to, ends),
            Self::Nothing => {}
        }
    }
}

/// Counts bytes that are kept.
fn keep(to: &mut Assembler, bytes: usize) -> Result<(), Error> {
    to.kept = to.kept.saturating_add(bytes);
    if to.kept > DEFAULT_EVENT_LIMIT {
        return Err(error::nonsense("blocks that are too long to be kept"));
    }
    Ok(())
}

impl Said {
    fn say(&mut self, delta: String, to: &mut Assembler, ends: &mut Ends<'_>) {
        if delta.is_empty() {
            return;
        }
        let (index, part) = *self.part.get_or_insert_with(|| {
            let (index, part) = to.next_part(ends);
            ends.out.push(Event::PartAdded { index, part, start: PartStart::Text });
            (index, part)
        });
        let length = u32::try_from(delta.chars().count()).unwrap_or(u32::MAX);
        self.length = self.length.saturating_add(length);
        ends.out.push(Event::TextDelta { index, part, delta, logprobs: Vec::new() });
    }

    fn cite(&mut self, raw: &RawValue, to: &mut Assembler) -> Result<(), Error> {
        keep(to, raw.get().len())?;
        self.citations.push(Json::from_checked(raw.get()));
        Ok(())
    }

    /// A citation is of the whole block, whose length is known now.
    fn stop(self, ends: &mut Ends<'_>) {
        let Some((index, part)) = self.part else { return };
        for json in self.citations {
            let annotation = Annotation { start: Some(0), end: Some(self.length), ..annotation(json) };
            ends.out.push(Event::AnnotationAdded { index, part, annotation });
        }
        part_done(ends, index, part, PartSpace::Content);
    }
}

/// The citation, as other dialects can show it where it names a web page.
fn annotation(json: Json) -> Annotation {
    #[derive(Default, serde::Deserialize)]
    struct Cited {
        #[serde(default, rename = "type")]
        kind: Text,
        #[serde(default)]
        url: Text,
        #[serde(default)]
        title: Text,
    }
    let cited = typed::from_str::<Cited>(json.as_str()).unwrap_or_default();
    let mut extra = Extra::EMPTY;
    let kind = match (cited.kind.0.as_deref(), cited.url.filled()) {
        (Some("web_search_result_location"), Some(url)) => {
            extra.push(DialectId::Messages, crate::messages::response::CITATION, json);
            AnnotationKind::Url { url: url.into(), title: cited.title.0.unwrap_or_default().into() }
        }
        _ => AnnotationKind::Opaque { dialect: DialectId::Messages, json },
    };
    Annotation { kind, start: None, end: None, index: None, extra }
}

impl Thought {
    fn new(to: &mut Assembler, ends: &mut Ends<'_>) -> Self {
        let index = to.add(ItemBody::Reasoning(Reasoning::default()), Extra::EMPTY, ends);
        Self { index, begun: false, carrier: None }
    }

    fn think(&mut self, delta: String, ends: &mut Ends<'_>) {
        if delta.is_empty() {
            return;
        }
        let (index, part) = (self.index, 0);
        if !self.begun {
            self.begun = true;
            ends.out.push(Event::PartAdded { index, part, start: PartStart::Reasoning });
        }
        ends.out.push(Event::PartDelta { index, part, space: PartSpace::Reasoning, delta });
    }

    fn sign(&mut self, kind: CarrierKind, data: Option<String>) {
        if let Some(data) = data {
            self.carrier = Some(Carrier { kind, data: data.into(), origin: None });
        }
    }
}

impl Called {
    fn new(block: Block<'_>, to: &mut Assembler, ends: &mut Ends<'_>) -> Self {
        let name = block.name.0.unwrap_or_default();
        let full = ends.names.inward(&name);
        let wrapped = ends.names.wrapping(&name);
        let call = Call {
            kind: wrapped.map_or(CallKind::Function, Wrap::kind),
            call_id: block.id.filled().filter(|id| to.is_new(id)).map(Into::into),
            name: full.name,
            namespace: full.namespace,
            args: String::new(),
            caller: None,
            detail: None,
        };
        let mut extra = Extra::EMPTY;
        for (name, raw) in [("caller", block.caller), ("toolset_name", block.toolset_name)] {
            if let Some(raw) = raw.filter(|raw| raw.get() != "null") {
                extra.push(DialectId::Messages, name, Json::from_checked(raw.get()));
            }
        }
        let index = to.add(ItemBody::Call(call), extra, ends);
        let input = block.input.map(|raw| raw.get().into());
        Self { index, input, wrapped, held: String::new(), shape: Shape::default() }
    }

    fn append(&mut self, delta: String, ends: &mut Ends<'_>) {
        if delta.is_empty() {
            return;
        }
        self.input = None;
        self.shape.feed(&delta);
        if self.wrapped.is_some() {
            self.held.push_str(&delta);
        } else {
            ends.out.push(Event::ArgumentsDelta { index: self.index, delta });
        }
    }

    fn stop(mut self, to: &mut Assembler, ends: &mut Ends<'_>) {
        if !self.shape.begun {
            let input = self.input.take().filter(|input| !matches!(&**input, "null" | "\"\""));
            self.append(input.map_or_else(|| "{}".to_owned(), str::into_string), ends);
        }
        if let Some(wrap) = self.wrapped {
            let delta = wrap.take_off(std::mem::take(&mut self.held));
            if !delta.is_empty() {
                ends.out.push(Event::ArgumentsDelta { index: self.index, delta });
            }
        }
        let whole = self.shape.is_whole();
        to.called(whole);
        to.wait(self.index, Vec::new(), whole, ends);
    }
}

impl Kept {
    fn stop(self, to: &mut Assembler, ends: &mut Ends<'_>) {
        let (kind, json) = (self.kind.clone(), Json::from_checked(self.whole()));
        let opaque = Opaque { dialect: DialectId::Messages, kind, json };
        let index = to.add(ItemBody::Opaque(opaque), Extra::EMPTY, ends);
        to.wait(index, Vec::new(), true, ends);
    }

    /// The block with its pieces in their places; all else stays as it came.
    fn whole(self) -> String {
        let text = |text: String| {
            let mut out = Vec::new();
            crate::scan::write_string(&mut out, &text);
            String::from_utf8(out).unwrap_or_default()
        };
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&self.input).is_ok();
        let pieces = [
            ("input", Some(self.input).filter(|_| is_json)),
            ("content", self.content.map(text)),
            ("encrypted_content", self.encrypted.map(text)),
        ];
        if pieces.iter().all(|(_, piece)| piece.is_none()) {
            return self.block;
        }
        let Ok(found) = scan(self.block.as_bytes(), &Limits::default()) else { return self.block };
        let mut out = Vec::new();
        let mut object = crate::json::Object::new(&mut out);
        for member in found.members() {
            let piece = pieces.iter().find(|(name, _)| *name == member.key);
            let own = self.block.get(member.value_range.clone()).unwrap_or("null");
            object.raw(&member.key, piece.and_then(|(_, piece)| piece.as_deref()).unwrap_or(own));
        }
        for (name, piece) in &pieces {
            if let Some(piece) = piece.as_deref().filter(|_| found.member(name).is_none()) {
                object.raw(name, piece);
            }
        }
        object.end();
        String::from_utf8(out).unwrap_or(self.block)
    }
}

/// Follows a JSON value through its pieces, to know whether it is whole.
#[derive(Clone, Copy, Default)]
struct Shape {
    begun: bool,
    depth: u32,
    in_string: bool,
    escaped: bool,
}

impl Shape {
    const fn is_whole(self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }

    fn feed(&mut self, text: &str) {
        self.begun = true;
        for byte in text.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}
