//! Requests on the Responses wire, both directions (openai-checklist §4).

mod decode;
mod encode;
mod fitted;
mod functions;
mod settings_in;
mod settings_out;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use settings_out::{verbosity_word, write_format, write_metadata};
