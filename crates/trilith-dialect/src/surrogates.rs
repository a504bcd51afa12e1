//! Halves of surrogate pairs in requests.

use trilith_core::{Error, ErrorKind, ErrorOrigin};

/// Refuses a body with half of a surrogate pair, wherever it is: also in what is passed on unread, where it
/// would be the upstream's parser that fails.
///
/// # Errors
/// There is one; the error says where.
pub(crate) fn check(body: &[u8]) -> Result<(), Error> {
    let Some(at) = lone_surrogate(body) else { return Ok(()) };
    let why = format!("The body is not valid JSON: half of a surrogate pair stands alone (byte {at}).");
    Err(Error::new(ErrorKind::BadRequest, ErrorOrigin::Caller, why))
}

/// The place of a surrogate that is half of nothing, if an escape of the text makes one (RFC 8259 §8.2): no
/// string can hold it, and replacing it would change what the caller said.
fn lone_surrogate(body: &[u8]) -> Option<usize> {
    // Most texts escape nothing by number.
    memchr::memmem::find(body, b"\\u")?;
    let unit = |at: usize| -> Option<u16> {
        let digits = body.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = body.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += found;
        at += match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => return Some(at),
            Some(_) => 6,
            None => 2,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::lone_surrogate;

    #[test]
    fn whole_pairs_and_escaped_backslashes_are_fine() {
        for (text, place) in [
            (r"\ud83d\ude00", None),
            (r"\\ud800", None),
            (r"\u0041\n\\\\", None),
            (r"ab\ud800", Some(2)),
            (r"\uDC00", Some(0)),
            (r"\\\ud800\u0041", Some(2)),
            (r"\ud83d\ude00\ud83d", Some(12)),
            (r"\ud8", None),
        ] {
            assert_eq!(lone_surrogate(text.as_bytes()), place, "{text}");
        }
    }
}
