//! Streams on the Responses wire, both directions (openai-checklist §11).

mod assembly;
mod delta;
mod progress;
mod reader;
mod replay;
mod spot;
mod turns;
mod usual;
mod writer;

pub(super) use assembly::Assembly;
pub(super) use reader::ResponsesReader;
pub(super) use writer::ResponsesWriter;
