//! The lifecycle events of hosted tools.

use trilith_core::{CallKind, ItemStatus, ToolStage};

/// The words before the stage, by kind of call.
const TOOLS: [(&str, CallKind); 6] = [
    ("response.web_search_call.", CallKind::WebSearch),
    ("response.file_search_call.", CallKind::FileSearch),
    ("response.code_interpreter_call.", CallKind::CodeInterpreter),
    ("response.image_generation_call.", CallKind::ImageGeneration),
    ("response.mcp_list_tools.", CallKind::McpListTools),
    ("response.mcp_call.", CallKind::Mcp),
];

const STAGES: [(&str, ToolStage); 7] = [
    ("in_progress", ToolStage::InProgress),
    ("searching", ToolStage::Searching),
    ("interpreting", ToolStage::Interpreting),
    ("generating", ToolStage::Generating),
    ("compacting", ToolStage::Compacting),
    ("completed", ToolStage::Completed),
    ("failed", ToolStage::Failed),
];

/// What compaction calls itself; its item is no call.
pub(super) const COMPACTING: &str = "response.compaction.compacting";

/// The stage that an event's type reports.
pub(super) fn stage_of(event: &str) -> Option<ToolStage> {
    if event == COMPACTING {
        return Some(ToolStage::Compacting);
    }
    let rest = TOOLS.iter().find_map(|(prefix, _)| event.strip_prefix(prefix))?;
    STAGES.iter().find(|(word, _)| *word == rest).map(|(_, stage)| *stage)
}

/// The event's type for a stage; `None` where that kind of call has no such event.
pub(super) fn event_of(kind: CallKind, stage: ToolStage) -> Option<&'static str> {
    use CallKind::{CodeInterpreter, FileSearch, ImageGeneration, Mcp, McpListTools, WebSearch};
    use ToolStage::{Completed, Failed, Generating, InProgress, Interpreting, Searching};
    Some(match (kind, stage) {
        (WebSearch, InProgress) => "response.web_search_call.in_progress",
        (WebSearch, Searching) => "response.web_search_call.searching",
        (WebSearch, Completed) => "response.web_search_call.completed",
        (FileSearch, InProgress) => "response.file_search_call.in_progress",
        (FileSearch, Searching) => "response.file_search_call.searching",
        (FileSearch, Completed) => "response.file_search_call.completed",
        (CodeInterpreter, InProgress) => "response.code_interpreter_call.in_progress",
        (CodeInterpreter, Interpreting) => "response.code_interpreter_call.interpreting",
        (CodeInterpreter, Completed) => "response.code_interpreter_call.completed",
        (ImageGeneration, InProgress) => "response.image_generation_call.in_progress",
        (ImageGeneration, Generating) => "response.image_generation_call.generating",
        (ImageGeneration, Completed) => "response.image_generation_call.completed",
        (McpListTools, InProgress) => "response.mcp_list_tools.in_progress",
        (McpListTools, Completed) => "response.mcp_list_tools.completed",
        (McpListTools, Failed) => "response.mcp_list_tools.failed",
        (Mcp, InProgress) => "response.mcp_call.in_progress",
        (Mcp, Completed) => "response.mcp_call.completed",
        (Mcp, Failed) => "response.mcp_call.failed",
        _ => return None,
    })
}

/// The steps that a hosted tool goes through until it ends that way (openai-checklist E12 to E15).
pub(super) fn stages_of(kind: CallKind, status: ItemStatus) -> &'static [ToolStage] {
    use ToolStage::{Completed, Failed, Generating, InProgress, Interpreting, Searching};
    match (kind, status) {
        (CallKind::WebSearch | CallKind::FileSearch, ItemStatus::Completed) => {
            &[InProgress, Searching, Completed]
        }
        (CallKind::WebSearch | CallKind::FileSearch, _) => &[InProgress, Searching],
        (CallKind::CodeInterpreter, ItemStatus::Completed) => &[InProgress, Interpreting, Completed],
        (CallKind::CodeInterpreter, _) => &[InProgress, Interpreting],
        (CallKind::ImageGeneration, ItemStatus::Completed) => &[InProgress, Generating, Completed],
        (CallKind::ImageGeneration, _) => &[InProgress, Generating],
        (CallKind::Mcp | CallKind::McpListTools, ItemStatus::Completed) => &[InProgress, Completed],
        (CallKind::Mcp | CallKind::McpListTools, _) => &[InProgress, Failed],
        _ => &[],
    }
}
