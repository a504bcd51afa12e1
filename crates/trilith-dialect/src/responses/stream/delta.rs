//! The hot frames of a stream. All deltas of a part differ only in their text and their number, so that what
//! comes before the text is written once and copied.

use trilith_core::{CallKind, PartSpace};

use crate::{
    responses::object::{Object, write_int},
    scan::write_string,
};

/// What a delta adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Text,
    Refusal,
    Reasoning,
    Summary,
    Args(CallKind),
}

impl Target {
    /// The words of the event's type between `response.` and the step.
    const fn stem(self) -> &'static str {
        match self {
            Self::Text => "output_text",
            Self::Refusal => "refusal",
            Self::Reasoning => "reasoning_text",
            Self::Summary => "reasoning_summary_text",
            Self::Args(CallKind::Custom) => "custom_tool_call_input",
            Self::Args(CallKind::Mcp) => "mcp_call_arguments",
            Self::Args(_) => "function_call_arguments",
        }
    }

    /// The member that names the part's place; calls have no parts.
    pub(super) const fn index_name(self) -> Option<&'static str> {
        match self {
            Self::Text | Self::Refusal | Self::Reasoning => Some("content_index"),
            Self::Summary => Some("summary_index"),
            Self::Args(_) => None,
        }
    }

    /// The member of the final event that holds the whole text.
    pub(super) const fn whole_name(self) -> &'static str {
        match self {
            Self::Text | Self::Reasoning | Self::Summary => "text",
            Self::Refusal => "refusal",
            Self::Args(CallKind::Custom) => "input",
            Self::Args(_) => "arguments",
        }
    }

    pub(super) fn event(self, step: &str) -> String {
        format!("response.{}.{step}", self.stem())
    }

    pub(super) const fn of_space(space: PartSpace) -> Self {
        match space {
            PartSpace::Content => Self::Refusal,
            PartSpace::Reasoning => Self::Reasoning,
            PartSpace::Summary => Self::Summary,
        }
    }
}

/// The frame that deltas of the current part share.
#[derive(Debug, Default)]
pub(super) struct DeltaFrame {
    of: Option<(Target, u32, u32)>,
    prefix: Vec<u8>,
}

impl DeltaFrame {
    /// Whether the frame is already of this part.
    pub(super) fn is_of(&self, target: Target, index: u32, part: u32) -> bool {
        self.of == Some((target, index, part))
    }

    /// Renders the frame for another part.
    pub(super) fn set(&mut self, target: Target, index: u32, part: u32, item_id: &str, position: u32) {
        self.of = Some((target, index, part));
        self.prefix.clear();
        let event = target.event("delta");
        start_frame(&mut self.prefix, &event);
        let mut object = Object::resume(&mut self.prefix, false);
        object.str("item_id", item_id);
        object.int("output_index", position);
        if let Some(name) = target.index_name() {
            object.int(name, part);
        }
        object.key("delta");
    }

    /// Writes one delta; `after` are members that follow it, with their leading comma.
    pub(super) fn write(&self, out: &mut Vec<u8>, delta: &str, after: &[u8], number: u64) {
        out.extend_from_slice(&self.prefix);
        write_string(out, delta);
        out.extend_from_slice(after);
        end_frame(out, number);
    }
}

/// Opens an event: its name line, and its object up to the type.
pub(super) fn start_frame(out: &mut Vec<u8>, event: &str) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(event.as_bytes());
    out.extend_from_slice(b"\ndata: {\"type\":\"");
    out.extend_from_slice(event.as_bytes());
    out.push(b'"');
}

/// Closes an event with its number and its blank line.
pub(super) fn end_frame(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(b",\"sequence_number\":");
    write_int(out, number);
    out.extend_from_slice(b"}\n\n");
}
