//! Token counts of Chat Completions, of Completions and of their relatives (translation contract §11, dialects §9
//! and §11).

use serde::Deserialize;
use trilith_core::{CacheWrite, Usage};

use crate::{json::Object, loose::Number};

/// The counts as upstreams send them.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(crate) struct WireUsage {
    #[serde(default)]
    prompt_tokens: Number,
    #[serde(default)]
    completion_tokens: Number,
    #[serde(default)]
    total_tokens: Number,
    prompt_tokens_details: Option<PromptDetails>,
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek.
    #[serde(default)]
    prompt_cache_hit_tokens: Number,
    /// DeepSeek.
    #[serde(default)]
    prompt_cache_miss_tokens: Number,
    /// Moonshot.
    #[serde(default)]
    cached_tokens: Number,
    /// Servers that do not nest it.
    #[serde(default)]
    reasoning_tokens: Number,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Number,
    #[serde(default)]
    cache_write_tokens: Number,
    #[serde(default)]
    audio_tokens: Number,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Number,
    #[serde(default)]
    audio_tokens: Number,
    #[serde(default)]
    accepted_prediction_tokens: Number,
    #[serde(default)]
    rejected_prediction_tokens: Number,
}

/// Never negative.
fn tokens(number: Number) -> Option<u64> {
    number.0.map(|number| u64::try_from(number).unwrap_or(0))
}

impl WireUsage {
    /// The canonical counts.
    pub(crate) fn usage(self) -> Usage {
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        let completion = self.completion_tokens_details.unwrap_or_default();
        let hit = tokens(self.prompt_cache_hit_tokens);
        let miss = tokens(self.prompt_cache_miss_tokens);
        let halves = hit.unwrap_or(0).saturating_add(miss.unwrap_or(0));
        let input_total = tokens(self.prompt_tokens).unwrap_or(halves);
        let mut output_total = tokens(self.completion_tokens).unwrap_or(0);
        let reasoning = tokens(completion.reasoning_tokens).or(tokens(self.reasoning_tokens)).unwrap_or(0);
        // xAI counts reasoning beside the completion; its total says so.
        let beside = input_total.saturating_add(output_total).saturating_add(reasoning);
        if reasoning > 0 && tokens(self.total_tokens) == Some(beside) {
            output_total = output_total.saturating_add(reasoning);
        }
        let cached = tokens(prompt.cached_tokens).or(hit).or(tokens(self.cached_tokens));
        Usage {
            input_total,
            cache_read: cached.unwrap_or(0),
            cache_write: CacheWrite {
                m30: tokens(prompt.cache_write_tokens).unwrap_or(0),
                ..CacheWrite::default()
            },
            output_total,
            reasoning,
            input_audio: tokens(prompt.audio_tokens),
            output_audio: tokens(completion.audio_tokens),
            accepted_prediction: tokens(completion.accepted_prediction_tokens),
            rejected_prediction: tokens(completion.rejected_prediction_tokens),
            estimated: false,
        }
    }
}

/// Appends the counts as an object (openai-checklist H26).
pub(crate) fn write(usage: &Usage, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.int("prompt_tokens", usage.input_total);
    object.int("completion_tokens", usage.output_total);
    object.int("total_tokens", usage.total());
    let mut prompt = object.object("prompt_tokens_details");
    prompt.int("cached_tokens", usage.cache_read);
    prompt.int("audio_tokens", usage.input_audio.unwrap_or(0));
    if usage.cache_write.total() > 0 {
        prompt.int("cache_write_tokens", usage.cache_write.total());
    }
    prompt.end();
    let mut completion = object.object("completion_tokens_details");
    completion.int("reasoning_tokens", usage.reasoning);
    completion.int("audio_tokens", usage.output_audio.unwrap_or(0));
    completion.int("accepted_prediction_tokens", usage.accepted_prediction.unwrap_or(0));
    completion.int("rejected_prediction_tokens", usage.rejected_prediction.unwrap_or(0));
    completion.end();
    object.end();
}
