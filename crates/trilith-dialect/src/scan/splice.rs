//! Replaces one value of a body and leaves every other byte as it is.

use std::ops::Range;

use bytes::{BufMut, Bytes, BytesMut};

use super::{Scan, string::skip_plain};

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
    let mut plain = 0;
    loop {
        let at = skip_plain(bytes, plain);
        out.extend_from_slice(bytes.get(plain..at).unwrap_or_default());
        let Some(byte) = bytes.get(at) else { break };
        write_escape(out, *byte);
        plain = at + 1;
    }
    out.push(b'"');
}

/// Appends the escape of a quote, a backslash or a control character.
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x8 => b'b',
        0xC => b'f',
        _ => {
            let digit = |at: u8| HEX.get(usize::from(at)).copied().unwrap_or(b'0');
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 0xF)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
