//! Answers, both ways: the whole form, and the pieces it shares with the stream.

pub(super) mod carriers;
mod decode;
mod encode;
pub(super) mod pieces;
mod shown;
pub(super) mod wire;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use shown::{answer_id, finish_word, losses, stands_apart};

pub(super) use crate::openai_usage as usage;

/// What the whole form and the stream write alike.
pub(super) mod shared {
    pub(in crate::chat) use super::encode::write_call;
    pub(in crate::chat) use crate::choices::{BREAK, choices, created};
}
