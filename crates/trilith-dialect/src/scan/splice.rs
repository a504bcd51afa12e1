//! Replaces one value of a body and leaves every other byte as it is.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::{
    Scan,
    string::{first_special, skip_plain},
};

/// A body in three pieces, of which the outer two share the memory of the body they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spliced {
    /// What stands before the value.
    pub head: Bytes,
    /// The new value.
    pub value: Bytes,
    /// What stands after the value.
    pub tail: Bytes,
}

impl Spliced {
    /// The length of the new body in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.head.len() + self.value.len() + self.tail.len()
    }

    /// Whether the new body is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pieces in order, for a writer that takes several.
    #[must_use]
    pub fn into_pieces(self) -> [Bytes; 3] {
        [self.head, self.value, self.tail]
    }

    /// The new body in one piece, copied.
    #[must_use]
    pub fn to_bytes(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.len());
        out.put_slice(&self.head);
        out.put_slice(&self.value);
        out.put_slice(&self.tail);
        out.freeze()
    }
}

/// `body` with `model_name` as the value of its top-level `model`. `None` when there is no such member, or
/// when `scan` is of other bytes than `body`.
#[must_use]
pub fn splice(body: &Bytes, scan: &Scan<'_>, model_name: &str) -> Option<Spliced> {
    if !std::ptr::eq(body.as_ref(), scan.body().as_bytes()) {
        return None;
    }
    splice_string(body, scan.member("model")?.value_range.clone(), model_name)
}

/// `body` with the JSON string of `text` in place of the bytes in `range`. `None` when `body` has no such
/// range. It is for a caller who kept the range of a member and not the scan.
#[must_use]
pub fn splice_string(body: &Bytes, range: Range<usize>, text: &str) -> Option<Spliced> {
    if range.start > range.end || range.end > body.len() {
        return None;
    }
    let mut value = Vec::with_capacity(text.len() + 2);
    write_string(&mut value, text);
    Some(Spliced { head: body.slice(..range.start), value: value.into(), tail: body.slice(range.end..) })
}

/// Appends `text` as a JSON string, quotes included, with no more escapes than RFC 8259 asks for.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let plain = skip_plain(bytes, 0);
    out.extend_from_slice(bytes.get(..plain).unwrap_or_default());
    if plain < bytes.len() {
        write_escaped(out, bytes, plain);
    }
    out.push(b'"');
}

/// Bytes that are put together before they are appended.
const PIECE: usize = 512;

/// The most bytes that one step of [`write_escaped`] puts.
const STEP: usize = 16 + 6;

/// Appends what is in `bytes` from `at` on, with escapes. Short runs between escapes are copied as whole
/// blocks of which the rest is written over.
fn write_escaped(out: &mut Vec<u8>, bytes: &[u8], mut at: usize) {
    let mut piece = [0; PIECE];
    let mut to = 0;
    while at < bytes.len() {
        if to > PIECE - STEP {
            out.extend_from_slice(piece.get(..to).unwrap_or_default());
            to = 0;
        }
        if let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<16>) {
            if let Some(room) = piece.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<16>) {
                *room = *block;
            }
            let plain = first_special(*block).unwrap_or(16);
            (at, to) = (at + plain, to + plain);
            if plain == 16 {
                continue;
            }
        }
        if let Some(byte) = bytes.get(at) {
            to += put_byte(&mut piece, to, *byte);
            at += 1;
        }
    }
    out.extend_from_slice(piece.get(..to).unwrap_or_default());
}

/// For each byte the letter of its escape, or 0 where it needs none.
static ESCAPES: [u8; 256] = {
    let mut letters = [0; 256];
    let mut code = 0;
    while code < 0x20 {
        letters[code] = b'u';
        code += 1;
    }
    letters[0x8] = b'b';
    letters[b'\t' as usize] = b't';
    letters[b'\n' as usize] = b'n';
    letters[0xC] = b'f';
    letters[b'\r' as usize] = b'r';
    letters[b'"' as usize] = b'"';
    letters[b'\\' as usize] = b'\\';
    letters
};

/// Puts a byte, escaped where it has to be; says how many bytes that takes.
#[inline]
fn put_byte(piece: &mut [u8; PIECE], to: usize, byte: u8) -> usize {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let Some(room) = piece.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<6>) else { return 0 };
    match ESCAPES.get(usize::from(byte)) {
        None | Some(0) => {
            room[0] = byte;
            1
        }
        Some(b'u') => {
            let digit = |at: u8| HEX.get(usize::from(at)).copied().unwrap_or(b'0');
            *room = [b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF)];
            6
        }
        Some(letter) => {
            [room[0], room[1]] = [b'\\', *letter];
            2
        }
    }
}
