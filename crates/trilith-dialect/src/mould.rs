//! What the payloads of a stream have in common. A stream repeats one payload again and again, with another
//! text in it; one that fits the mould of an earlier payload needs no parser to be understood.

use std::{borrow::Cow, ops::Range};

use crate::scan::find_text;

/// What may stand at an open place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// A string whose meaning is wanted; there is one such place.
    Wanted,
    /// Any string.
    String,
    /// A whole number that is not negative.
    Number,
}

/// A payload with open places. JSON has no context: whatever string or number stands at an open place, a
/// payload that fits is well-formed, and its other values mean what they did.
#[derive(Debug, Default)]
pub(crate) struct Mould {
    /// The fixed pieces, one after another.
    fixed: String,
    /// Where the fixed piece before each open place ends.
    open: Vec<(usize, Open)>,
}

impl Mould {
    /// Takes the form of `payload`, which is well-formed JSON, with those of its values left open.
    pub(crate) fn set(&mut self, payload: &str, open: &mut [(Range<usize>, Open)]) {
        self.clear();
        open.sort_unstable_by_key(|(range, _)| range.start);
        let mut at = 0;
        for (range, kind) in open {
            let Some(piece) = payload.get(at..range.start) else { return self.clear() };
            self.fixed.push_str(piece);
            self.open.push((self.fixed.len(), *kind));
            at = range.end;
        }
        let Some(piece) = payload.get(at..) else { return self.clear() };
        self.fixed.push_str(piece);
    }

    fn clear(&mut self) {
        self.fixed.clear();
        self.open.clear();
    }

    /// The meaning of the wanted string, if `payload` fits. Whether it has one is left to others where half of
    /// a surrogate pair stands alone in it.
    pub(crate) fn fill<'p>(&self, payload: &'p str) -> Option<Cow<'p, str>> {
        let bytes = payload.as_bytes();
        let (mut at, mut from, mut wanted) = (0, 0, None);
        for (to, kind) in &self.open {
            let piece = self.fixed.as_bytes().get(from..*to)?;
            at += bytes.get(at..)?.strip_prefix(piece).map(|_| piece.len())?;
            from = *to;
            if *kind == Open::Number {
                at += digits(bytes.get(at..)?)?;
                continue;
            }
            if bytes.get(at) != Some(&b'"') {
                return None;
            }
            let found = find_text(payload, at)?;
            at = found.end;
            if *kind == Open::Wanted {
                wanted = Some(found);
            }
        }
        let rest = self.fixed.as_bytes().get(from..)?;
        if bytes.get(at..)? == rest { wanted?.meaning() } else { None }
    }
}

/// The length of the whole number that opens `bytes`.
fn digits(bytes: &[u8]) -> Option<usize> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let needless = length > 1 && bytes.first() == Some(&b'0');
    (length > 0 && !needless).then_some(length)
}

#[cfg(test)]
mod tests;
