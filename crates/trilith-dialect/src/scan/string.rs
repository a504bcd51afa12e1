//! Strings: finding their end and resolving their escapes.

use std::borrow::Cow;

use wide::u8x16;

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

/// The place in `block` of the first byte that ends a plain run. Files and arguments inside of JSON have an
/// escape every dozen bytes, so that finding the place matters as much as passing over long runs.
#[inline]
fn first_special(block: [u8; 16]) -> Option<usize> {
    let block = u8x16::new(block);
    let control = block.min(u8x16::splat(0x1F)).simd_eq(block);
    let hits = block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\')) | control;
    let hits = hits.to_bitmask();
    (hits != 0).then(|| hits.trailing_zeros() as usize)
}

/// The place of the first quote, backslash or control character at or after `at`.
#[inline]
pub(super) fn skip_plain(body: &[u8], mut at: usize) -> usize {
    while let Some(block) = body.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        if let Some(found) = first_special(*block) {
            return at + found;
        }
        at += 16;
    }
    if let Some(word) = body.get(at..).and_then(<[u8]>::first_chunk::<8>) {
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
    let bytes = inner.as_bytes();
    let Some(mut at) = memchr::memchr(b'\\', bytes) else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    let mut plain = 0;
    while at < bytes.len() {
        out.push_str(inner.get(plain..at).unwrap_or_default());
        plain = at + 2;
        match bytes.get(at + 1) {
            Some(b'b') => out.push('\u{8}'),
            Some(b'f') => out.push('\u{c}'),
            Some(b'n') => out.push('\n'),
            Some(b'r') => out.push('\r'),
            Some(b't') => out.push('\t'),
            Some(b'u') => {
                let (resolved, after) = decode_unicode(inner.get(at + 2..).unwrap_or_default());
                out.push(resolved);
                plain = inner.len() - after.len();
            }
            // Stands for itself: it opens the next plain run.
            Some(_) => plain = at + 1,
            None => out.push(char::REPLACEMENT_CHARACTER),
        }
        at = next_backslash(bytes, plain.max(at + 2));
    }
    out.push_str(inner.get(plain..).unwrap_or_default());
    Cow::Owned(out)
}

/// The place of the first backslash at or after `at`, or the end.
fn next_backslash(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = skip_plain(bytes, at);
        if bytes.get(at).is_none_or(|byte| *byte == b'\\') {
            return at;
        }
        at += 1;
    }
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
