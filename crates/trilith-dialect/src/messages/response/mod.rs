//! Answers, both ways: the whole form, and the pieces it shares with the stream.

mod decode;
mod encode;
mod shown;
pub(super) mod usage;
pub(super) mod wire;

pub(super) use decode::decode;
pub(super) use encode::{BREAK, call_head, encode, own_fields, reasoning_text, signature, write_carrier};
pub(super) use shown::{Form, answer_id, citation, form, losses, stop_reason};

/// Under this name an annotation that other dialects can show keeps the citation that it came from.
pub(super) const CITATION: &str = "citation";
