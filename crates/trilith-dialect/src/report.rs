//! Trilith's own report of what a request could not carry.

use serde::Serialize;
use trilith_core::Loss;

/// The top-level request fields by whose names losses are counted; anything else counts as one more.
pub const FIELDS: &[&str] = &[
    "audio",
    "cache_control",
    "container",
    "context_management",
    "conversation",
    "encrypted_content",
    "frequency_penalty",
    "include",
    "input",
    "instructions",
    "logit_bias",
    "logprobs",
    "max_output_tokens",
    "max_tokens",
    "max_tool_calls",
    "mcp_servers",
    "messages",
    "metadata",
    "modalities",
    "n",
    "output_config",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "stop_sequences",
    "store",
    "system",
    "temperature",
    "text",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "truncation",
    "usage",
    "user",
    "verbosity",
];

#[derive(Serialize)]
struct Report<'a> {
    object: &'static str,
    request_id: &'a str,
    losses: Vec<Entry<'a>>,
    omitted: usize,
}

#[derive(Serialize)]
struct Entry<'a> {
    path: &'a str,
    why: &'a str,
    disposition: &'static str,
}

/// The report of a request; `omitted` losses were too many to keep.
pub fn encode(request_id: &str, losses: &[Loss], omitted: usize, out: &mut Vec<u8>) {
    let losses = losses
        .iter()
        .map(|loss| Entry { path: &loss.path, why: &loss.why, disposition: loss.disposition.name() })
        .collect();
    let report = Report { object: "trilith.losses", request_id, losses, omitted };
    // Writing plain strings to memory cannot fail.
    serde_json::to_writer(out, &report).ok();
}
