//! Answers, both ways: the whole form, and the pieces it shares with the stream.

mod decode;
mod encode;
pub(super) mod logprobs;
mod shown;
pub(super) mod wire;

pub(super) use decode::decode;
pub(super) use encode::encode;
pub(super) use shown::{answer_id, finish_word, losses, stands_apart};
