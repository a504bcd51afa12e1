//! Fields of one dialect that say how cheaply or in which form something is said, and not what: their absence is
//! no loss of meaning, or another field carries it.

use trilith_core::{DialectId, ExtraField, Loss};

/// Fields of Messages whose meaning the vocabulary carries by other means, or that only save cost.
const MESSAGES: [&str; 6] =
    ["cache_control", "caller", "declaration", "source", "thinking", "output_config.effort"];

/// The report of a field that the target has no place for.
pub(crate) fn unplaced(field: &ExtraField, path: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Loss {
    if field.dialect == DialectId::Messages && MESSAGES.contains(&&*field.name) {
        return Loss::hint(path, why);
    }
    Loss::warn(path, why)
}
