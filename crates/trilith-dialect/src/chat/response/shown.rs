//! What a client sees of a response: its id, why it ended, and what has no place here.

use trilith_core::{CallKind, Item, ItemBody, Loss, PartKind, Response};

use super::pieces;
use crate::choices;

/// The answer's id: the upstream's own where it is of this dialect, else one made from the response's.
pub(in crate::chat) fn answer_id(response: &Response) -> String {
    choices::answer_id(response, "chatcmpl-")
}

/// How many calls of a choice a client of this dialect can see.
pub(in crate::chat) fn visible_calls(response: &Response, choice: u16) -> usize {
    let own = response.output.iter().filter(|output| output.choice == choice);
    own.filter(|output| is_visible_call(&output.item)).count()
}

/// Whether the item is a call that this dialect has a form for.
pub(in crate::chat) fn is_visible_call(item: &Item) -> bool {
    matches!(&item.body, ItemBody::Call(call) if matches!(call.kind, CallKind::Function | CallKind::Custom))
}

/// Whether the message at `index` is another than what its choice said before.
pub(in crate::chat) fn stands_apart(response: &Response, index: usize) -> bool {
    choices::stands_apart(response, index, |item| {
        matches!(item.body, ItemBody::Message(_) | ItemBody::Reasoning(_)) || is_visible_call(item)
    })
}

/// The finish word of a choice (translation contract §12).
pub(in crate::chat) fn finish_word(response: &Response, choice: u16) -> &'static str {
    choices::finish_word(response, choice, || visible_calls(response, choice) > 0)
}

/// What the output holds that this dialect cannot show.
pub(in crate::chat) fn losses(response: &Response) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (place, output) in response.output.iter().enumerate() {
        let at = format!("output[{place}]");
        match &output.item.body {
            ItemBody::Message(message) => {
                for (number, part) in message.parts.iter().enumerate() {
                    part_losses(&format!("{at}.content[{number}]"), &part.kind, &mut losses);
                }
            }
            ItemBody::Reasoning(_) => {}
            ItemBody::Call(_) if is_visible_call(&output.item) => {}
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
    Loss::warn(at, format!("a {kind} {what}, which Chat Completions cannot show"))
}

fn part_losses(at: &str, kind: &PartKind, losses: &mut Vec<Loss>) {
    match kind {
        PartKind::Text(text) => {
            let formless = text.annotations.iter().filter(|annotation| !pieces::has_form(annotation)).count();
            if formless > 0 {
                let why = format!("{formless} file citations, which Chat Completions cannot show");
                losses.push(Loss::warn(format!("{at}.annotations"), why));
            }
        }
        PartKind::Refusal(_) | PartKind::Audio(_) => {}
        kind => losses.push(unseen(at.to_owned(), kind.name(), "part")),
    }
}
