//! The type words of calls and results.

use trilith_core::{Call, CallKind, ItemStatus};

use crate::tape::Tape;

/// The kinds of call items that have fields of their own, by their type word.
const CALLS: [(&str, CallKind); 15] = [
    ("function_call", CallKind::Function),
    ("custom_tool_call", CallKind::Custom),
    ("mcp_call", CallKind::Mcp),
    ("mcp_list_tools", CallKind::McpListTools),
    ("mcp_approval_request", CallKind::McpApproval),
    ("web_search_call", CallKind::WebSearch),
    ("file_search_call", CallKind::FileSearch),
    ("code_interpreter_call", CallKind::CodeInterpreter),
    ("image_generation_call", CallKind::ImageGeneration),
    ("computer_call", CallKind::Computer),
    ("local_shell_call", CallKind::LocalShell),
    ("shell_call", CallKind::Shell),
    ("apply_patch_call", CallKind::ApplyPatch),
    ("tool_search_call", CallKind::ToolSearch),
    ("program", CallKind::Program),
];

const RESULTS: [(&str, CallKind); 9] = [
    ("function_call_output", CallKind::Function),
    ("custom_tool_call_output", CallKind::Custom),
    ("mcp_approval_response", CallKind::McpApproval),
    ("computer_call_output", CallKind::Computer),
    ("local_shell_call_output", CallKind::LocalShell),
    ("shell_call_output", CallKind::Shell),
    ("apply_patch_call_output", CallKind::ApplyPatch),
    ("tool_search_output", CallKind::ToolSearch),
    ("program_output", CallKind::Program),
];

/// The other type words an input item may have.
const OTHERS: [&str; 7] = [
    "message",
    "reasoning",
    "compaction",
    "compaction_trigger",
    "configuration_update",
    "additional_tools",
    "item_reference",
];

/// Every type word of this wire, for messages.
pub(super) fn known_types() -> Vec<&'static str> {
    let typed = CALLS.iter().chain(&RESULTS).map(|(word, _)| *word);
    OTHERS.into_iter().chain(typed).collect()
}

pub(super) fn call_kind(word: &str) -> Option<CallKind> {
    CALLS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
}

pub(super) fn result_kind(word: &str) -> Option<CallKind> {
    RESULTS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
}

/// The type word of a call.
pub(in crate::responses) fn call_type(kind: CallKind) -> &'static str {
    CALLS.iter().find(|(_, known)| *known == kind).map_or("function_call", |(word, _)| word)
}

/// The type word of a result; `None` for kinds whose call item holds the result.
pub(in crate::responses) fn result_type(kind: CallKind) -> Option<&'static str> {
    RESULTS.iter().find(|(_, known)| *known == kind).map(|(word, _)| *word)
}

/// Whether such call items carry a status.
pub(super) const fn call_has_status(kind: CallKind) -> bool {
    !matches!(kind, CallKind::McpListTools | CallKind::McpApproval | CallKind::Program)
}

/// Whether such call items carry `call_id`.
pub(super) const fn call_has_id(kind: CallKind) -> bool {
    matches!(
        kind,
        CallKind::Function
            | CallKind::Custom
            | CallKind::Computer
            | CallKind::LocalShell
            | CallKind::Shell
            | CallKind::ApplyPatch
            | CallKind::Program
            | CallKind::ToolSearch
    )
}

/// Whether the client runs the call, so that the response ends and waits for it (openai-checklist W1).
pub(in crate::responses) fn is_client_run(call: &Call) -> bool {
    let says = |member: &str, word: &str| {
        let Some(detail) = &call.detail else { return false };
        let mut tape = Tape::default();
        let Ok(value) = tape.read(detail.as_str()) else { return false };
        value.get(member).is_some_and(|value| {
            value.string().is_some_and(|text| text == word)
                || value.str("type").is_some_and(|text| text == word)
        })
    };
    match call.kind {
        CallKind::Function
        | CallKind::Custom
        | CallKind::Computer
        | CallKind::LocalShell
        | CallKind::ApplyPatch
        | CallKind::McpApproval => true,
        CallKind::Shell => !says("environment", "container_reference"),
        CallKind::ToolSearch => says("execution", "client"),
        CallKind::Mcp
        | CallKind::McpListTools
        | CallKind::WebSearch
        | CallKind::FileSearch
        | CallKind::CodeInterpreter
        | CallKind::ImageGeneration
        | CallKind::Program => false,
    }
}

/// The status a word stands for. The steps of hosted tools count as being in progress.
pub(super) fn status(word: &str) -> Option<ItemStatus> {
    Some(match word {
        "in_progress" | "searching" | "generating" | "interpreting" | "calling" => ItemStatus::InProgress,
        "completed" => ItemStatus::Completed,
        "incomplete" => ItemStatus::Incomplete,
        "failed" => ItemStatus::Failed,
        _ => return None,
    })
}

pub(super) const fn status_word(status: ItemStatus) -> &'static str {
    match status {
        ItemStatus::InProgress => "in_progress",
        ItemStatus::Completed => "completed",
        ItemStatus::Incomplete => "incomplete",
        ItemStatus::Failed => "failed",
    }
}
