//! Requests, both ways.

mod base64;
mod blocks;
mod decode;
mod encode;
mod history;
mod ids;
mod known_tools;
mod object;
mod output_schema;
mod results;
mod settings;
#[cfg(test)]
mod tests;
mod tools;
mod wire;
mod write_blocks;
mod write_calls;
mod write_media;
mod write_messages;
mod write_settings;
mod write_thinking;
mod write_tools;

pub(super) use decode::{decode, decode_count};
pub(super) use encode::{encode, encode_count};
pub(super) use write_settings::holds;

/// Marks, on an item, a field that belongs to the message around it.
const MESSAGE_PREFIX: &str = "message.";
/// Marks, on settings, a field of `output_config`.
const OUTPUT_PREFIX: &str = "output_config.";
/// Marks, on settings, a field of `metadata`.
const METADATA_PREFIX: &str = "metadata.";
/// The whole declaration of a tool with a type of its own, as it came.
const DECLARATION: &str = "declaration";
/// That a tool is strict although its schema is one that other wires cannot be strict about.
const STRICT: &str = "strict";
/// How thinking was asked for, as it came: the wire knows more forms than the settings.
const THINKING: &str = "thinking";
/// A cache mark that stands where items have no place for one, or that says more than how long it holds.
const CACHE_CONTROL: &str = "cache_control";
/// Where a block's content is, in a form that only this wire has.
const SOURCE: &str = "source";
