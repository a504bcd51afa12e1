//! From a TOML value to a typed one, as the catalogue's kind of it asks.

pub(super) mod check;
mod scale;

use toml::de::DeValue;

use super::catalogue::Kind;
use super::problem::Complaint;
use super::suggest::nearest;

pub(super) use scale::Scale;

/// A value that passed its kind's check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Flag(bool),
    /// A count, bytes or milliseconds.
    Number(u64),
    List(Vec<String>),
    Map(Vec<(String, String)>),
}

/// What a kind is called in a message.
pub(super) fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Text(what, _) => format!("text ({what})"),
        Kind::Choice(words, _) => {
            words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
        }
        Kind::Flag => "true or false".to_owned(),
        Kind::Count(low, high) => format!("a whole number from {low} to {high}"),
        Kind::Size(low, high) => {
            format!(
                "a size from {} to {}, such as \"32MiB\"",
                Scale::Size.show(*low),
                Scale::Size.show(*high)
            )
        }
        Kind::Duration(low, high) => format!(
            "a duration from {} to {}, such as \"10s\"",
            Scale::Duration.show(*low),
            Scale::Duration.show(*high)
        ),
        Kind::List(what, _) => format!("a list of texts ({what})"),
        Kind::Map(what, ..) => format!("a table of texts ({what})"),
    }
}

/// Reads a TOML value that is not text; lists and tables are the caller's, who knows the place of each entry.
pub(super) fn plain(kind: &Kind, value: &DeValue<'_>) -> Result<Value, Complaint> {
    let number = match value {
        DeValue::Integer(integer) => {
            u64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()).ok()
        }
        _ => None,
    };
    match (kind, value, number) {
        (Kind::Flag, DeValue::Boolean(flag), _) => Ok(Value::Flag(*flag)),
        (Kind::Count(low, high), _, Some(number)) | (Kind::Size(low, high), _, Some(number)) => {
            within(kind, number, *low, *high)
        }
        (Kind::Duration(low, high), _, Some(seconds)) => {
            within(kind, seconds.saturating_mul(1000), *low, *high)
        }
        (Kind::Count(..) | Kind::Size(..) | Kind::Duration(..), DeValue::Integer(_), None) => {
            Err(out_of_range(kind))
        }
        _ => Err(wrong_type(kind, value)),
    }
}

/// Reads a text. `from_environment` text may also stand for a number or a flag, and is never shown.
pub(super) fn text(kind: &Kind, text: &str, from_environment: bool) -> Result<Value, Complaint> {
    match kind {
        Kind::Text(_, check) => check(text).map(|()| Value::Text(text.to_owned())),
        Kind::Choice(words, later) => choice(text, words, later, from_environment),
        Kind::Size(low, high) => scaled(kind, Scale::Size, text, *low, *high),
        Kind::Duration(low, high) => scaled(kind, Scale::Duration, text, *low, *high),
        Kind::Flag if from_environment => match text {
            "true" => Ok(Value::Flag(true)),
            "false" => Ok(Value::Flag(false)),
            _ => Err(out_of_range(kind)),
        },
        Kind::Count(low, high) if from_environment => match text.trim().parse() {
            Ok(number) => within(kind, number, *low, *high),
            Err(_) => Err(out_of_range(kind)),
        },
        Kind::Count(..) if text.parse::<u64>().is_ok() => {
            Err(Complaint::new(format!("must be {}", expected(kind)), "leave the quotes out"))
        }
        Kind::Flag if matches!(text, "true" | "false") => {
            Err(Complaint::new(format!("must be {}", expected(kind)), "leave the quotes out"))
        }
        Kind::Flag | Kind::Count(..) | Kind::List(..) | Kind::Map(..) => Err(mismatch(kind, "text")),
    }
}

/// The complaint about a value of another type.
pub(super) fn wrong_type(kind: &Kind, value: &DeValue<'_>) -> Complaint {
    let found = match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fractional number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    mismatch(kind, found)
}

fn mismatch(kind: &Kind, found: &str) -> Complaint {
    let help = match kind {
        Kind::Text(..) | Kind::Choice(..) => "put the value in double quotes",
        Kind::List(..) => "write the texts in brackets: [\"…\", \"…\"]",
        _ => "",
    };
    Complaint::new(format!("must be {}, not {found}", expected(kind)), help)
}

fn out_of_range(kind: &Kind) -> Complaint {
    Complaint::new(format!("must be {}", expected(kind)), "")
}

fn within(kind: &Kind, number: u64, low: u64, high: u64) -> Result<Value, Complaint> {
    if (low..=high).contains(&number) { Ok(Value::Number(number)) } else { Err(out_of_range(kind)) }
}

fn scaled(kind: &Kind, scale: Scale, text: &str, low: u64, high: u64) -> Result<Value, Complaint> {
    match scale.parse(text) {
        Some(number) => within(kind, number, low, high),
        None => Err(Complaint::new(format!("must be {}", expected(kind)), scale.units())),
    }
}

fn choice(text: &str, words: &[&str], later: &[&str], hidden: bool) -> Result<Value, Complaint> {
    if words.contains(&text) {
        return Ok(Value::Text(text.to_owned()));
    }
    let known = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    if later.contains(&text) {
        return Err(Complaint::new(
            format!("\"{text}\" is not in this version"),
            format!("this version has {known}"),
        ));
    }
    let help = match nearest(text, words.iter().copied()) {
        Some(word) => format!("did you mean \"{word}\"? known are {known}"),
        None => format!("known are {known}"),
    };
    let what =
        if hidden { "the variable's value".to_owned() } else { format!("\"{}\"", text.escape_debug()) };
    Err(Complaint::new(format!("{what} is not known here"), help))
}
