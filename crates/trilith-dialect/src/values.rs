//! Values of the requests of Chat Completions and of Completions, checked against their ranges.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use trilith_core::{Error, StreamOptions};

use crate::{
    Peek,
    object::{invalid, object},
    scan::{Kind, Scan},
};

/// The most stop strings that a request may name.
pub(crate) const MAX_STOPS: usize = 4;

/// What the choice of road needs.
///
/// # Errors
/// 400 that names the field of the wrong type.
pub(crate) fn peek<'a>(scan: &Scan<'a>) -> Result<Peek<'a>, Error> {
    let typed = |name: &'static str, wanted: Kind, what: &'static str| match scan.kind(name) {
        None | Some(Kind::Null) => Ok(()),
        Some(kind) if kind == wanted => Ok(()),
        Some(_) => Err(invalid(name, format!("Invalid type for '{name}': expected {what}."))),
    };
    typed("model", Kind::String, "a string")?;
    typed("stream", Kind::Bool, "true or false")?;
    Ok(Peek { model: scan.string("model"), stream: scan.bool("stream").unwrap_or(false), stateful: false })
}

/// A number from `low` to `high`.
pub(crate) fn range(name: &str, value: Option<f64>, low: f64, high: f64) -> Result<Option<f64>, Error> {
    match value {
        Some(number) if !(low..=high).contains(&number) => Err(invalid(
            name,
            format!("Invalid value for '{name}': expected a number from {low} to {high}, got {number}."),
        )),
        value => Ok(value),
    }
}

/// A whole number from `low` to `high`.
pub(crate) fn count(name: &str, value: Option<u64>, low: u64, high: u64) -> Result<Option<u64>, Error> {
    match value {
        Some(number) if !(low..=high).contains(&number) => {
            let text = if high == u64::MAX {
                format!("Invalid value for '{name}': expected at least {low}, got {number}.")
            } else {
                format!(
                    "Invalid value for '{name}': expected a whole number from {low} to {high}, got {number}."
                )
            };
            Err(invalid(name, text))
        }
        value => Ok(value),
    }
}

/// Longest part of a caller's word that an error repeats, in characters.
const WORD_SHOWN: usize = 64;

/// The error about a word that is none of those known.
pub(crate) fn unknown_word(param: &str, word: &str, known: &[&str]) -> Error {
    let word: String = word.chars().take(WORD_SHOWN).collect();
    let known = known.join("', '");
    invalid(param, format!("Invalid value for '{param}': '{word}'. Supported values are: '{known}'."))
}

/// One stop string or several.
#[derive(Debug)]
pub(crate) struct Stop(pub(crate) Vec<Box<str>>);

impl<'de> Deserialize<'de> for Stop {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Stop;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Stop(vec![text.into()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                collect(seq).map(Stop)
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// The stop strings of a request; empty ones say nothing.
pub(crate) fn stops(stop: Option<Stop>) -> Result<Vec<Box<str>>, Error> {
    let stops = stop.map(|stop| stop.0).unwrap_or_default();
    if stops.len() > MAX_STOPS {
        let text = format!("Invalid 'stop': expected at most {MAX_STOPS} strings, got {}.", stops.len());
        return Err(invalid("stop", text));
    }
    Ok(stops.into_iter().filter(|stop| !stop.is_empty()).collect())
}

object! {
    /// How a stream is wanted.
    WireStreamOptions<'a> {
        include_usage: bool = "include_usage",
        include_obfuscation: bool = "include_obfuscation",
    }
}

/// How the answer is wanted.
pub(crate) fn stream_options(
    stream: Option<bool>,
    options: Option<&WireStreamOptions<'_>>,
) -> Result<StreamOptions, Error> {
    let stream = stream.unwrap_or(false);
    let Some(options) = options else { return Ok(StreamOptions { stream, ..StreamOptions::default() }) };
    if !stream {
        let text = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(invalid("stream_options", text));
    }
    Ok(StreamOptions {
        stream,
        include_usage: options.include_usage.unwrap_or(false),
        include_obfuscation: options.include_obfuscation,
    })
}

/// All values of an array.
pub(crate) fn collect<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<T>, A::Error> {
    let mut list = Vec::new();
    while let Some(value) = seq.next_element()? {
        list.push(value);
    }
    Ok(list)
}
