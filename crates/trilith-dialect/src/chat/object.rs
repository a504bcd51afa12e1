//! JSON objects of this dialect.

use trilith_core::{DialectId, Extra};

pub(super) use crate::object::{Rest, invalid, json, missing, object, parse};

/// Keeps members for this dialect; `null` says nothing and is left out.
pub(super) fn keep(extra: &mut Extra, prefix: &str, rest: Rest<'_>) {
    crate::object::keep(DialectId::Chat, extra, prefix, rest);
}
