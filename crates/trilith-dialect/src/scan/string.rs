//! Strings: finding their end and resolving their escapes.

use std::borrow::Cow;

use wide::u8x16;

use super::Fault;
use super::blocks::{self, Scanned};
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
pub(super) fn find_end(body: &[u8], at: usize) -> Result<Span, Stop> {
    let end = skip_plain(body, at);
    match body.get(end) {
        Some(b'"') => Ok(Span { end, escaped: false }),
        _ => find_escaped_end(body, end),
    }
}

/// The same for a string whose first escape, or first fault, is at `at`.
fn find_escaped_end(body: &[u8], at: usize) -> Result<Span, Stop> {
    let (at, open) = match blocks::string_end(body, at) {
        Scanned::Ended(end) => return Ok(Span { end, escaped: true }),
        Scanned::Reached { at, open } => (at, open),
        // Read again step by step, which tells where the fault is.
        Scanned::Doubtful => (at, false),
    };
    let mut at = if open { escape_end(body, at)? } else { at };
    loop {
        at = skip_plain(body, at);
        match body.get(at) {
            Some(b'"') => return Ok(Span { end: at, escaped: true }),
            Some(b'\\') => at = escape_end(body, at + 1)?,
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
pub(super) fn first_special(block: [u8; 16]) -> Option<usize> {
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

/// Spare room behind what a decoded string takes at most, for copies of whole blocks.
const SPARE: usize = 16;

/// Up to this length the standard check of UTF-8 is as quick as any.
const SHORT: usize = 64;

/// What the inside of a well-formed string stands for.
pub(super) fn decode(inner: &str) -> Cow<'_, str> {
    let bytes = inner.as_bytes();
    let Some(first) = memchr::memchr(b'\\', bytes) else { return Cow::Borrowed(inner) };
    // No escape is shorter than what it stands for.
    let mut out = vec![0; bytes.len() + SPARE];
    let mut to = first;
    if let (Some(room), Some(plain)) = (out.get_mut(..first), bytes.get(..first)) {
        room.copy_from_slice(plain);
    }
    let mut at = first;
    while at < bytes.len() {
        match bytes.get(at + 1) {
            Some(b'u') => {
                let (resolved, after) = decode_unicode(inner.get(at + 2..).unwrap_or_default());
                to += put_char(&mut out, to, resolved);
                at = inner.len() - after.len();
            }
            Some(byte) => {
                put(&mut out, to, unescape(*byte));
                (at, to) = (at + 2, to + 1);
            }
            None => {
                to += put_char(&mut out, to, char::REPLACEMENT_CHARACTER);
                at = bytes.len();
            }
        }
        (at, to) = copy_plain(bytes, at, &mut out, to);
    }
    out.truncate(to);
    Cow::Owned(text_of(out))
}

/// The byte that a one-letter escape stands for.
#[inline]
const fn unescape(letter: u8) -> u8 {
    match letter {
        b'b' => 0x8,
        b'f' => 0xC,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        itself => itself,
    }
}

#[inline]
fn put(out: &mut [u8], to: usize, byte: u8) {
    if let Some(room) = out.get_mut(to) {
        *room = byte;
    }
}

/// Puts a character; says how many bytes it takes.
fn put_char(out: &mut [u8], to: usize, character: char) -> usize {
    let mut bytes = [0; 4];
    let text = character.encode_utf8(&mut bytes).as_bytes();
    if let Some(room) = out.get_mut(to..to + text.len()) {
        room.copy_from_slice(text);
    }
    text.len()
}

/// Copies up to the next backslash or the end. Gives the places there.
#[inline]
fn copy_plain(bytes: &[u8], mut at: usize, out: &mut [u8], mut to: usize) -> (usize, usize) {
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
        if let Some(room) = out.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<16>) {
            *room = *block;
        }
        let hits = u8x16::new(*block).simd_eq(u8x16::splat(b'\\')).to_bitmask();
        if hits != 0 {
            let plain = hits.trailing_zeros() as usize;
            return (at + plain, to + plain);
        }
        (at, to) = (at + 16, to + 16);
    }
    while let Some(byte) = bytes.get(at).filter(|byte| **byte != b'\\') {
        put(out, to, *byte);
        (at, to) = (at + 1, to + 1);
    }
    (at, to)
}

/// The text of bytes that are UTF-8, since they were put together from pieces of a text.
fn text_of(bytes: Vec<u8>) -> String {
    if bytes.len() > SHORT
        && let Ok(text) = simdutf8::basic::from_utf8(&bytes)
    {
        return text.to_owned();
    }
    String::from_utf8(bytes).unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into_owned())
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
