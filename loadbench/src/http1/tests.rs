use super::*;

fn decode(body: &[u8], step: usize) -> Option<(Vec<u8>, usize)> {
    let mut scanner = BodyScanner::Chunked(ChunkState::Size(0));
    let mut out = Vec::new();
    let mut before = 0;
    for part in body.chunks(step) {
        if let Some(used) = scanner.feed(part, &mut |data| out.extend_from_slice(data)).unwrap() {
            return Some((out, before + used));
        }
        before += part.len();
    }
    None
}

#[test]
fn chunked_bodies_decode_the_same_however_they_are_cut() {
    let body = b"5;x=y\r\nhello\r\n10\r\n, chunked world!\r\n0\r\nx-t: 1\r\n\r\nNEXT";
    for step in 1..=body.len() {
        let (data, used) = decode(body, step).unwrap();
        assert_eq!(data, b"hello, chunked world!");
        assert_eq!(&body[used..], b"NEXT", "step {step}");
    }
}

#[test]
fn a_cut_chunked_body_is_not_over() {
    assert!(decode(b"5\r\nhello\r\n0\r\n\r", 4).is_none());
}

#[test]
fn bad_chunk_sizes_are_refused() {
    let mut scanner = BodyScanner::Chunked(ChunkState::Size(0));
    assert!(scanner.feed(b"zz\r\n", &mut |_| ()).is_err());
    let mut scanner = BodyScanner::Chunked(ChunkState::Size(0));
    assert!(scanner.feed(b"fffffffffffffffff\r\n", &mut |_| ()).is_err());
}

#[test]
fn heads_tell_their_framing() {
    let head = parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\nbody").unwrap();
    let head = head.unwrap();
    assert_eq!((head.framing, head.close), (Framing::Length(12), true));
    let head = parse_head(b"POST / HTTP/1.1\r\ntransfer-encoding:chunked\r\n\r\n").unwrap().unwrap();
    assert_eq!((head.framing, head.close), (Framing::Chunked, false));
    assert_eq!(parse_head(b"GET / HTTP/1.1\r\nhost: a\r\n"), Ok(None));
    assert!(parse_head(b"GET / HTTP/1.1\r\ncontent-length: -1\r\n\r\n").is_err());
}

#[test]
fn a_length_body_leaves_what_follows() {
    let mut scanner = BodyScanner::of_request(Framing::Length(4));
    let mut out = Vec::new();
    assert_eq!(scanner.feed(b"ab", &mut |data| out.extend_from_slice(data)), Ok(None));
    assert_eq!(scanner.feed(b"cdEF", &mut |data| out.extend_from_slice(data)), Ok(Some(2)));
    assert_eq!(out, b"abcd");
}
