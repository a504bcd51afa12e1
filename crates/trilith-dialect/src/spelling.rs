//! Names of fields in the words of the other OpenAI-shaped dialect. An encoder and an upstream speak of fields
//! in the words of their own wire; a client must read of the fields it wrote (translation contract §17).
//!
//! A path that is spelled right already stays as it is, so that no one needs to know who wrote it.

use std::borrow::Cow;

/// Gives a path a client's spelling.
pub(crate) type Respell = for<'p> fn(&'p str) -> Cow<'p, str>;

/// Fields of Chat Completions and of Responses that mean the same and have different names.
const NAMES: [(&str, &str); 5] = [
    ("messages", "input"),
    ("max_completion_tokens", "max_output_tokens"),
    ("response_format", "text.format"),
    ("verbosity", "text.verbosity"),
    ("reasoning_effort", "reasoning.effort"),
];

/// The members of a schema's description, which Chat Completions puts one level deeper.
const SCHEMA: [&str; 4] = ["name", "description", "schema", "strict"];

/// What follows the field in the path, if the path is of that field.
fn below<'p>(path: &'p str, field: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(field)?;
    (rest.is_empty() || rest.starts_with(['.', '['])).then_some(rest)
}

/// The path as a client of Chat Completions knows it.
pub(crate) fn chat(path: &str) -> Cow<'_, str> {
    if below(path, "instructions").is_some() {
        return Cow::Borrowed("messages");
    }
    let Some((name, rest)) = NAMES.iter().find_map(|(chat, other)| Some((*chat, below(path, other)?))) else {
        return match tool_path(path) {
            Some((at, rest)) if SCHEMA.contains(&first_word(rest)) || first_word(rest) == "parameters" => {
                Cow::Owned(format!("{at}.function{rest}"))
            }
            _ => Cow::Borrowed(path),
        };
    };
    match name {
        // A message becomes several items, so only the first item is sure to stand where its message does.
        "messages" => match rest.strip_prefix("[0]") {
            Some(inner) if inner.is_empty() || below(inner, ".content").is_some() => {
                Cow::Owned(format!("messages[0]{inner}"))
            }
            _ => Cow::Borrowed(name),
        },
        "response_format" if SCHEMA.contains(&first_word(rest)) => {
            Cow::Owned(format!("{name}.json_schema{rest}"))
        }
        name => Cow::Owned(format!("{name}{rest}")),
    }
}

/// The path as a client of Responses knows it.
pub(crate) fn responses(path: &str) -> Cow<'_, str> {
    if below(path, "max_tokens").is_some() {
        return Cow::Borrowed("max_output_tokens");
    }
    let Some((name, rest)) = NAMES.iter().find_map(|(chat, own)| Some((*own, below(path, chat)?))) else {
        return match tool_path(path).and_then(|(at, rest)| Some((at, below(rest, ".function")?))) {
            Some((at, rest)) => Cow::Owned(format!("{at}{rest}")),
            None => Cow::Borrowed(path),
        };
    };
    match name {
        "input" => Cow::Borrowed(name),
        "text.format" => Cow::Owned(format!("{name}{}", rest.strip_prefix(".json_schema").unwrap_or(rest))),
        name => Cow::Owned(format!("{name}{rest}")),
    }
}

/// The path as a client of Completions knows it.
pub(crate) fn completions(path: &str) -> Cow<'_, str> {
    const NAMES: [(&str, &str); 8] = [
        ("input", "prompt"),
        ("messages", "prompt"),
        ("instructions", "prompt"),
        ("max_output_tokens", "max_tokens"),
        ("max_completion_tokens", "max_tokens"),
        ("top_logprobs", "logprobs"),
        ("include", "logprobs"),
        ("stop_sequences", "stop"),
    ];
    // A prompt becomes a message, and has no places inside.
    let own = NAMES.iter().find_map(|(other, own)| below(path, other).map(|_| *own));
    Cow::Borrowed(own.unwrap_or(path))
}

/// A tool's place in the list, and the rest of the path.
fn tool_path(path: &str) -> Option<(&str, &str)> {
    below(path, "tools").filter(|rest| rest.starts_with('['))?;
    path.split_at_checked(path.find(']')? + 1)
}

/// The first member name of the rest of a path.
fn first_word(rest: &str) -> &str {
    rest.strip_prefix('.').and_then(|rest| rest.split(['.', '[']).next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{chat, completions, responses};

    #[test]
    fn each_dialect_reads_of_its_own_fields() {
        for (path, for_chat, for_responses) in [
            ("input", "messages", "input"),
            ("input[0].content[1]", "messages[0].content[1]", "input[0].content[1]"),
            ("input[0].output[1]", "messages", "input[0].output[1]"),
            ("input[3].content[1]", "messages", "input[3].content[1]"),
            ("inputs", "inputs", "inputs"),
            ("instructions[2]", "messages", "instructions[2]"),
            ("messages[3].content", "messages[3].content", "input"),
            ("max_output_tokens", "max_completion_tokens", "max_output_tokens"),
            ("max_tokens", "max_tokens", "max_output_tokens"),
            ("max_completion_tokens", "max_completion_tokens", "max_output_tokens"),
            ("text.format", "response_format", "text.format"),
            ("text.format.schema.a", "response_format.json_schema.schema.a", "text.format.schema.a"),
            (
                "response_format.json_schema.schema",
                "response_format.json_schema.schema",
                "text.format.schema",
            ),
            ("text.verbosity", "verbosity", "text.verbosity"),
            ("reasoning_effort", "reasoning_effort", "reasoning.effort"),
            ("reasoning.effort", "reasoning_effort", "reasoning.effort"),
            ("tools[3]", "tools[3]", "tools[3]"),
            ("tools[3].parameters.x", "tools[3].function.parameters.x", "tools[3].parameters.x"),
            ("tools[3].function.parameters", "tools[3].function.parameters", "tools[3].parameters"),
            ("temperature", "temperature", "temperature"),
            ("", "", ""),
        ] {
            assert_eq!((&*chat(path), &*responses(path)), (for_chat, for_responses), "{path}");
            assert_eq!(chat(&chat(path)), chat(path));
            assert_eq!(responses(&responses(path)), responses(path));
        }
    }

    #[test]
    fn a_completions_client_reads_of_its_prompt() {
        for (path, shown) in [
            ("input[0].content[1]", "prompt"),
            ("messages[0].content", "prompt"),
            ("instructions", "prompt"),
            ("inputs", "inputs"),
            ("max_output_tokens", "max_tokens"),
            ("max_completion_tokens", "max_tokens"),
            ("top_logprobs", "logprobs"),
            ("stop_sequences[4]", "stop"),
            ("prompt[3]", "prompt[3]"),
            ("temperature", "temperature"),
            ("", ""),
        ] {
            assert_eq!(completions(path), shown);
        }
    }
}
