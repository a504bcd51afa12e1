//! Requests, both ways.

mod content;
mod decode;
mod encode;
mod history;
mod media;
mod messages;
mod results;
mod settings;
mod tools;
mod wire;
mod write_assistant;
mod write_content;
mod write_messages;
mod write_tools;

pub(super) use decode::decode;
pub(super) use encode::encode;

/// The first line of a tool message whose tool failed: this wire has no field for it (translation contract
/// §7.2). It is written where the other side said so and read back by the same rule.
pub(super) const ERROR_MARKER: &str = "[the tool failed]\n";
