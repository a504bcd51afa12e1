//! A response as a list of choices: what Chat Completions and Completions show alike.

use serde_json::value::RawValue;
use trilith_core::{Begin, Error, FinishReason, Item, ItemBody, Response, Status};

use crate::{
    loose::{Number, Text},
    openai_error,
};

/// What stands between two pieces of reasoning, and between two messages, which become one here.
pub(crate) const BREAK: &str = "\n\n";

/// The answer's id: the upstream's own where it begins as this dialect's do, else one made from the response's.
pub(crate) fn answer_id(response: &Response, prefix: &str) -> String {
    match response.upstream.upstream_id.as_deref() {
        Some(id) if id.starts_with(prefix) => id.to_owned(),
        _ => {
            let stem = response.id.split_once('_').map_or(&*response.id, |(_, stem)| stem);
            format!("{prefix}{stem}")
        }
    }
}

/// The upstream's own time belongs to the upstream's own id.
pub(crate) fn created(response: &Response) -> i64 {
    response.upstream.created_at.unwrap_or(response.created_at)
}

/// How many answers there are; an answer is never without one.
pub(crate) fn choices(response: &Response) -> u16 {
    let seen = response.output.iter().map(|output| output.choice.saturating_add(1)).max().unwrap_or(1);
    seen.max(u16::try_from(response.finishes.len()).unwrap_or(u16::MAX)).max(1)
}

/// Whether the message at `index` is another than what its choice said before, so that a blank line goes
/// between them: the model calls it a remark or the answer, or something that is not shown here came between.
/// Otherwise it goes on, since upstreams of Chat Completions send one content with reasoning and calls in it.
pub(crate) fn stands_apart(response: &Response, index: usize, is_shown: impl Fn(&Item) -> bool) -> bool {
    let Some(output) = response.output.get(index) else { return false };
    let before = response.output.get(..index).unwrap_or_default();
    let Some(last) = before.iter().rfind(|other| other.choice == output.choice) else { return false };
    let apart = |item: &Item| matches!(&item.body, ItemBody::Message(message) if message.phase.is_some());
    apart(&output.item) || matches!(output.item.body, ItemBody::Message(_)) && !is_shown(&last.item)
}

/// The finish word of a choice (translation contract §12); `calls` says whether it shows calls.
pub(crate) fn finish_word(response: &Response, choice: u16, calls: impl Fn() -> bool) -> &'static str {
    let told = response.finishes.get(usize::from(choice)).and_then(Option::as_ref);
    let cut = (response.status == Status::Incomplete).then_some(response.incomplete.as_ref()).flatten();
    match told.or(cut) {
        Some(FinishReason::Length | FinishReason::ContextWindow | FinishReason::Paused) => "length",
        Some(FinishReason::ContentFilter | FinishReason::Refusal) => "content_filter",
        None if response.status == Status::Incomplete => "length",
        _ if calls() => "tool_calls",
        _ => "stop",
    }
}

/// What an answer says about itself, unread: every chunk repeats it.
pub(crate) struct About<'a> {
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) model: Option<&'a RawValue>,
    pub(crate) created: Option<&'a RawValue>,
    pub(crate) service_tier: Option<&'a RawValue>,
    pub(crate) system_fingerprint: Option<&'a RawValue>,
}

impl About<'_> {
    /// Learns from it; what is absent or empty leaves what is known.
    pub(crate) fn introduce(&self, begin: &mut Begin) {
        let told = |known: &mut Option<Box<str>>, raw: Option<&RawValue>| {
            let text =
                raw.and_then(|raw| serde_json::from_str::<Text>(raw.get()).ok()).and_then(Text::filled);
            if let Some(text) = text {
                *known = Some(text.into());
            }
        };
        told(&mut begin.upstream_id, self.id);
        told(&mut begin.model, self.model);
        told(&mut begin.service_tier, self.service_tier);
        told(&mut begin.system_fingerprint, self.system_fingerprint);
        let time = self.created.and_then(|raw| serde_json::from_str::<Number>(raw.get()).ok());
        begin.created_at = time.and_then(|time| time.0).filter(|time| *time > 0).or(begin.created_at);
    }
}

/// Longest unknown word that a report repeats, in characters.
const WORD_SHOWN: usize = 40;

/// What an upstream's finish word means.
pub(crate) fn finish_reason(word: &str, matched: Option<String>) -> Result<FinishReason, Error> {
    Ok(match word {
        "stop" => match matched {
            Some(text) => FinishReason::StopString(Some(text.into())),
            None => FinishReason::Stop,
        },
        "eos" | "eos_token" | "end_turn" => FinishReason::Stop,
        "stop_sequence" => FinishReason::StopString(matched.map(Into::into)),
        "length" | "max_tokens" => FinishReason::Length,
        "model_length" => FinishReason::ContextWindow,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        // Mistral and OpenRouter; DeepSeek; vLLM.
        "error" | "insufficient_system_resource" | "abort" => {
            return Err(openai_error::nonsense("an answer that ended in an error of its own"));
        }
        word => FinishReason::Other(word.chars().take(WORD_SHOWN).collect::<String>().into()),
    })
}
