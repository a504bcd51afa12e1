//! Ids that Trilith mints. An item's id is derived from its response's, so that it needs no randomness of
//! its own and is the same in every view of the response.

use crate::{CallKind, ItemBody};

/// The random half of a response's id: 32 hexadecimal digits: the creation time in
/// milliseconds, then ten random bytes, so that ids sort by age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResponseId([u8; 32]);

impl ResponseId {
    /// Makes the id from the time (unix milliseconds) and 10 random bytes.
    pub fn mint(unix_ms: u64, random: [u8; 10]) -> Self {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 32];
        let time = unix_ms.to_be_bytes();
        for (slot, byte) in text.chunks_exact_mut(2).zip(time[2..].iter().chain(&random)) {
            slot[0] = HEX[usize::from(byte >> 4)];
            slot[1] = HEX[usize::from(byte & 15)];
        }
        Self(text)
    }

    /// The 32 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        // The bytes are hexadecimal digits by construction.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// `resp_…`.
    pub fn response(&self) -> Box<str> {
        format!("resp_{}", self.as_str()).into()
    }
}

/// The prefix of an item's id on the Responses wire (openai-checklist T11).
pub const fn item_prefix(body: &ItemBody) -> &'static str {
    match body {
        ItemBody::Message(_) => "msg_",
        ItemBody::Reasoning(_) => "rs_",
        ItemBody::Call(call) => match call.kind {
            CallKind::Function => "fc_",
            CallKind::Custom => "ctc_",
            CallKind::Mcp => "mcp_",
            CallKind::McpListTools => "mcpl_",
            CallKind::McpApproval => "mcpr_",
            CallKind::WebSearch => "ws_",
            CallKind::FileSearch => "fs_",
            CallKind::CodeInterpreter => "ci_",
            CallKind::ImageGeneration => "ig_",
            CallKind::Computer => "cu_",
            CallKind::LocalShell => "lsh_",
            CallKind::Shell => "sh_",
            CallKind::ApplyPatch => "apc_",
            CallKind::ToolSearch => "tsc_",
            CallKind::Program => "cm_",
        },
        ItemBody::Result(result) => match result.kind {
            CallKind::Function => "fco_",
            CallKind::Custom => "ctco_",
            CallKind::Shell => "sho_",
            CallKind::ToolSearch => "tso_",
            CallKind::Program => "cmo_",
            CallKind::Computer => "cuo_",
            CallKind::LocalShell => "lsho_",
            CallKind::ApplyPatch => "apco_",
            CallKind::McpApproval => "mcpa_",
            CallKind::Mcp
            | CallKind::McpListTools
            | CallKind::WebSearch
            | CallKind::FileSearch
            | CallKind::CodeInterpreter
            | CallKind::ImageGeneration => "out_",
        },
        ItemBody::Compaction(_) => "cmp_",
        ItemBody::CompactionTrigger | ItemBody::ConfigurationUpdate(_) | ItemBody::Opaque(_) => "item_",
        ItemBody::ToolsChange(_) => "at_",
        ItemBody::Reference(_) => "ref_",
    }
}

/// The id of item number `n` (outputs count from 0, inputs have the top bit set) of a response.
/// `response` is the response's whole id.
pub fn item_id(response: &str, body: &ItemBody, n: u32) -> Box<str> {
    let stem = response.split_once('_').map_or(response, |(_, stem)| stem);
    format!("{}{stem}{n:08x}", item_prefix(body)).into()
}

/// The id of a call that came without one: stable for the same response and place.
pub fn call_id(response: &str, n: u32) -> Box<str> {
    let stem = response.split_once('_').map_or(response, |(_, stem)| stem);
    let tail = stem.get(stem.len().saturating_sub(20)..).unwrap_or(stem);
    format!("call_{tail}{n:04x}").into()
}
