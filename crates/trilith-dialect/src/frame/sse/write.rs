//! Writes events.

use bytes::BufMut;
use memchr::memchr2;

/// Appends one whole event with its blank line; `\n` is the only line break written.
///
/// Line breaks in `data` (LF, CR, CRLF) make it several `data` lines, which readers join with `\n`. An
/// event name ends at its first line break, because the format cannot carry one.
pub fn write_event(out: &mut impl BufMut, event: Option<&str>, data: &[u8]) {
    if let Some(name) = event {
        put_line(out, b"event: ", lines(name.as_bytes()).next().unwrap_or_default());
    }
    for line in lines(data) {
        put_line(out, b"data: ", line);
    }
    out.put_u8(b'\n');
}

/// Appends a comment with a blank line, which readers skip: a sign of life between events.
pub fn write_comment(out: &mut impl BufMut, text: &str) {
    for line in lines(text.as_bytes()) {
        put_line(out, b": ", line);
    }
    out.put_u8(b'\n');
}

fn put_line(out: &mut impl BufMut, name: &[u8], value: &[u8]) {
    out.put_slice(name);
    out.put_slice(value);
    out.put_u8(b'\n');
}

/// The lines of `text`, at least one.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let Some(end) = memchr2(b'\n', b'\r', current) else {
            rest = None;
            return Some(current);
        };
        let (line, tail) = current.split_at(end);
        let tail = tail.strip_prefix(b"\r\n").or(tail.get(1..));
        rest = tail;
        Some(line)
    })
}
