//! How a response ends, from what the model and the upstream said (translation contract §12).

use trilith_core::{
    Completion, CustomFormat, End, Error, FinishReason, Instructions, Item, ItemBody, PartKind,
    ResponseState, ResultOutput, Settings, Status, Tool, ToolKind, Usage,
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

/// The fault of an upstream that stops without a reason: never a made-up stop (translation contract §16).
pub(crate) fn unfinished() -> Error {
    Error::upstream("the upstream ended its answer without saying why; try again")
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
        input_total: tokens(input_bytes),
        output_total: tokens(output),
        estimated: true,
        ..Usage::default()
    }
}

/// How many tokens a text of so many bytes may be.
pub(crate) const fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN) as u64
}

/// How much text a request holds, in bytes: its instructions, its tools and its whole context.
pub(crate) fn input_bytes(settings: &Settings, context: &[Item]) -> usize {
    let items = |items: &[Item]| items.iter().map(text_bytes).sum::<usize>();
    let instructions = match &settings.instructions {
        None => 0,
        Some(Instructions::Text(text)) => text.len(),
        Some(Instructions::Items(said)) => items(said),
    };
    let tools: usize = settings.tools.iter().map(tool_bytes).sum();
    instructions + tools + items(context)
}

/// How much text the prompts after the first are, in bytes.
pub(crate) fn more_prompt_bytes(completion: &Completion) -> usize {
    completion.more_prompts.iter().flatten().map(text_bytes).sum()
}

/// How much the model reads of a tool, in bytes.
fn tool_bytes(tool: &Tool) -> usize {
    match &tool.kind {
        ToolKind::Function { name, description, parameters, .. } => {
            let schema = parameters.as_ref().map_or(0, |schema| schema.as_str().len());
            name.len() + description.as_ref().map_or(0, String::len) + schema
        }
        ToolKind::Custom { name, description, format } => {
            let grammar = match format {
                Some(CustomFormat::Grammar { definition, .. }) => definition.len(),
                None | Some(CustomFormat::Text) => 0,
            };
            name.len() + description.as_ref().map_or(0, String::len) + grammar
        }
        ToolKind::Namespace { name, description, tools } => {
            let members: usize = tools.iter().map(tool_bytes).sum();
            name.len() + description.as_ref().map_or(0, String::len) + members
        }
        // What an upstream tells its model of a tool of its own is not known here.
        ToolKind::Hosted { .. } => 0,
    }
}

/// How much text an item holds, in bytes.
pub(crate) fn text_bytes(item: &Item) -> usize {
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
        ItemBody::ToolsChange(change) => change.add.iter().map(tool_bytes).sum(),
        _ => 0,
    }
}
