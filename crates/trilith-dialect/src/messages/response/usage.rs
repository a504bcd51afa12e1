//! Token counts of this wire (translation contract §11): its input count leaves out what a cache held.

use serde::Deserialize;
use trilith_core::{CacheWrite, Usage};

use crate::{
    json::Object,
    loose::{Number, Text},
};

/// The counts as upstreams send them. A stream tells some at its begin and some at its end; what is absent
/// leaves what is known.
#[derive(Debug, Default, Deserialize)]
pub(in crate::messages) struct WireUsage {
    #[serde(default)]
    input_tokens: Number,
    #[serde(default)]
    cache_read_input_tokens: Number,
    #[serde(default)]
    cache_creation_input_tokens: Number,
    cache_creation: Option<Creation>,
    #[serde(default)]
    output_tokens: Number,
    output_tokens_details: Option<OutputDetails>,
    #[serde(default)]
    pub(in crate::messages) service_tier: Text,
}

#[derive(Debug, Default, Deserialize)]
struct Creation {
    #[serde(default)]
    ephemeral_5m_input_tokens: Number,
    #[serde(default)]
    ephemeral_1h_input_tokens: Number,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Number,
}

/// Never negative.
fn tokens(number: Number) -> Option<u64> {
    number.0.map(|number| u64::try_from(number).unwrap_or(0))
}

/// The input tokens that no cache held or took.
const fn fresh(usage: &Usage) -> u64 {
    usage.input_total.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write.total())
}

impl WireUsage {
    /// Puts what is told in the place of what was known; counts never add up within one answer.
    pub(in crate::messages) fn learn(&self, usage: &mut Usage) {
        let input = tokens(self.input_tokens).unwrap_or_else(|| fresh(usage));
        usage.cache_read = tokens(self.cache_read_input_tokens).unwrap_or(usage.cache_read);
        let split = self.cache_creation.as_ref();
        let m5 = split.and_then(|split| tokens(split.ephemeral_5m_input_tokens));
        let h1 = split.and_then(|split| tokens(split.ephemeral_1h_input_tokens));
        let known = match (m5, h1) {
            (None, None) => (usage.cache_write.m5, usage.cache_write.h1),
            (m5, h1) => (m5.unwrap_or(0), h1.unwrap_or(0)),
        };
        let (m5, h1) = match tokens(self.cache_creation_input_tokens) {
            // Where the parts do not make the whole, what is left lives as long as the wire's default.
            Some(total) => (total.saturating_sub(known.1.min(total)), known.1.min(total)),
            None => known,
        };
        usage.cache_write = CacheWrite { m5, h1, ..CacheWrite::default() };
        usage.input_total = input.saturating_add(usage.cache_read).saturating_add(m5).saturating_add(h1);
        usage.output_total = tokens(self.output_tokens).unwrap_or(usage.output_total);
        let thinking =
            self.output_tokens_details.as_ref().and_then(|details| tokens(details.thinking_tokens));
        usage.reasoning = thinking.unwrap_or(usage.reasoning);
    }
}

/// Appends the counts as this wire's object.
pub(in crate::messages) fn write(usage: &Usage, tier: Option<&str>, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    let written = &usage.cache_write;
    object.int("input_tokens", fresh(usage));
    object.int("cache_creation_input_tokens", written.total());
    object.int("cache_read_input_tokens", usage.cache_read);
    let mut creation = object.object("cache_creation");
    creation.int("ephemeral_5m_input_tokens", written.m5.saturating_add(written.m30));
    creation.int("ephemeral_1h_input_tokens", written.h1.saturating_add(written.h12));
    creation.end();
    object.int("output_tokens", usage.output_total);
    if usage.reasoning > 0 {
        let mut details = object.object("output_tokens_details");
        details.int("thinking_tokens", usage.reasoning);
        details.end();
    }
    object.optional_string("service_tier", tier.filter(|tier| is_own(tier)));
    object.end();
}

/// Tiers that this wire has a word for.
fn is_own(tier: &str) -> bool {
    matches!(tier, "standard" | "priority" | "batch")
}
