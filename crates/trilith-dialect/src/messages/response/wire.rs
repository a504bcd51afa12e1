//! The answer as upstreams send it, whole and in events. Everything is optional: a field nobody needs must not
//! break an answer.

use serde::Deserialize;
use serde_json::value::RawValue;
use trilith_core::{Begin, FinishReason};

use super::usage::WireUsage;
use crate::{
    loose::{Number, Text},
    typed,
};

/// A whole answer, or what a stream begins with.
#[derive(Debug, Default, Deserialize)]
pub(in crate::messages) struct Answer<'a> {
    #[serde(default)]
    id: Text,
    #[serde(default)]
    model: Text,
    #[serde(borrow)]
    pub(in crate::messages) content: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    pub(in crate::messages) stop_reason: Text,
    #[serde(default)]
    pub(in crate::messages) stop_sequence: Text,
    #[serde(borrow)]
    stop_details: Option<&'a RawValue>,
    #[serde(borrow)]
    container: Option<&'a RawValue>,
    #[serde(borrow)]
    context_management: Option<&'a RawValue>,
    #[serde(borrow)]
    input_transformations: Option<&'a RawValue>,
    #[serde(borrow)]
    diagnostics: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) error: Option<&'a RawValue>,
}

/// Fields of an answer that only this dialect has a place for.
pub(in crate::messages) type Own<'a> = [(&'static str, Option<&'a RawValue>); 5];

impl<'a> Answer<'a> {
    /// What the answer says about itself.
    pub(in crate::messages) fn introduce(&mut self, begin: &mut Begin) {
        begin.upstream_id = std::mem::take(&mut self.id).filled().map(Into::into);
        begin.model = std::mem::take(&mut self.model).filled().map(Into::into);
        let usage = self.usage();
        begin.service_tier = usage.and_then(|usage| usage.service_tier.filled()).map(Into::into);
    }

    /// The counts.
    pub(in crate::messages) fn usage(&self) -> Option<WireUsage> {
        typed::from_str(self.usage?.get()).ok()
    }

    pub(in crate::messages) const fn own(&self) -> Own<'a> {
        [
            ("stop_details", self.stop_details),
            ("container", self.container),
            ("context_management", self.context_management),
            ("input_transformations", self.input_transformations),
            ("diagnostics", self.diagnostics),
        ]
    }
}

/// One event of a stream.
#[derive(Debug, Deserialize)]
pub(in crate::messages) struct Frame<'a> {
    #[serde(default, rename = "type")]
    pub(in crate::messages) kind: Text,
    #[serde(default)]
    pub(in crate::messages) index: Number,
    #[serde(borrow)]
    pub(in crate::messages) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    context_management: Option<&'a RawValue>,
    #[serde(borrow)]
    input_transformations: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) error: Option<&'a RawValue>,
}

impl<'a> Frame<'a> {
    /// The counts.
    pub(in crate::messages) fn usage(&self) -> Option<WireUsage> {
        typed::from_str(self.usage?.get()).ok()
    }

    pub(in crate::messages) fn own(&self) -> Own<'a> {
        let delta = self.delta.as_ref();
        [
            ("stop_details", delta.and_then(|delta| delta.stop_details)),
            ("container", delta.and_then(|delta| delta.container)),
            ("context_management", self.context_management),
            ("input_transformations", self.input_transformations),
            ("diagnostics", None),
        ]
    }
}

/// What an event adds: to a block, or to the answer.
#[derive(Debug, Default, Deserialize)]
pub(in crate::messages) struct Delta<'a> {
    #[serde(default, rename = "type")]
    pub(in crate::messages) kind: Text,
    #[serde(default)]
    pub(in crate::messages) text: Text,
    #[serde(default)]
    pub(in crate::messages) thinking: Text,
    #[serde(default)]
    pub(in crate::messages) partial_json: Text,
    #[serde(default)]
    pub(in crate::messages) signature: Text,
    #[serde(borrow)]
    pub(in crate::messages) citation: Option<&'a RawValue>,
    #[serde(default)]
    pub(in crate::messages) content: Text,
    #[serde(default)]
    pub(in crate::messages) encrypted_content: Text,
    #[serde(default)]
    pub(in crate::messages) stop_reason: Text,
    #[serde(default)]
    pub(in crate::messages) stop_sequence: Text,
    #[serde(borrow)]
    pub(in crate::messages) stop_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) container: Option<&'a RawValue>,
}

/// A content block, or its begin.
#[derive(Debug, Default, Deserialize)]
pub(in crate::messages) struct Block<'a> {
    #[serde(default, rename = "type")]
    pub(in crate::messages) kind: Text,
    #[serde(default)]
    pub(in crate::messages) text: Text,
    #[serde(borrow)]
    pub(in crate::messages) citations: Option<&'a RawValue>,
    #[serde(default)]
    pub(in crate::messages) thinking: Text,
    #[serde(default)]
    pub(in crate::messages) signature: Text,
    #[serde(default)]
    pub(in crate::messages) data: Text,
    #[serde(default)]
    pub(in crate::messages) id: Text,
    #[serde(default)]
    pub(in crate::messages) name: Text,
    #[serde(borrow)]
    pub(in crate::messages) input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) caller: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::messages) toolset_name: Option<&'a RawValue>,
}

/// Longest unknown word that a report repeats, in characters.
const WORD_SHOWN: usize = 40;

/// What an upstream's stop reason means (translation contract §12).
pub(in crate::messages) fn reason(word: &str, matched: Option<String>) -> FinishReason {
    match word {
        "end_turn" => FinishReason::Stop,
        "stop_sequence" => FinishReason::StopString(matched.map(Into::into)),
        "tool_use" => FinishReason::ToolCalls,
        "max_tokens" => FinishReason::Length,
        "model_context_window_exceeded" => FinishReason::ContextWindow,
        "refusal" => FinishReason::Refusal,
        "pause_turn" => FinishReason::Paused,
        word => FinishReason::Other(word.chars().take(WORD_SHOWN).collect::<String>().into()),
    }
}
