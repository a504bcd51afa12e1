//! What can be wrong with a body, and where.

use std::fmt;

use memchr::{memchr_iter, memrchr};

/// Longest part of a caller's key that an error repeats, in characters.
const KEY_SHOWN: usize = 64;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The body ends where more had to come.
    UnexpectedEnd {
        /// What had to come.
        expected: &'static str,
    },
    /// Something else than what had to come.
    Unexpected {
        /// The character found.
        found: char,
        /// What had to come.
        expected: &'static str,
    },
    /// A control character (below U+0020) inside a string, where it must be escaped.
    ControlCharacter {
        /// The character's code.
        code: u8,
    },
    /// A number starts with a needless zero.
    LeadingZero,
    /// Arrays and objects are nested too deeply.
    TooDeep {
        /// The greatest depth allowed.
        limit: usize,
    },
    /// The top-level object has too many members.
    TooManyMembers {
        /// The greatest number allowed.
        limit: usize,
    },
    /// A top-level key occurs twice.
    DuplicateKey {
        /// The key, its escapes resolved, cut after 64 characters.
        key: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("invalid UTF-8"),
            Self::UnexpectedEnd { expected } => write!(f, "expected {expected}, found the end of the body"),
            Self::Unexpected { found, expected } => write!(f, "expected {expected}, found {found:?}"),
            Self::ControlCharacter { code } => {
                write!(f, "control character U+{code:04X} in a string, which must be escaped")
            }
            Self::LeadingZero => f.write_str("a number must not start with a needless zero"),
            Self::TooDeep { limit } => write!(f, "arrays and objects nested deeper than {limit} levels"),
            Self::TooManyMembers { limit } => write!(f, "more than {limit} members in the top-level object"),
            Self::DuplicateKey { key } => write!(f, "duplicate key {key:?}"),
        }
    }
}

/// A fault and its place in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// What is wrong.
    pub fault: Fault,
    /// The byte, counted from 0.
    pub offset: usize,
    /// The line, counted from 1; LF ends a line.
    pub line: usize,
    /// The character within the line, counted from 1.
    pub column: usize,
}

impl ScanError {
    pub(super) fn locate(body: &[u8], offset: usize, fault: Fault) -> Self {
        let before = body.get(..offset).unwrap_or(body);
        let line = memchr_iter(b'\n', before).count() + 1;
        let line_start = memrchr(b'\n', before).map_or(0, |at| at + 1);
        let in_line = before.get(line_start..).unwrap_or_default();
        // Bytes of the form 10xxxxxx continue a character.
        let column = in_line.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
        Self { fault, offset, line, column }
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, offset, line, column } = self;
        write!(f, "{fault} at line {line}, column {column} (byte {offset})")
    }
}

impl std::error::Error for ScanError {}

pub(super) fn shorten(key: &str) -> String {
    key.chars().take(KEY_SHOWN).collect()
}
