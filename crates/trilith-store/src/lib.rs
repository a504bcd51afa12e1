//! Where responses and items live: SQLite on disk or in memory, the canonical encoding, sealing.
//!
//! Items are kept in Trilith's own encoding ([`encode_item`]), never in the bytes of a dialect, and never
//! copied from turn to turn: a chain of responses is a log with branches (see `sqlite/migrations`).

#[cfg(test)]
mod arbitrary;
mod codec;
#[doc(hidden)]
pub mod fuzzing;
mod seal;
mod sqlite;

pub use codec::{Corrupt, decode_item, encode_item};
pub use seal::{EnvelopeSealer, SealError};
pub use sqlite::{Expired, OpenError, Sqlite, Sync};
