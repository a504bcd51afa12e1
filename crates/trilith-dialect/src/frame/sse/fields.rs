//! Reads the fields of one block.

use memchr::{memchr, memchr2};

/// What a block says, as raw bytes.
pub(super) struct Fields<'a> {
    pub(super) event: Option<&'a [u8]>,
    pub(super) data: &'a [u8],
}

/// The fields of `block`, or nothing when it has no `data` line: such a block is no event. `joined` is
/// scratch for a payload of several lines. Empty lines are skipped: they are what a cut CRLF or a byte
/// order mark leaves behind.
pub(super) fn read<'a>(block: &'a [u8], joined: &'a mut Vec<u8>) -> Option<Fields<'a>> {
    let mut event = None;
    let mut single: Option<&'a [u8]> = None;
    let mut several = false;
    let mut rest = block;
    while !rest.is_empty() {
        let line = take_line(&mut rest);
        let (name, value) = split_field(line);
        match name {
            b"data" => match single {
                None => single = Some(value),
                Some(first) => {
                    if !several {
                        several = true;
                        joined.clear();
                        joined.extend_from_slice(first);
                    }
                    joined.push(b'\n');
                    joined.extend_from_slice(value);
                }
            },
            b"event" => event = Some(value).filter(|value| !value.is_empty()),
            _ => {}
        }
    }
    let single = single?;
    Some(Fields { event, data: if several { joined.as_slice() } else { single } })
}

/// Cuts the first line off `rest`; LF or CR ends it. The LF of a CRLF is left as an empty line.
fn take_line<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let (line, tail) = rest.split_at(end);
    *rest = tail.get(1..).unwrap_or_default();
    line
}

/// Name and value of a line; one space after the colon belongs to neither.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(colon) = memchr(b':', line) else { return (line, b"") };
    let (name, tail) = line.split_at(colon);
    let value = tail.get(1..).unwrap_or_default();
    (name, value.strip_prefix(b" ").unwrap_or(value))
}
