//! Bytes to vocabulary and back, one folder per dialect, and the framing below them. Pure functions.

mod assemble;
mod capability;
pub mod chat;
mod choices;
mod chunks;
pub mod completions;
mod counting;
mod custom;
mod deferred;
mod derived;
mod dialect;
mod flat_tools;
pub mod frame;
#[doc(hidden)]
pub mod fuzzing;
mod hints;
mod json;
mod logprobs;
mod loose;
pub mod messages;
pub mod models;
mod mould;
mod names;
mod object;
mod openai_error;
mod openai_usage;
mod platform;
pub mod rate_limits;
pub mod report;
pub mod responses;
pub mod scan;
mod schema;
mod sniff;
mod spelling;
mod surrogates;
mod tape;
#[cfg(test)]
mod tests;
mod typed;
mod user_id;
mod usual;
mod values;

use trilith_core::DialectId;

pub use capability::{ALL_CAPABILITIES, Capabilities, CapabilityTable, Change, Thinking};
pub use counting::Counting;
pub use dialect::{
    Dialect, Encoded, Peek, Quirks, Reader, Sniffed, Target, Writer, effective_tools, tool_name,
};
pub use names::{FullName, NameMap, is_legal};

/// Every dialect of this build. A dialect exists by being in this table, and nowhere else.
pub static DIALECTS: &[&dyn Dialect] =
    &[&chat::Chat, &responses::Responses, &messages::Messages, &completions::Completions];

/// The dialect of that id, if this build has it.
pub fn dialect(id: DialectId) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.id() == id)
}
