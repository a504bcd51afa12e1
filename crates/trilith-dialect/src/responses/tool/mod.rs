//! Tools and the choice among them on the Responses wire (openai-checklist §8, §9).

mod choice;
mod decode;
mod encode;

pub(super) use choice::{decode_choice, write_choice, write_choice_mapped};
pub(super) use decode::decode_tool;
pub(super) use encode::{write_tool, write_tool_mapped};
