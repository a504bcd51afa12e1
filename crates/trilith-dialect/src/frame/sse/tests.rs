use proptest::prelude::*;

use super::*;

type Owned = (Option<String>, String);

/// All events of `chunks`, and how the stream ended.
fn split(chunks: &[&[u8]], limit: usize) -> (Vec<Owned>, Result<End, FrameError>) {
    let mut splitter = Splitter::new(limit);
    let mut frames = Vec::new();
    let mut keep = |frame: Frame<'_>| frames.push((frame.event.map(str::to_owned), frame.data.to_owned()));
    for chunk in chunks {
        if let Err(error) = splitter.push(chunk, &mut keep) {
            assert_eq!(splitter.push(b"data: later\n\n", &mut keep), Err(error));
            return (frames, Err(error));
        }
    }
    let end = splitter.finish(&mut keep);
    (frames, end)
}

fn whole(bytes: &[u8]) -> Vec<Owned> {
    split(&[bytes], DEFAULT_EVENT_LIMIT).0
}

fn data(texts: &[&str]) -> Vec<Owned> {
    texts.iter().map(|text| (None, (*text).to_owned())).collect()
}

/// The specification's algorithm, line by line over the whole text; a last block needs no blank line.
fn reference(text: &str) -> Vec<Owned> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut frames = Vec::new();
    let (mut event, mut payload) = (String::new(), None::<String>);
    let mut dispatch = |event: &mut String, payload: &mut Option<String>| {
        let name = std::mem::take(event);
        if let Some(mut data) = payload.take() {
            data.pop();
            frames.push(((!name.is_empty()).then_some(name), data));
        }
    };
    for line in text.split_inclusive('\n') {
        let Some(line) = line.strip_suffix('\n') else { continue };
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            _ if line.is_empty() => dispatch(&mut event, &mut payload),
            "event" => value.clone_into(&mut event),
            "data" => {
                let data = payload.get_or_insert_default();
                data.push_str(value);
                data.push('\n');
            }
            _ => {}
        }
    }
    dispatch(&mut event, &mut payload);
    frames
}

#[test]
fn every_line_break_ends_a_line() {
    for stream in ["data: a\n\ndata: b\n\n", "data: a\r\rdata: b\r\r", "data: a\r\n\r\ndata: b\r\n\r\n"] {
        assert_eq!(whole(stream.as_bytes()), data(&["a", "b"]));
    }
    assert_eq!(whole(b"data: a\r\n\ndata: b\n\r\ndata: c\r\n\r"), data(&["a", "b", "c"]));
}

#[test]
fn an_event_is_delivered_with_the_byte_that_completes_it() {
    let mut splitter = Splitter::default();
    let mut seen = 0;
    splitter.push(b"data: a\r\n\r", |_| seen += 1).unwrap();
    assert_eq!(seen, 1);
    splitter.push(b"\ndata: b\r", |_| seen += 1).unwrap();
    splitter.push(b"", |_| seen += 1).unwrap();
    splitter.push(b"\n", |_| seen += 1).unwrap();
    assert_eq!(seen, 1, "the LF of a cut CRLF is no blank line");
    splitter.push(b"\n", |_| seen += 1).unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn fields_follow_the_specification() {
    assert_eq!(whole(b"data:a\n\ndata:  b\n\ndata\n\ndata:\n\n"), data(&["a", " b", "", ""]));
    assert_eq!(whole(b"data: a\ndata:\ndata: b: c\n\n"), data(&["a\n\nb: c"]));
    assert_eq!(whole(b": hello\n\n:\nid: 7\nretry: 9\ndata: a\nDATA: b\n data: c\n\n"), data(&["a"]));
    assert_eq!(whole(b"event: ping\n\ndata: a\n\n"), data(&["a"]), "a name without data names nothing");
    let named = vec![(Some("z".to_owned()), "a".to_owned())];
    assert_eq!(whole(b"event: x\ndata: a\nevent: z\n\n"), named);
    assert_eq!(whole(b"event: x\nevent:\ndata: a\n\n"), data(&["a"]));
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(whole("\u{feff}data: a\n\n".as_bytes()), data(&["a"]));
    assert_eq!(whole("\u{feff}\n\ndata: a\n\n".as_bytes()), data(&["a"]));
    assert_eq!(whole("\n\u{feff}data: a\n\n".as_bytes()), data(&[]));
    assert_eq!(split(&[b"\xEF", b"\xBB", b"\xBFdata: a\n\n"], 99).0, data(&["a"]));
}

#[test]
fn the_end_of_the_stream_stands_for_the_last_blank_line() {
    assert_eq!(split(&[b"data: a\n\ndata: b\n"], 99), (data(&["a", "b"]), Ok(End::Clean)));
    assert_eq!(split(&[b"data: a\n\n"], 99), (data(&["a"]), Ok(End::Clean)));
    assert_eq!(split(&[b"data: a\n\ndata: {\"cut\":"], 99), (data(&["a"]), Ok(End::Cut)));
    assert_eq!(split(&[b"event: x\n"], 99), (data(&[]), Ok(End::Clean)));
    assert_eq!(split(&[], 99), (data(&[]), Ok(End::Clean)));
}

#[test]
fn an_event_over_the_cap_ends_the_stream() {
    let error = Err(FrameError::TooLong { limit: 9 });
    assert_eq!(split(&[b"data: 123\n\n"], 10), (data(&["123"]), Ok(End::Clean)));
    assert_eq!(split(&[b"data: 1\n\ndata: 123\n\n"], 9), (data(&["1"]), error));
    assert_eq!(split(&[b"data: 1\n\ndata", b": 12345", b"6789"], 9), (data(&["1"]), error));
    let comments = [b":\n".as_slice(); 64];
    assert_eq!(split(&comments, 9), (data(&[]), error), "comments count too");
}

#[test]
fn invalid_utf8_ends_the_stream() {
    let error = Err(FrameError::InvalidUtf8);
    assert_eq!(split(&[b"data: a\n\ndata: \xFF\n\ndata: b\n\n"], 99), (data(&["a"]), error));
    assert_eq!(split(&[b"event: \xC3\ndata: a\n\n"], 99), (data(&[]), error));
    assert_eq!(split(&[b"data: \xC3", b"\xA9\n\n"], 99), (data(&["é"]), Ok(End::Clean)));
}

#[test]
fn an_event_within_a_chunk_is_not_copied() {
    let chunk = b"event: x\ndata: abc\n\ndata: def\n\n";
    let range = chunk.as_ptr_range();
    let check = |frame: Frame<'_>| assert!(range.contains(&frame.data.as_ptr()));
    Splitter::default().push(chunk, check).unwrap();
}

#[test]
fn written_events_have_one_shape() {
    let mut out = Vec::new();
    write_event(&mut out, Some("x"), b"{}");
    write_event(&mut out, None, b"a\r\nb\rc\n");
    write_event(&mut out, Some("x\ndata: y"), b"");
    write_comment(&mut out, "ping\npong");
    let expected =
        "event: x\ndata: {}\n\ndata: a\ndata: b\ndata: c\ndata: \n\nevent: x\ndata: \n\n: ping\n: pong\n\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_boundary_reports_whole_events() {
    let mut boundary = Boundary::default();
    let mut seen = Vec::new();
    let mut sniff = |data: &[u8]| seen.push(data.to_vec());
    assert_eq!(boundary.push(b"data: a", &mut sniff), Ok(0));
    assert_eq!(boundary.push(b"b\r\n\r\n: ping\n\ndata: c\n", &mut sniff), Ok(13));
    assert_eq!(boundary.push(b"\r", &mut sniff), Ok(1));
    assert_eq!(boundary.push(b"\n", &mut sniff), Ok(1));
    assert_eq!(boundary.push(b"data: \xFF\n", &mut sniff), Ok(0));
    assert_eq!(boundary.finish(&mut sniff), Ok(End::Clean));
    assert_eq!(seen, [b"ab".as_slice(), b"c", b"\xFF"]);
}

/// Streams made of what streams are made of.
fn stream() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "data: ",
        "data: ",
        "data: ",
        "data:",
        "data",
        "event: x",
        "event:",
        ": c",
        "id: 1",
        "retry: 5",
        "\n",
        "\n",
        "\n",
        "\n",
        "\n",
        "\r",
        "\r",
        "\r",
        "\r\n",
        "\r\n",
        "\r\n",
        "\u{feff}",
        "{\"a\":1}",
        " ",
        ":",
        "é😀",
        "[DONE]",
    ]);
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

fn cut<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut chunks = Vec::new();
    for size in sizes {
        let (head, tail) = rest.split_at((*size).min(rest.len()));
        chunks.push(head);
        rest = tail;
    }
    chunks.push(rest);
    chunks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn agrees_with_the_reference(text in stream()) {
        prop_assert_eq!(whole(text.as_bytes()), reference(&text));
    }

    #[test]
    fn any_cut_gives_the_same(
        text in stream(),
        noise in proptest::option::of((any::<u8>(), any::<prop::sample::Index>())),
        sizes in proptest::collection::vec(0usize..9, 0..60),
        limit in prop_oneof![Just(999usize), 0usize..40],
    ) {
        let mut bytes = text.into_bytes();
        if let Some((byte, place)) = noise && !bytes.is_empty() {
            let at = place.index(bytes.len());
            bytes[at] = byte;
        }
        let expected = split(&[&bytes], limit);
        prop_assert_eq!(split(&cut(&bytes, &sizes), limit), expected.clone());
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(split(&single, limit), expected);
    }

    #[test]
    fn a_relay_forwards_whole_events_and_every_byte(
        text in stream(), sizes in proptest::collection::vec(0usize..9, 0..60),
    ) {
        let mut boundary = Boundary::default();
        let (mut held, mut forwarded, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        let mut sniff = |data: &[u8]| seen.push((None, String::from_utf8(data.to_vec()).unwrap()));
        for chunk in cut(text.as_bytes(), &sizes) {
            let ready = boundary.push(chunk, &mut sniff).unwrap();
            if ready > 0 {
                forwarded.append(&mut held);
                forwarded.extend_from_slice(&chunk[..ready]);
                let so_far = split(&[&forwarded], 999).1;
                prop_assert_eq!(so_far, Ok(End::Clean));
            }
            held.extend_from_slice(&chunk[ready..]);
        }
        boundary.finish(&mut sniff).unwrap();
        forwarded.append(&mut held);
        prop_assert_eq!(forwarded, text.as_bytes());
        let expected: Vec<Owned> = whole(text.as_bytes()).into_iter().map(|(_, data)| (None, data)).collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn a_written_event_reads_back(name in proptest::option::of("[a-z._]{1,12}"), text in "(\\PC|\n){0,40}") {
        let mut out = Vec::new();
        write_event(&mut out, name.as_deref(), text.as_bytes());
        prop_assert_eq!(whole(&out), vec![(name, text)]);
    }
}
