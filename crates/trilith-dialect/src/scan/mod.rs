//! One strict pass over a whole JSON request body (RFC 8259).
//!
//! The pass proves that the body is UTF-8 and well-formed and stays within limits, and it remembers where
//! the top-level members lie. Two readers of a body with a duplicate key may see two different requests, so
//! a key that occurs twice at the top level is an error, however it is escaped.

mod blocks;
mod error;
mod splice;
mod string;
#[cfg(test)]
mod tests;
mod walk;

use std::borrow::Cow;
use std::ops::Range;

pub use error::{Fault, ScanError};
pub use splice::{Spliced, splice, splice_string, write_string};

/// How a string begins that Trilith has sealed.
pub const ENVELOPE_PREFIX: &str = "tl1.";

/// What a body may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arrays and objects within each other; 128 unless told otherwise.
    pub depth: usize,
    /// Members of the top-level object; 1024 unless told otherwise.
    pub members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 128, members: 1024 }
    }
}

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind of a well-formed value that starts with `byte`.
    pub(crate) const fn of_first(byte: u8) -> Self {
        match byte {
            b'{' => Self::Object,
            b'[' => Self::Array,
            b'"' => Self::String,
            b't' | b'f' => Self::Bool,
            b'n' => Self::Null,
            _ => Self::Number,
        }
    }
}

/// One member of the top-level object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key with its escapes resolved; a lone surrogate becomes U+FFFD.
    pub key: Cow<'a, str>,
    /// Where the key lies in the body, quotes included.
    pub key_range: Range<usize>,
    /// Where the value lies in the body, without the white space around it.
    pub value_range: Range<usize>,
    /// The kind of the value.
    pub kind: Kind,
}

/// What the pass learned about a body.
#[derive(Clone, Debug)]
pub struct Scan<'a> {
    body: &'a str,
    root: Kind,
    members: Vec<Member<'a>>,
    /// A string value, at any depth, starts with [`ENVELOPE_PREFIX`].
    pub has_envelope: bool,
}

impl<'a> Scan<'a> {
    /// The body.
    #[must_use]
    pub const fn body(&self) -> &'a str {
        self.body
    }

    /// The kind of the whole body. Only an object has members.
    #[must_use]
    pub const fn root(&self) -> Kind {
        self.root
    }

    /// The top-level members in the order of the body.
    #[must_use]
    pub fn members(&self) -> &[Member<'a>] {
        &self.members
    }

    /// The member of that key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Member<'a>> {
        self.members.iter().find(|member| member.key == key)
    }

    /// The kind of the member's value; `None` when there is no such member.
    #[must_use]
    pub fn kind(&self, key: &str) -> Option<Kind> {
        Some(self.member(key)?.kind)
    }

    /// The bytes of the member's value as they stand in the body.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a [u8]> {
        self.raw(key).map(str::as_bytes)
    }

    /// The text of the member's value as it stands in the body.
    #[must_use]
    pub fn raw(&self, key: &str) -> Option<&'a str> {
        self.body.get(self.member(key)?.value_range.clone())
    }

    /// The member's string with its escapes resolved; `None` when it is absent or no string. A lone
    /// surrogate becomes U+FFFD.
    #[must_use]
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        decode_string(self.raw(key)?)
    }

    /// The member's truth value; `None` when it is absent or of another kind.
    #[must_use]
    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.raw(key)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The member's whole number; `None` when it is absent, of another kind, written with a fraction or an
    /// exponent, or outside of `i64`.
    #[must_use]
    pub fn int(&self, key: &str) -> Option<i64> {
        self.raw(key)?.parse().ok()
    }
}

/// The string that the well-formed JSON string `raw`, quotes included, stands for; `None` when `raw` is not
/// in quotes. A lone surrogate becomes U+FFFD.
#[must_use]
pub fn decode_string(raw: &str) -> Option<Cow<'_, str>> {
    raw.strip_prefix('"')?.strip_suffix('"').map(string::decode)
}

/// The place behind the string whose quote is at `at`, and whether it has escapes.
///
/// # Errors
/// The place of the first byte that cannot be part of it.
#[inline]
pub(crate) fn string_end(text: &[u8], at: usize) -> Result<(usize, bool), usize> {
    string::find_end(text, at + 1).map(|span| (span.end + 1, span.escaped)).map_err(|stop| stop.at)
}

/// A string within a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    inner: &'a str,
    escaped: bool,
    /// The place behind the closing quote.
    pub(crate) end: usize,
}

impl<'a> Text<'a> {
    /// What it stands for; `None` when half of a surrogate pair stands alone in it, or a replacement character
    /// that could be one.
    #[inline]
    pub(crate) fn meaning(&self) -> Option<Cow<'a, str>> {
        if !self.escaped {
            return Some(Cow::Borrowed(self.inner));
        }
        Some(string::decode(self.inner)).filter(|meaning| !meaning.contains(char::REPLACEMENT_CHARACTER))
    }
}

/// The string of `text` whose quote is at `at`; `None` when there is no well-formed one.
#[inline]
pub(crate) fn find_text(text: &str, at: usize) -> Option<Text<'_>> {
    let span = string::find_end(text.as_bytes(), at + 1).ok()?;
    Some(Text { inner: text.get(at + 1..span.end)?, escaped: span.escaped, end: span.end + 1 })
}

/// Scans `body`.
///
/// # Errors
/// [`ScanError`] at the first place where the body is not UTF-8, not well-formed or over a limit; else at
/// the first top-level key that was there before.
pub fn scan<'a>(body: &'a [u8], limits: &Limits) -> Result<Scan<'a>, ScanError> {
    let Ok(text) = simdutf8::basic::from_utf8(body) else {
        // The quick check says no more than that there is a fault; the exact one says where.
        let at = std::str::from_utf8(body).err().map_or(0, |error| error.valid_up_to());
        return Err(ScanError::locate(body, at, Fault::NotUtf8));
    };
    let found = walk::walk(text, limits).and_then(|found| {
        unique(&found.members)?;
        Ok(found)
    });
    match found {
        Ok(found) => Ok(Scan {
            body: text,
            root: found.root,
            members: found.members,
            has_envelope: found.has_envelope,
        }),
        Err(stop) => Err(ScanError::locate(body, stop.at, stop.fault)),
    }
}

/// Up to this many members, comparing each with each is quicker than sorting them.
const FEW_MEMBERS: usize = 32;

fn unique(members: &[Member<'_>]) -> Result<(), walk::Stop> {
    let again = if members.len() <= FEW_MEMBERS {
        members
            .iter()
            .enumerate()
            .find(|(at, member)| members.iter().take(*at).any(|earlier| earlier.key == member.key))
    } else {
        let mut sorted: Vec<(usize, &Member<'_>)> = members.iter().enumerate().collect();
        sorted.sort_by(|(_, a), (_, b)| a.key.cmp(&b.key));
        sorted
            .windows(2)
            .filter_map(|pair| match pair {
                [(_, a), second] if a.key == second.1.key => Some(*second),
                _ => None,
            })
            .min_by_key(|(at, _)| *at)
    };
    match again {
        None => Ok(()),
        Some((_, member)) => Err(walk::Stop {
            at: member.key_range.start,
            fault: Fault::DuplicateKey { key: error::shorten(&member.key) },
        }),
    }
}
