//! What a client sees of a response: its id, why it ended, and what has no place here.

use trilith_core::{
    Annotation, AnnotationKind, CallKind, DialectId, FinishReason, ItemBody, Json, Loss, OutputItem,
    PartKind, Response, Status,
};

/// The answer's id: the upstream's own where it is of this dialect, else one made from the response's.
pub(in crate::messages) fn answer_id(response: &Response) -> String {
    match response.upstream.upstream_id.as_deref() {
        Some(id) if id.starts_with("msg_") => id.to_owned(),
        _ => {
            let stem = response.id.split_once('_').map_or(&*response.id, |(_, stem)| stem);
            format!("msg_{stem}")
        }
    }
}

/// How an item is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::messages) enum Form {
    /// Text blocks.
    Message,
    /// A thinking block, and those of its carriers.
    Reasoning,
    /// A `tool_use` block.
    Call,
    /// A block as it came.
    Block,
    /// Not at all.
    Hidden,
}

/// How the item is shown. This wire has one answer only.
pub(in crate::messages) const fn form(output: &OutputItem) -> Form {
    if output.choice != 0 {
        return Form::Hidden;
    }
    match &output.item.body {
        ItemBody::Message(_) => Form::Message,
        ItemBody::Reasoning(_) => Form::Reasoning,
        ItemBody::Call(call) if matches!(call.kind, CallKind::Function | CallKind::Custom) => Form::Call,
        ItemBody::Opaque(opaque) if matches!(opaque.dialect, DialectId::Messages) => Form::Block,
        _ => Form::Hidden,
    }
}

/// The citation that an annotation is here; one of another wire has no form without a genuine index.
pub(in crate::messages) fn citation(annotation: &Annotation) -> Option<&Json> {
    match &annotation.kind {
        AnnotationKind::Opaque { dialect: DialectId::Messages, json } => Some(json),
        _ => annotation.extra.get(DialectId::Messages, super::CITATION),
    }
}

/// The stop reason, and the stop string that was met (translation contract §12).
pub(in crate::messages) fn stop_reason(response: &Response) -> (&'static str, Option<&str>) {
    let calls = response.output.iter().any(|output| form(output) == Form::Call);
    let told = response.finishes.first().and_then(Option::as_ref);
    let cut = (response.status == Status::Incomplete).then_some(response.incomplete.as_ref()).flatten();
    match told.or(cut) {
        Some(FinishReason::Length) => ("max_tokens", None),
        Some(FinishReason::ContextWindow) => ("model_context_window_exceeded", None),
        Some(FinishReason::ContentFilter | FinishReason::Refusal) => ("refusal", None),
        None if response.status == Status::Incomplete => ("max_tokens", None),
        _ if calls => ("tool_use", None),
        Some(FinishReason::Paused) => ("pause_turn", None),
        Some(FinishReason::StopString(matched)) => ("stop_sequence", matched.as_deref()),
        Some(FinishReason::Other(word)) if &**word == "compaction" => ("compaction", None),
        _ => ("end_turn", None),
    }
}

/// What the output holds that this dialect cannot show.
pub(in crate::messages) fn losses(response: &Response) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (place, output) in response.output.iter().enumerate() {
        let at = format!("output[{place}]");
        if output.choice != 0 {
            losses.push(Loss::warn(at, "an answer beside the first, which Messages cannot show"));
            continue;
        }
        match &output.item.body {
            ItemBody::Message(message) => {
                for (number, part) in message.parts.iter().enumerate() {
                    part_losses(&format!("{at}.content[{number}]"), &part.kind, &mut losses);
                }
            }
            _ if form(output) != Form::Hidden => {}
            ItemBody::Call(call) => losses.push(unseen(at, call.kind.name(), "call")),
            ItemBody::Result(result) => losses.push(unseen(at, result.kind.name(), "result")),
            ItemBody::Compaction(_) => losses.push(unseen(at, "compaction", "item")),
            ItemBody::Opaque(opaque) => losses.push(unseen(at, &opaque.kind, "item")),
            _ => losses.push(unseen(at, "control", "item")),
        }
    }
    losses
}

fn unseen(at: String, kind: &str, what: &str) -> Loss {
    Loss::warn(at, format!("a {kind} {what}, which Messages cannot show"))
}

fn part_losses(at: &str, kind: &PartKind, losses: &mut Vec<Loss>) {
    match kind {
        PartKind::Text(text) => {
            let formless = text.annotations.iter().filter(|mark| citation(mark).is_none()).count();
            if formless > 0 {
                let why = format!("{formless} citations, which Messages cannot show");
                losses.push(Loss::warn(format!("{at}.annotations"), why));
            }
            if !text.logprobs.is_empty() {
                losses.push(Loss::warn(format!("{at}.logprobs"), "Messages has no log-probabilities"));
            }
        }
        PartKind::Refusal(_) => {
            losses.push(Loss::emulate(at, "a refusal is shown as text"));
        }
        kind => losses.push(unseen(at.to_owned(), kind.name(), "part")),
    }
}
