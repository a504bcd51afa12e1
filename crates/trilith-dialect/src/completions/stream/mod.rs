//! Streams, both ways.

mod assemble;
mod reader;
mod usual;
mod writer;

pub(super) use assemble::Assembler;
pub(super) use reader::CompletionChunks;
pub(super) use writer::CompletionWriter;
