//! Streams, both ways.

mod assemble;
mod blocks;
mod frames;
mod reader;
mod usual;
mod writer;

pub(super) use assemble::Assembler;
pub(super) use reader::MessagesReader;
pub(super) use writer::MessagesWriter;
