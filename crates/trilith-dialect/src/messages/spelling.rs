//! Names of fields in this wire's words. Encoders and the other dialects speak of fields in the words of
//! Responses; a client must read of the fields it wrote (translation contract §17). Paths are dotted here.
//!
//! A path that is spelled right already stays as it is, so that no one needs to know who wrote it.

use std::borrow::Cow;

/// What other dialects call a field, and what this one does. Longer names stand before those they begin with.
const NAMES: [(&str, &str); 12] = [
    ("instructions", "system"),
    ("max_output_tokens", "max_tokens"),
    ("max_completion_tokens", "max_tokens"),
    ("text.format", "output_config.format"),
    ("response_format", "output_config.format"),
    ("reasoning.effort", "output_config.effort"),
    ("reasoning_effort", "output_config.effort"),
    ("reasoning.summary", "thinking.display"),
    ("stop", "stop_sequences"),
    ("safety_identifier", "metadata.user_id"),
    ("user", "metadata.user_id"),
    ("parallel_tool_calls", "tool_choice.disable_parallel_tool_use"),
];

/// What follows the field in the path, if the path is of that field.
fn below<'p>(path: &'p str, field: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(field)?;
    (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
}

/// Places as this wire writes them: `[2]` is `.2`.
fn dotted(path: &str) -> Cow<'_, str> {
    if path.contains('[') {
        return Cow::Owned(path.replace('[', ".").replace(']', ""));
    }
    Cow::Borrowed(path)
}

/// The path as a client of Messages knows it.
pub(super) fn respell(path: &str) -> Cow<'_, str> {
    if let Some(rest) = below(path, "input") {
        // A message becomes several items, so only the first item is sure to stand where its message does.
        return match rest.strip_prefix("[0]") {
            Some(inner) if inner.is_empty() || below(inner, ".content").is_some() => {
                Cow::Owned(format!("messages.0{}", dotted(inner)))
            }
            _ => Cow::Borrowed("messages"),
        };
    }
    if let Some((name, rest)) = NAMES.iter().find_map(|(other, own)| Some((*own, below(path, other)?))) {
        // What is an object elsewhere is one value here, and the other way round.
        let flat = name.ends_with("user_id") || name == "thinking.display" || name == "system";
        return match rest.strip_prefix(".json_schema").unwrap_or(rest) {
            "" => Cow::Borrowed(name),
            _ if flat => Cow::Borrowed(name),
            rest => Cow::Owned(format!("{name}{}", dotted(rest))),
        };
    }
    if let Some(rest) = below(path, "tools").filter(|rest| rest.starts_with(['.', '['])) {
        let rest = dotted(rest).replace(".function.", ".");
        let (place, inner) = rest.trim_start_matches('.').split_once('.').unwrap_or((&rest, ""));
        return match below(inner, "parameters") {
            Some(inner) => Cow::Owned(format!("tools.{place}.input_schema{inner}")),
            None => Cow::Owned(format!("tools{rest}")),
        };
    }
    dotted(path)
}
