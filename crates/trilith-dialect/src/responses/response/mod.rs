//! Response objects, both directions (openai-checklist §5).

mod decode;
mod echo;
mod encode;
mod list;
mod losses;
mod usage;

pub(super) use decode::{begin, decode, finish_reason, upstream_failure};
pub(super) use encode::{Shown, render, write_output_item};
pub use list::{encode_deleted, encode_item, encode_item_list};
pub(super) use losses::losses;
pub(super) use usage::decode_usage;
