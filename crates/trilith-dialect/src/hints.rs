//! Fields of one dialect that say how cheaply or in which form something is said, and not what: their absence is
//! no loss of meaning, or another field carries it.

use serde_json::{Value, json};
use trilith_core::{DialectId, ExtraField, Loss, Settings};

use crate::deferred::REFERENCE;

/// Fields of Messages whose meaning the vocabulary carries by other means, or that only save cost.
const MESSAGES: [&str; 7] =
    ["cache_control", "caller", "declaration", "source", "thinking", "output_config.effort", REFERENCE];

/// Keeping every thought, which is what happens to them here anyway.
const KEEPS_ALL: &str = "clear_thinking_";

/// The report of a field that the target has no place for.
pub(crate) fn unplaced(field: &ExtraField, path: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Loss {
    if field.dialect == DialectId::Messages && (MESSAGES.contains(&&*field.name) || edits_nothing(field)) {
        return Loss::hint(path, why);
    }
    Loss::warn(path, why)
}

/// Whether the field asks for edits of the context that take nothing away.
fn edits_nothing(field: &ExtraField) -> bool {
    if &*field.name != "context_management" {
        return false;
    }
    let Ok(value) = serde_json::from_str::<Value>(field.value.as_str()) else { return false };
    let Some(object) = value.as_object() else { return false };
    let keeps = |edit: &Value| {
        edit["type"].as_str().is_some_and(|kind| kind.starts_with(KEEPS_ALL)) && edit["keep"] == "all"
    };
    object
        .iter()
        .all(|(name, value)| name == "edits" && value.as_array().is_some_and(|edits| edits.iter().all(keeps)))
}

/// Whether a message's field says what the whole request says already: an effort of its own that is the request's.
pub(crate) fn repeats(field: &ExtraField, settings: &Settings) -> bool {
    let Some(effort) = settings.reasoning.effort else { return false };
    field.dialect == DialectId::Messages
        && &*field.name == "output_config"
        && serde_json::from_str::<Value>(field.value.as_str())
            .is_ok_and(|value| value == json!({ "effort": effort.name() }))
}
