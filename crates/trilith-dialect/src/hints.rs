//! Fields of one dialect that say how cheaply or in which form something is said, and not what: their absence is
//! no loss of meaning, or another field carries it.

use serde_json::{Value, json};
use trilith_core::{DialectId, Error, Extra, ExtraField, Loss, Settings};

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

/// Reports the fields of `extra` that `own` (called `name`) has no place for, each name once.
pub(crate) fn report_foreign(
    own: DialectId,
    name: &str,
    at: &str,
    extra: &Extra,
    settings: &Settings,
    losses: &mut Vec<Loss>,
) {
    for field in extra.foreign_to(own) {
        let path = if at.is_empty() { field.name.to_string() } else { format!("{at}.{}", field.name) };
        let dot = format!(".{}", field.name);
        let why = format!("a {} field that {name} has no place for", field.dialect.name());
        let loss =
            if repeats(field, settings) { Loss::hint(&*path, why) } else { unplaced(field, &*path, why) };
        let same = |told: &Loss| {
            told.disposition == loss.disposition && (told.path.ends_with(&dot) || *told.path == *path)
        };
        if !losses.iter().any(same) {
            losses.push(loss);
        }
    }
}

/// Fields of Responses without which the answer would mean something else, and what they ask for.
const MEANINGFUL: [(&str, &str); 4] = [
    ("prompt", "a stored prompt"),
    ("context_management", "compaction on the way"),
    ("background_options", "work in the background"),
    ("generate", "no answer at all"),
];

/// Refuses what only Responses can ask for and what changes the meaning of an answer.
///
/// # Errors
/// The request asks for such a thing; the error names the field.
pub(crate) fn refuse_responses_only(settings: &Settings) -> Result<(), Error> {
    let asked = |(name, _): &&(&str, &str)| settings.extra.get(DialectId::Responses, name).is_some();
    let Some((name, what)) = MEANINGFUL.iter().find(asked) else { return Ok(()) };
    let text = format!(
        "'{name}' asks for {what}, which the upstream of the model '{}' cannot do. Leave it out or choose a model \
         whose provider speaks Responses.",
        settings.model
    );
    Err(Error::bad_request(*name, text).with_code("unsupported_parameter"))
}
