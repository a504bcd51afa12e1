//! What JSON Schema once was and is no more: `required` as a flag on a property itself (draft 3, and many
//! servers' tools to this day).

use serde_json::Value;

use super::walk::{Below, below};

/// Whether the text may have such a flag.
pub(super) fn may_have_flags(text: &str) -> bool {
    const WORD: &str = "\"required\"";
    memchr::memmem::find_iter(text.as_bytes(), WORD).any(|at| {
        let rest = text.get(at + WORD.len()..).unwrap_or_default().trim_start();
        rest.strip_prefix(':').is_some_and(|rest| rest.trim_start().starts_with(['t', 'f']))
    })
}

/// Moves flags to the list of the object around them. Says whether there were any.
pub(super) fn lift_flags(schema: &mut Value) -> bool {
    let Some(members) = schema.as_object_mut() else { return false };
    // What a flag said was taken from here by the object around, if there is one.
    let mut found = members.get("required").is_some_and(Value::is_boolean);
    if found {
        members.shift_remove("required");
    }
    let wanted: Vec<Value> = members
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter(|(_, property)| property.get("required") == Some(&Value::Bool(true)))
        .map(|(name, _)| Value::String(name.clone()))
        .collect();
    if !wanted.is_empty() {
        let list = members.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        if let Some(list) = list.as_array_mut() {
            for name in wanted {
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
    }
    for (word, value) in members.iter_mut() {
        match (below(word), value) {
            (Some(Below::Named), Value::Object(named)) => {
                for schema in named.values_mut() {
                    found |= lift_flags(schema);
                }
            }
            (Some(Below::Schemas), Value::Array(list)) => {
                for schema in list {
                    found |= lift_flags(schema);
                }
            }
            (Some(Below::Schemas), schema) => found |= lift_flags(schema),
            _ => {}
        }
    }
    found
}
