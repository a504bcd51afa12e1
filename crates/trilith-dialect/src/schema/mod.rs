//! JSON Schemas of tools and answers (translation contract §5, §9): what a wire takes of them, and how the rest
//! is said otherwise. They stay as they are wherever the wire takes them.

mod expand;
mod hold;
mod lift;
mod root;
mod strict;
#[cfg(test)]
mod tests;
mod walk;

use std::fmt;

use trilith_core::{Error, Json};

pub(crate) use expand::expand;
pub(crate) use hold::openai;
pub(crate) use root::{is_wrapped, parameters, unwrap, wrap};
pub(crate) use strict::{is_recursive, qualifies, strict_format};
pub(crate) use walk::is_remark;

/// Why a schema has no form that a wire takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is no JSON object.
    NoSchema,
    /// A part of it contains itself, and there is no way to say so.
    Recursive(String),
    /// Written out in full it would be too large or too deep.
    TooLarge,
    /// A reference leads to nothing in the schema.
    Nowhere(String),
    /// An object whose members' names are not given.
    Open,
    /// A value of any kind.
    Anything,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSchema => f.write_str("it is not an object"),
            Self::Recursive(at) => write!(f, "'{at}' contains itself"),
            Self::TooLarge => f.write_str("it is too large once its references are written out"),
            Self::Nowhere(at) => write!(f, "its reference '{at}' leads to no part of it"),
            Self::Open => f.write_str("it has an object whose members have no given names"),
            Self::Anything => f.write_str("a part of it allows any value"),
        }
    }
}

impl Unfit {
    /// The refusal of a schema at that path.
    pub(crate) fn refuse(&self, path: &str, code: &'static str) -> Error {
        let text = format!("'{path}' is no schema that this model's upstream takes: {self}.");
        Error::bad_request(path, text).with_code(code)
    }
}

/// A name in an error text: short, whatever the caller wrote.
fn shown(name: &str) -> String {
    name.chars().take(64).collect()
}

/// A changed schema as text.
fn text(value: &serde_json::Value) -> Json {
    Json::from_checked(value.to_string())
}
