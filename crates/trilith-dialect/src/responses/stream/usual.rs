//! The events that most of a stream consists of: text that grows.

use std::borrow::Cow;

use trilith_core::{Event, Logprob, PartStart};

use super::{
    assembly::{Assembly, Place},
    reader::Told,
};
use crate::{
    mould::{Mould, Open},
    tape::{Kind, Value},
};

/// What grows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Grown {
    /// A part of that kind, at the upstream's place of it.
    Text(PartStart, u64),
    /// The arguments of a call.
    Args,
}

impl Grown {
    /// What an event of that type lets grow.
    pub(super) fn of(word: &str, told: &Told<'_>) -> Option<Self> {
        let content = told.content_index.unwrap_or(0);
        Some(match word.strip_prefix("response.")?.strip_suffix(".delta")? {
            "output_text" => Self::Text(PartStart::Text, content),
            "refusal" => Self::Text(PartStart::Refusal, content),
            "reasoning_text" | "reasoning" => Self::Text(PartStart::Reasoning, content),
            "reasoning_summary_text" => Self::Text(PartStart::Summary, told.summary_index.unwrap_or(0)),
            "function_call_arguments" | "custom_tool_call_input" | "mcp_call_arguments" => Self::Args,
            _ => return None,
        })
    }

    pub(super) fn tell(
        self,
        place: Place<'_>,
        delta: String,
        logprobs: Vec<Logprob>,
        assembly: &mut Assembly,
        out: &mut Vec<Event>,
    ) {
        match self {
            Self::Text(start, theirs) => assembly.text(place, theirs, start, delta, logprobs, out),
            Self::Args => assembly.args(place, delta, out),
        }
    }
}

/// The form of the last event that let text grow.
#[derive(Debug, Default)]
pub(super) struct Usual {
    mould: Mould,
    grown: Option<Grown>,
    index: Option<u64>,
    id: Option<Box<str>>,
}

impl Usual {
    /// The text of an event of the usual form.
    pub(super) fn fill<'d>(&self, data: &'d str) -> Option<Cow<'d, str>> {
        self.mould.fill(data)
    }

    /// Tells what such an event says.
    pub(super) fn tell(&self, delta: Cow<'_, str>, assembly: &mut Assembly, out: &mut Vec<Event>) {
        let Some(grown) = self.grown else { return };
        let place = Place { index: self.index, id: self.id.as_deref() };
        grown.tell(place, delta.into_owned(), Vec::new(), assembly, out);
    }

    /// Remembers the form of an event that was read, if it lets text grow. Number and padding change with
    /// every event and are not read.
    pub(super) fn learn(&mut self, data: &str, value: Value<'_>, told: &Told<'_>) {
        let grown = told.kind.and_then(Value::string).and_then(|word| Grown::of(&word, told));
        let Some(grown) = grown else { return };
        let Some(delta) = told.delta.filter(|delta| delta.kind() == Kind::String) else { return };
        if told.logprobs.is_some_and(|logprobs| logprobs.elements().next().is_some()) {
            return;
        }
        let of = |name: &str, kind: Kind| value.member(name).filter(|value| value.kind() == kind);
        let mut open = vec![(delta.range(), Open::Wanted)];
        open.extend(of("sequence_number", Kind::Number).map(|value| (value.range(), Open::Number)));
        open.extend(of("obfuscation", Kind::String).map(|value| (value.range(), Open::String)));
        self.mould.set(data, &mut open);
        self.grown = Some(grown);
        self.index = told.output_index;
        self.id = told.item_id.and_then(Value::string).map(Into::into);
    }
}
