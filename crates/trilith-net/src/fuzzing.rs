//! The entry functions of the fuzz targets. The fuzzer and the test that replays the corpora both call
//! them, so they lie here and not with the targets. They panic when a property fails.

use bytes::BytesMut;
use http::{HeaderMap, StatusCode};

use crate::answer::HeadReader;
use crate::error::Fault;
use crate::framing::Framing;

/// An entry function: it takes any bytes.
pub type Target = fn(&[u8]);

/// Every target by the name of its file and of its folder in `fuzz/corpus`.
pub const TARGETS: &[(&str, Target)] = &[("http_response", fuzz_http_response)];

/// What the decoder makes of the bytes of one connection.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Decoded {
    pub(crate) head: Option<(StatusCode, HeaderMap, bool)>,
    pub(crate) payload: Vec<u8>,
    /// The body is over; with `leftover`, bytes came after it.
    pub(crate) over: bool,
    pub(crate) leftover: bool,
    pub(crate) fault: Option<Fault>,
}

/// Decodes a response whose bytes come in these pieces.
pub(crate) fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>, max_head: usize, bodiless: bool) -> Decoded {
    let mut reader = HeadReader::new(max_head, bodiless);
    let mut framing: Option<Framing> = None;
    let mut bytes = BytesMut::new();
    let mut out = Decoded::default();
    for piece in pieces {
        if out.over {
            out.leftover |= !piece.is_empty();
            continue;
        }
        bytes.extend_from_slice(piece);
        if framing.is_none() {
            match reader.take(&mut bytes) {
                Ok(Some(answer)) => {
                    out.head = Some((answer.status, answer.headers, answer.keep));
                    framing = Some(answer.framing);
                }
                Ok(None) => {}
                Err(fault) => {
                    out.fault = Some(fault);
                    return out;
                }
            }
        }
        let Some(framing) = &mut framing else {
            continue;
        };
        let mut have = 0;
        let decoded = framing.decode(&mut bytes, &mut have);
        assert_eq!(bytes.len(), have);
        out.payload.extend_from_slice(&bytes);
        bytes.clear();
        match decoded {
            Ok(leftover) => out.leftover |= leftover,
            Err(fault) => {
                out.fault = Some(fault);
                return out;
            }
        }
        out.over = framing.is_over();
    }
    out
}

/// Responses: the cut of the bytes changes nothing, and no payload comes from nowhere. The first byte
/// says how the rest is cut, and by its highest bit whether the request was a `HEAD`.
pub fn fuzz_http_response(input: &[u8]) {
    const MAX_HEAD: usize = 4096;
    let Some((control, wire)) = input.split_first() else { return };
    let bodiless = control & 0x80 != 0;
    let whole = decode(std::iter::once(wire), MAX_HEAD, bodiless);
    let cut = decode(wire.chunks(usize::from(control & 0x7f) + 1), MAX_HEAD, bodiless);
    assert!(whole.payload.len() <= wire.len());
    assert!(!bodiless || whole.payload.is_empty());
    // A head can be malformed and too large; which is noticed first depends on the cut.
    assert_eq!(whole.fault.is_some(), cut.fault.is_some());
    if whole.fault.is_none() || whole.head.is_some() {
        assert_eq!(whole, cut);
    }
}
