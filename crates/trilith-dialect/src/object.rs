//! JSON objects read in one pass: named members into typed fields, all others kept as they came.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, de::Visitor};
use trilith_core::{DialectId, Error, Extra, Json};

use crate::typed;

/// A member that is not named in a type: its key and its value untouched.
pub(crate) type Rest<'a> = Vec<(Box<str>, &'a serde_json::value::RawValue)>;

/// Declares a type for a JSON object. `null` is the same as absent. The values are read straight from the
/// input, so that raw values and error paths work at any depth (they do not inside of serde's own flattened
/// and untagged types).
macro_rules! object {
    ($(#[$meta:meta])* $name:ident<$lt:lifetime> { $($field:ident: $ty:ty = $key:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name<$lt> {
            $(pub(crate) $field: Option<$ty>,)*
            pub(crate) rest: $crate::object::Rest<$lt>,
        }

        impl<$lt> $name<$lt> {
            pub(crate) fn read<A: serde::de::MapAccess<$lt>>(mut map: A) -> Result<Self, A::Error> {
                let mut found = Self::default();
                while let Some(key) = map.next_key::<$crate::object::Key<'_>>()? {
                    match key.as_str() {
                        $($key => found.$field = map.next_value()?,)*
                        other => {
                            let other = other.into();
                            found.rest.push((other, map.next_value()?));
                        }
                    }
                }
                Ok(found)
            }
        }

        impl<$lt> serde::Deserialize<$lt> for $name<$lt> {
            fn deserialize<D: serde::Deserializer<$lt>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;
                impl<$lt> serde::de::Visitor<$lt> for Members {
                    type Value = $name<$lt>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<$lt>>(self, map: A) -> Result<Self::Value, A::Error> {
                        $name::read(map)
                    }
                }
                deserializer.deserialize_map(Members)
            }
        }
    };
}
pub(crate) use object;

/// A key, borrowed where it has no escapes.
pub(crate) struct Key<'a>(Cow<'a, str>);

impl Key<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Longest part of a parser's complaint that an error repeats, in characters.
const COMPLAINT_SHOWN: usize = 200;

/// Reads a client's JSON.
///
/// # Errors
/// 400 that names the field and what was expected there.
pub(crate) fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Error> {
    typed::from_slice(body).map_err(|plain| {
        // The quick pass knows the place but not the field; only a wrong request pays for the second one.
        let mut again = serde_json::Deserializer::from_slice(body);
        let Err(error) = serde_path_to_error::deserialize::<_, T>(&mut again) else {
            return unreadable(&plain);
        };
        if is_malformed(error.inner()) {
            return unreadable(error.inner());
        }
        let path = error.path().to_string();
        let (code, what, complaint) = complaint(error.inner());
        if path == "." {
            return Error { param: None, ..invalid("", format!("Invalid request body: {complaint}.")) };
        }
        Error::bad_request(path.as_str(), format!("Invalid {what} for '{path}': {complaint}."))
            .with_code(code)
    })
}

/// Whether the text is no JSON. A number that no machine holds (`1e999`) is, but the parser says otherwise.
fn is_malformed(error: &serde_json::Error) -> bool {
    (error.is_syntax() || error.is_eof()) && !error.to_string().starts_with("number out of range")
}

fn unreadable(error: &serde_json::Error) -> Error {
    let text = format!("The request body is not valid JSON: {error}.");
    Error { param: None, ..Error::bad_request("", text) }
}

/// The code, what of the field is wrong, and why, in the words of JSON and not of the parser's types.
fn complaint(error: &serde_json::Error) -> (&'static str, &'static str, String) {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(head, _)| head);
    let shown = |text: &str| text.chars().take(COMPLAINT_SHOWN).collect::<String>();
    let parts = |kind: &str| text.strip_prefix(kind)?.rsplit_once(", expected ");
    if let Some((found, wanted)) = parts("invalid type: ") {
        let text = format!("expected {}, but got {} instead", expected(wanted), found_kind(found));
        return ("invalid_type", "type", shown(&text));
    }
    if let Some((found, wanted)) = parts("invalid value: ") {
        let found = found.split('`').nth(1).unwrap_or(found);
        return ("invalid_value", "value", shown(&format!("expected {}, but got {found}", expected(wanted))));
    }
    if text == "number out of range" {
        return ("invalid_value", "value", "the number is too large".to_owned());
    }
    ("invalid_value", "value", shown(text))
}

fn expected(wanted: &str) -> &str {
    match wanted {
        "f64" => "a number",
        "i64" => "an integer",
        "u64" => "an integer of at least 0",
        "a borrowed string" | "string" => "a string",
        "a sequence" => "an array",
        "a map" => "an object",
        wanted => wanted,
    }
}

/// The kind of value that the parser met, from its own words (`string "hot"`).
fn found_kind(found: &str) -> &'static str {
    match found.split([' ', '`', '"']).next().unwrap_or_default() {
        "string" | "character" => "a string",
        "integer" => "an integer",
        "floating" => "a number",
        "boolean" => "a boolean",
        "map" => "an object",
        "sequence" => "an array",
        "null" | "unit" => "null",
        _ => "something else",
    }
}

pub(crate) fn invalid(param: &str, text: impl Into<Cow<'static, str>>) -> Error {
    Error::bad_request(param, text).with_code("invalid_value")
}

pub(crate) fn missing(param: &str) -> Error {
    Error::bad_request(param, format!("Missing required parameter: '{param}'."))
        .with_code("missing_required_parameter")
}

pub(crate) fn json(raw: &serde_json::value::RawValue) -> Json {
    Json::from_checked(raw.get())
}

/// Keeps members for `own`, the dialect they came from; `null` says nothing and is left out.
pub(crate) fn keep(own: DialectId, extra: &mut Extra, prefix: &str, rest: Rest<'_>) {
    for (name, value) in rest {
        if value.get() != "null" {
            extra.push(own, format!("{prefix}{name}"), json(value));
        }
    }
}
