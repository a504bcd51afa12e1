//! The response decoder on bytes alone: any cut, hostile sizes, ambiguous framing.

use proptest::prelude::*;

use super::CHUNKED;
use crate::error::Fault;
use crate::fuzzing::{Decoded, decode, fuzz_http_response};

const MAX_HEAD: usize = 4096;

fn whole(wire: &[u8]) -> Decoded {
    decode(std::iter::once(wire), MAX_HEAD, false)
}

fn chunked(body: &[u8]) -> Decoded {
    whole(&[CHUNKED, body].concat())
}

/// A decoder of the plainest kind: the payload of complete, correct chunked bytes.
fn reference(mut body: &[u8]) -> Vec<u8> {
    let mut payload = Vec::new();
    loop {
        let line_end = body.windows(2).position(|two| two == b"\r\n").unwrap();
        let line = std::str::from_utf8(&body[..line_end]).unwrap();
        let size = usize::from_str_radix(line.split(';').next().unwrap().trim(), 16).unwrap();
        body = &body[line_end + 2..];
        if size == 0 {
            return payload;
        }
        payload.extend_from_slice(&body[..size]);
        assert_eq!(&body[size..size + 2], b"\r\n");
        body = &body[size + 2..];
    }
}

fn encode(chunks: &[(Vec<u8>, u8)], trailer: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (data, form) in chunks {
        let size = match form % 4 {
            0 => format!("{:x}", data.len()),
            1 => format!("{:X};name=\"a value\"", data.len()),
            2 => format!("{:08x} ", data.len()),
            _ => format!("{:x}\t; x", data.len()),
        };
        out.extend_from_slice(size.as_bytes());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(data);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"0\r\n");
    if trailer {
        out.extend_from_slice(b"x-checksum: abc\r\nx-empty:\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out
}

fn cut<'a>(wire: &'a [u8], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = wire;
    let mut lengths = lengths.iter().cycle();
    std::iter::from_fn(move || {
        let (piece, after) = rest.split_at((*lengths.next()?).min(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_cut_of_chunked_bytes_gives_the_payload(
        chunks in prop::collection::vec((prop::collection::vec(any::<u8>(), 1..300), any::<u8>()), 0..12),
        trailer in any::<bool>(),
        leftover in any::<bool>(),
        lengths in prop::collection::vec(1_usize..200, 1..8),
    ) {
        let body = encode(&chunks, trailer);
        let expected = reference(&body);
        prop_assert_eq!(&expected, &chunks.iter().flat_map(|(data, _)| data.clone()).collect::<Vec<_>>());
        let mut wire = [CHUNKED, &body].concat();
        if leftover {
            wire.extend_from_slice(b"HTTP/1.1 200 OK\r\n\r\n");
        }
        let at_once = whole(&wire);
        prop_assert!(at_once.over && at_once.fault.is_none());
        prop_assert_eq!(at_once.leftover, leftover);
        prop_assert_eq!(&at_once.payload, &expected);
        prop_assert_eq!(decode(cut(&wire, &lengths), MAX_HEAD, false), at_once);
    }

    #[test]
    fn damaged_responses_are_read_the_same_by_every_cut(
        control in any::<u8>(),
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"\r\n 0fZ:;,\0\xff".to_vec()),
    ) {
        let body = encode(&[(b"hello".to_vec(), 0), (b"world".to_vec(), 1)], true);
        let mut wire = [[control].as_slice(), CHUNKED, &body].concat();
        let at = at.index(wire.len() - 1) + 1;
        wire[at] = byte;
        fuzz_http_response(&wire);
    }
}

#[test]
fn hostile_chunk_framing_is_refused() {
    for body in [
        "\r\n",
        ";x\r\n",
        " 5\r\nhello\r\n",
        "-5\r\nhello\r\n",
        "+5\r\nhello\r\n",
        "0x5\r\nhello\r\n",
        "5\nhello\r\n",
        "5\r\r\nhello\r\n",
        "5 5\r\nhello\r\n",
        "5;a\nb\r\nhello\r\n",
        "5;a\0\r\nhello\r\n",
        "10000000000000000\r\n",
        "00000000000000005\r\nhello\r\n",
        "5\r\nhello\n",
        "5\r\nhello!\r\n",
        "0\r\n folded: x\r\n\r\n",
        "0\r\nno colon\r\n\r\n",
        "0\r\nname : x\r\n\r\n",
        "0\r\nx: a\nb\r\n\r\n",
        "0\r\n\n",
    ] {
        let decoded = chunked(body.as_bytes());
        assert!(matches!(decoded.fault, Some(Fault::Malformed(_))), "{body:?}: {decoded:?}");
        assert!(!decoded.over);
    }
}

#[test]
fn chunks_of_any_size_are_counted_and_not_reserved() {
    let decoded = chunked(b"ffffffffffffffff\r\nhello");
    assert_eq!((decoded.payload.as_slice(), decoded.over, decoded.fault), (b"hello".as_slice(), false, None));
}

#[test]
fn extensions_and_trailers_have_caps() {
    let trailers = |number: usize, line: &str| ["0\r\n", &line.repeat(number), "\r\n"].concat();
    assert!(chunked(trailers(100, "x: y\r\n").as_bytes()).over);
    for body in [
        trailers(101, "x: y\r\n"),
        trailers(1, &format!("x: {}\r\n", "y".repeat(MAX_HEAD))),
        format!("1;{}\r\nx\r\n", "e".repeat(17 << 10)),
        "1;extension\r\nx\r\n".repeat(2000),
    ] {
        assert_eq!(chunked(body.as_bytes()).fault, Some(Fault::ChunksTooLarge));
    }
}

#[test]
fn ambiguous_heads_are_refused() {
    for lines in [
        "content-length: 5\r\ntransfer-encoding: chunked\r\n",
        "content-length: 5\r\ncontent-length: 6\r\n",
        "content-length: 5, 6\r\n",
        "content-length: +5\r\n",
        "content-length: 0x5\r\n",
        "content-length:\r\n",
        "content-length: 5,\r\n",
        "content-length: 18446744073709551616\r\n",
        "transfer-encoding: gzip, chunked\r\n",
        "transfer-encoding: chunked, chunked\r\n",
        "transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: xchunked\r\n",
        "transfer-encoding: identity\r\n",
        "x: a\r\n folded\r\n",
        "x : a\r\n",
        ": a\r\n",
        "x: a\0b\r\n",
        "x: a\rb\r\n",
        "x\x01: a\r\n",
    ] {
        let decoded = whole(format!("HTTP/1.1 200 OK\r\n{lines}\r\n").as_bytes());
        assert!(matches!(decoded.fault, Some(Fault::Malformed(_))), "{lines:?}: {decoded:?}");
    }
    let decoded = whole(b"HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n");
    assert!(matches!(decoded.fault, Some(Fault::Malformed(_))));
}

#[test]
fn heads_say_where_the_body_ends_and_whether_the_connection_stays() {
    for (wire, payload, over, keep) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\ncontent-length: 5\r\n\r\nhello", "hello", true, true),
        ("HTTP/1.1 200\r\nTransfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "x", true, true),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", false, true),
        ("HTTP/1.0 200 OK\r\ncontent-length: 1\r\n\r\nx", "x", true, false),
        ("HTTP/1.1 200 OK\r\nconnection: x, Close\r\ncontent-length: 1\r\n\r\nx", "x", true, false),
        ("HTTP/1.1 204 No Content\r\n\r\n", "", true, true),
        ("HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", "", true, true),
        ("\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx", "x", true, true),
    ] {
        let decoded = whole(wire.as_bytes());
        assert_eq!((decoded.fault, decoded.over), (None, over), "{wire:?}");
        assert_eq!(decoded.payload, payload.as_bytes(), "{wire:?}");
        assert_eq!(decoded.head.unwrap().2, keep, "{wire:?}");
    }
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n".as_slice();
    assert!(decode(std::iter::once(head), MAX_HEAD, true).over);
}

#[test]
fn heads_have_caps_together() {
    let interim = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".repeat(200);
    assert_eq!(whole(&interim).fault, Some(Fault::HeadTooLarge));
    let one = [b"HTTP/1.1 200 OK\r\nx: ".as_slice(), &[b'y'; MAX_HEAD]].concat();
    assert_eq!(whole(&one).fault, Some(Fault::HeadTooLarge));
    assert_eq!(decode(one.chunks(7), MAX_HEAD, false).fault, Some(Fault::HeadTooLarge));
    assert_eq!(whole(&b"\r\n".repeat(MAX_HEAD)).fault, Some(Fault::HeadTooLarge));
    let lines = |number| ["HTTP/1.1 204 x\r\n", &"x: y\r\n".repeat(number), "\r\n"].concat();
    assert!(whole(lines(100).as_bytes()).over);
    assert_eq!(whole(lines(101).as_bytes()).fault, Some(Fault::HeadTooLarge));
}
