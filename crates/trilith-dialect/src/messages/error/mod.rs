//! Errors of this wire, both ways (dialects §1.8, translation contract §17).

mod decode;
mod render;

pub(super) use decode::{decode, in_body, nonsense};
pub(super) use render::{render, write};
