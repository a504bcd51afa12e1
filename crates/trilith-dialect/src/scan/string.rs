//! Strings: finding their end and resolving their escapes.

use std::borrow::Cow;

use super::Fault;
use super::walk::{Stop, unexpected};

/// Where a string ends.
pub(super) struct Span {
    /// The place of the closing quote.
    pub(super) end: usize,
    /// The string holds an escape.
    pub(super) escaped: bool,
}

/// Finds the end of the string whose first byte after the quote is at `at`.
#[inline]
pub(super) fn find_end(body: &[u8], mut at: usize) -> Result<Span, Stop> {
    let mut escaped = false;
    loop {
        at = skip_plain(body, at);
        match body.get(at) {
            Some(b'"') => return Ok(Span { end: at, escaped }),
            Some(b'\\') => {
                escaped = true;
                at = escape_end(body, at + 1)?;
            }
            Some(code) => return Err(Stop { at, fault: Fault::ControlCharacter { code: *code } }),
            None => return Err(unexpected(body, at, "the end of a string")),
        }
    }
}

const fn every(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// Sets the high bit of the first byte in `word` that ends a plain run (quote, backslash or control
/// character); bits above that one may be wrong, as subtraction borrows only upwards.
#[inline]
const fn special(word: u64) -> u64 {
    let quote = word ^ every(b'"');
    let backslash = word ^ every(b'\\');
    let hits = (quote.wrapping_sub(every(1)) & !quote)
        | (backslash.wrapping_sub(every(1)) & !backslash)
        | (word.wrapping_sub(every(0x20)) & !word);
    hits & every(0x80)
}

/// Written so that the compiler makes vector instructions of it.
#[inline]
fn has_special(block: &[u8; 32]) -> bool {
    block.iter().fold(false, |found, byte| found | (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20))
}

/// The place of the first quote, backslash or control character at or after `at`.
#[inline]
fn skip_plain(body: &[u8], mut at: usize) -> usize {
    // Most strings are short: two words come first, before blocks pay.
    for _ in 0..2 {
        let Some(word) = body.get(at..).and_then(<[u8]>::first_chunk::<8>) else { break };
        let hits = special(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(block) = body.get(at..).and_then(<[u8]>::first_chunk::<32>)
        && !has_special(block)
    {
        at += 32;
    }
    while let Some(word) = body.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        let hits = special(u64::from_le_bytes(*word));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while body.get(at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
        at += 1;
    }
    at
}

/// The place after the escape whose backslash stands before `at`.
#[inline]
fn escape_end(body: &[u8], at: usize) -> Result<usize, Stop> {
    match body.get(at) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 1),
        Some(b'u') => {
            for digit in at + 1..at + 5 {
                if !body.get(digit).is_some_and(u8::is_ascii_hexdigit) {
                    return Err(unexpected(body, digit, "a hexadecimal digit of a \\u escape"));
                }
            }
            Ok(at + 5)
        }
        _ => Err(unexpected(body, at, "one of \" \\ / b f n r t u after a backslash")),
    }
}

/// What the inside of a well-formed string stands for.
pub(super) fn decode(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, tail)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = tail.chars();
        let resolved = match chars.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let (resolved, after) = decode_unicode(chars.as_str());
                out.push(resolved);
                rest = after;
                continue;
            }
            Some(itself) => itself,
            None => char::REPLACEMENT_CHARACTER,
        };
        out.push(resolved);
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character whose four digits open `digits`, joined with a second half that follows, and the rest.
fn decode_unicode(digits: &str) -> (char, &str) {
    let Some((first, rest)) = code_unit(digits) else { return (char::REPLACEMENT_CHARACTER, "") };
    if let Some(single) = char::from_u32(first) {
        return (single, rest);
    }
    if first < 0xDC00
        && let Some((second @ 0xDC00..0xE000, after)) = rest.strip_prefix("\\u").and_then(code_unit)
        && let Some(joined) = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    {
        return (joined, after);
    }
    (char::REPLACEMENT_CHARACTER, rest)
}

fn code_unit(digits: &str) -> Option<(u32, &str)> {
    let (four, rest) = digits.split_at_checked(4)?;
    Some((u32::from_str_radix(four, 16).ok()?, rest))
}
