//! The answer as upstreams send it, whole and in chunks (openai-checklist C8, C11). Everything is optional: servers
//! leave out what they please, and a field nobody needs must not break an answer.

use serde::Deserialize;
use serde_json::value::RawValue;
use trilith_core::Begin;

use crate::{
    choices::About,
    loose::{Number, Text},
    openai_usage::WireUsage,
    typed,
};

/// A chunk or a whole body. What every chunk repeats stays unread after the first.
#[derive(Debug, Deserialize)]
pub(in crate::completions) struct Answer<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    created: Option<&'a RawValue>,
    #[serde(borrow)]
    service_tier: Option<&'a RawValue>,
    #[serde(borrow)]
    system_fingerprint: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(in crate::completions) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(in crate::completions) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(in crate::completions) error: Option<&'a RawValue>,
}

impl Answer<'_> {
    /// Learns what the answer says about itself; what is absent or empty leaves what is known.
    pub(in crate::completions) fn introduce(&self, begin: &mut Begin) {
        let Self { id, model, created, service_tier, system_fingerprint, .. } = *self;
        About { id, model, created, service_tier, system_fingerprint }.introduce(begin);
    }

    /// The counts.
    pub(in crate::completions) fn counts(&self) -> Option<WireUsage> {
        typed::from_str(self.usage?.get()).ok()
    }
}

/// One of the answers, or a piece of it.
#[derive(Debug, Default, Deserialize)]
pub(in crate::completions) struct Choice<'a> {
    #[serde(default)]
    pub(in crate::completions) index: Number,
    #[serde(default)]
    pub(in crate::completions) text: Text,
    #[serde(borrow)]
    pub(in crate::completions) logprobs: Option<&'a RawValue>,
    #[serde(default)]
    pub(in crate::completions) finish_reason: Text,
    /// The stop string that matched (vLLM).
    #[serde(default)]
    pub(in crate::completions) stop_reason: Text,
}
