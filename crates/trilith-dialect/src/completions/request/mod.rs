//! Requests, both ways.

mod decode;
mod encode;
mod prompt;
mod wire;
mod write_settings;

pub(super) use decode::decode;
pub(super) use encode::encode;
