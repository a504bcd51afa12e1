//! A response as a list of choices: what Chat Completions and Completions show alike.

use trilith_core::{FinishReason, Item, ItemBody, Response, Status};

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
