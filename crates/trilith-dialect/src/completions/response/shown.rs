//! What a client sees of a response: its id, why it ended, and what has no place here.

use trilith_core::{ItemBody, Loss, PartKind, Response};

use super::logprobs;
use crate::choices;

/// The answer's id: the upstream's own where it is of this dialect, else one made from the response's.
pub(in crate::completions) fn answer_id(response: &Response) -> String {
    choices::answer_id(response, "cmpl-")
}

/// Whether the message at `index` is another than what its choice said before.
pub(in crate::completions) fn stands_apart(response: &Response, index: usize) -> bool {
    choices::stands_apart(response, index, |item| {
        matches!(item.body, ItemBody::Message(_) | ItemBody::Reasoning(_))
    })
}

/// The finish word of a choice (translation contract §12); there are no calls here.
pub(in crate::completions) fn finish_word(response: &Response, choice: u16) -> &'static str {
    choices::finish_word(response, choice, || false)
}

/// What the output holds that this dialect cannot show.
pub(in crate::completions) fn losses(response: &Response) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (place, output) in response.output.iter().enumerate() {
        let at = format!("output[{place}]");
        match &output.item.body {
            ItemBody::Message(message) => {
                for (number, part) in message.parts.iter().enumerate() {
                    part_losses(&format!("{at}.content[{number}]"), &part.kind, &mut losses);
                }
            }
            ItemBody::Reasoning(_) => losses.push(unseen(at, "reasoning", "item")),
            ItemBody::Call(call) => losses.push(unseen(at, call.kind.name(), "call")),
            ItemBody::Result(result) => losses.push(unseen(at, result.kind.name(), "result")),
            ItemBody::Compaction(_) => losses.push(unseen(at, "compaction", "item")),
            ItemBody::Opaque(opaque) => losses.push(unseen(at, &opaque.kind, "item")),
            ItemBody::CompactionTrigger
            | ItemBody::ConfigurationUpdate(_)
            | ItemBody::ToolsChange(_)
            | ItemBody::Reference(_) => losses.push(unseen(at, "control", "item")),
        }
    }
    losses
}

fn unseen(at: String, kind: &str, what: &str) -> Loss {
    Loss::warn(at, format!("a {kind} {what}, which Completions cannot show"))
}

fn part_losses(at: &str, kind: &PartKind, losses: &mut Vec<Loss>) {
    match kind {
        PartKind::Text(text) => {
            if !text.annotations.is_empty() {
                let why = format!("{} citations, which Completions cannot show", text.annotations.len());
                losses.push(Loss::warn(format!("{at}.annotations"), why));
            }
            let repeated = logprobs::repeated(&text.logprobs);
            if repeated > 0 {
                let why = format!("{repeated} alternatives that are spelled like a likelier one");
                losses.push(Loss::warn(format!("{at}.logprobs"), why));
            }
        }
        PartKind::Refusal(_) => losses.push(Loss::emulate(at, "a refusal, shown as text")),
        kind => losses.push(unseen(at.to_owned(), kind.name(), "part")),
    }
}
