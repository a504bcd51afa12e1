//! Streams, both ways.

mod assemble;
mod calls;
mod details;
mod reader;
mod said;
mod usual;
mod writer;

pub(super) use assemble::Assembler;
pub(super) use reader::ChatChunks;
pub(super) use writer::ChatWriter;
