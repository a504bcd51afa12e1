//! How a response ends, from what the model and the upstream said (translation contract §12).

use trilith_core::{
    End, Error, FinishReason, Instructions, Item, ItemBody, PartKind, ResponseState, ResultOutput, Settings,
    Status, Usage,
};

/// The end that follows from the fold of everything the upstream said.
pub fn of(response: &ResponseState, fault: Option<Error>, at: i64) -> End {
    if let Some(error) = fault {
        return End { status: Status::Failed, incomplete: None, error: Some(error), at };
    }
    // Of several answers the first is the one that every dialect can show; the others keep their own reasons.
    let reasons = || response.finishes.first().into_iter().flatten();
    let failed = reasons().any(|reason| matches!(reason, FinishReason::MalformedCall));
    if failed {
        let error = Error::upstream("the model wrote a tool call that cannot be read; try again");
        return End { status: Status::Failed, incomplete: None, error: Some(error), at };
    }
    let incomplete = reasons().find(|reason| cuts_short(reason)).cloned();
    let status = if incomplete.is_some() { Status::Incomplete } else { Status::Completed };
    End { status, incomplete, error: None, at }
}

const fn cuts_short(reason: &FinishReason) -> bool {
    match reason {
        FinishReason::Length
        | FinishReason::ContextWindow
        | FinishReason::ContentFilter
        | FinishReason::Refusal
        | FinishReason::Paused => true,
        FinishReason::Stop
        | FinishReason::StopString(_)
        | FinishReason::ToolCalls
        | FinishReason::MalformedCall
        | FinishReason::Other(_) => false,
    }
}

/// Roughly how many bytes of text make a token; only for upstreams that count nothing.
const BYTES_PER_TOKEN: usize = 4;

/// Token counts guessed from text, for an upstream that gave none.
pub(crate) fn estimate(input_bytes: usize, response: &ResponseState) -> Usage {
    let output: usize = response.output.iter().map(|output| text_bytes(&output.item)).sum();
    Usage {
        input_total: input_bytes.div_ceil(BYTES_PER_TOKEN) as u64,
        output_total: output.div_ceil(BYTES_PER_TOKEN) as u64,
        estimated: true,
        ..Usage::default()
    }
}

/// How much text a request holds, in bytes: its instructions and its whole context.
pub(crate) fn input_bytes(settings: &Settings, context: &[Item]) -> usize {
    let items = |items: &[Item]| items.iter().map(text_bytes).sum::<usize>();
    let instructions = match &settings.instructions {
        None => 0,
        Some(Instructions::Text(text)) => text.len(),
        Some(Instructions::Items(said)) => items(said),
    };
    instructions + items(context)
}

/// How much text an item holds, in bytes.
fn text_bytes(item: &Item) -> usize {
    let part = |part: &trilith_core::Part| match &part.kind {
        PartKind::Text(text) => text.text.len(),
        PartKind::Refusal(text) => text.len(),
        _ => 0,
    };
    match &item.body {
        ItemBody::Message(message) => message.parts.iter().map(part).sum(),
        ItemBody::Reasoning(reasoning) => {
            reasoning.text.iter().chain(&reasoning.summary).map(String::len).sum()
        }
        ItemBody::Call(call) => call.name.len() + call.args.len(),
        ItemBody::Result(result) => match &result.output {
            ResultOutput::Text(text) => text.len(),
            ResultOutput::Parts(parts) => parts.iter().map(part).sum(),
        },
        _ => 0,
    }
}
