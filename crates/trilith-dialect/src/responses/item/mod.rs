//! Items on the Responses wire, both directions (openai-checklist §6).

mod annotation;
mod decode;
mod encode;
mod kinds;
mod media;
mod part_in;
mod part_out;

pub(super) use annotation::decode_annotation;
pub(super) use decode::{decode_item, rest};
pub(super) use encode::{View, shown_args, write_item};
pub(super) use kinds::{is_client_run, result_type};
pub(super) use part_in::decode_logprobs;
pub(super) use part_out::{Voice, write_annotation, write_logprobs, write_part};
