//! Only `trilith-dialect` spells wire names: a field name of a vendor's format anywhere else is a translation
//! done in the wrong room.

use super::Breach;
use crate::scan::Source;

/// Crates whose sources may spell them: the dialects, and the test kit that looks at what they wrote.
const EXEMPT: &[&str] = &["crates/trilith-dialect/", "crates/trilith-testkit/"];

/// Names that mean one thing only, on one wire or several. Words that ordinary code needs too (`model`,
/// `input_tokens` as a metric, `input_items` as a path) are left out.
const NAMES: &[&str] = &[
    "additional_tools",
    "cache_control",
    "choices",
    "completion_tokens",
    "content_block",
    "content_block_delta",
    "content_block_start",
    "content_block_stop",
    "content_index",
    "content_part",
    "delta",
    "encrypted_content",
    "finishReason",
    "finish_reason",
    "functionCall",
    "functionResponse",
    "function_call_output",
    "generationConfig",
    "generateContent",
    "inferenceConfig",
    "inlineData",
    "input_schema",
    "max_completion_tokens",
    "max_output_tokens",
    "message_delta",
    "message_start",
    "message_stop",
    "output_index",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_tokens",
    "reasoning_content",
    "response_format",
    "safetySettings",
    "sequence_number",
    "stop_reason",
    "stop_sequence",
    "stop_sequences",
    "stream_options",
    "system_fingerprint",
    "systemInstruction",
    "thoughtSignature",
    "toolUse",
    "tool_call_id",
    "tool_calls",
    "tool_choice",
    "tool_use",
    "top_logprobs",
    "usageMetadata",
];

/// Event names of the Responses stream begin with one of these; no metric or log field of ours does.
const EVENT_STARTS: &[&str] = &[
    "response.content_part.",
    "response.output_item.",
    "response.output_text.",
    "response.function_call_arguments.",
    "response.reasoning_",
    "response.refusal.",
];

/// Whether the rule looks at this file.
pub(crate) fn applies(file: &str) -> bool {
    file.starts_with("crates/")
        && file.contains("/src/")
        && !EXEMPT.iter().any(|start| file.starts_with(start))
}

/// String literals that are a wire name, or hold one as a JSON key or value.
pub(crate) fn check(source: &Source) -> Vec<Breach> {
    let mut found = Vec::new();
    for literal in &source.strings {
        let text = literal.text.replace('\\', "");
        let quoted = |name: &&&str| text == **name || text.contains(&format!("\"{name}\""));
        let event = |start: &&&str| text.starts_with(**start) || text.contains(&format!("\"{start}"));
        let names = NAMES.iter().filter(quoted).chain(EVENT_STARTS.iter().filter(event));
        found.extend(names.map(|name| {
            let why = format!("spells the wire name {name:?}; only trilith-dialect may");
            Breach::of_word(source.line(literal.start), name, why)
        }));
    }
    found
}
