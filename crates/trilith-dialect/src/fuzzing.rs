//! The entry functions of the fuzz targets. The fuzzer and the test that replays the corpora both call
//! them, so they lie here and not with the targets. They panic when a property fails.

mod answers;
mod errors;
mod life;
mod requests;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::value::RawValue;

use crate::frame::sse::{Boundary, End, FrameError, Splitter, write_event};
use crate::scan::{Fault, Kind, Limits, scan, splice};

pub use answers::{
    fuzz_chat_response, fuzz_chat_stream, fuzz_completions_response, fuzz_completions_stream,
    fuzz_messages_response, fuzz_messages_stream, fuzz_responses_response, fuzz_responses_stream,
};
pub use errors::{fuzz_chat_error, fuzz_completions_error, fuzz_messages_error, fuzz_responses_error};
pub use requests::{
    fuzz_chat_request, fuzz_completions_request, fuzz_messages_request, fuzz_responses_request,
};

/// An entry function: it takes any bytes.
pub type Target = fn(&[u8]);

/// Every target by the name of its file in `fuzz/fuzz_targets` and of its folder in `fuzz/corpus`.
pub const TARGETS: &[(&str, Target)] = &[
    ("sse", fuzz_sse),
    ("scan", fuzz_scan),
    ("chat_request", fuzz_chat_request),
    ("responses_request", fuzz_responses_request),
    ("messages_request", fuzz_messages_request),
    ("completions_request", fuzz_completions_request),
    ("chat_response", fuzz_chat_response),
    ("responses_response", fuzz_responses_response),
    ("messages_response", fuzz_messages_response),
    ("completions_response", fuzz_completions_response),
    ("chat_stream", fuzz_chat_stream),
    ("responses_stream", fuzz_responses_stream),
    ("messages_stream", fuzz_messages_stream),
    ("completions_stream", fuzz_completions_stream),
    ("chat_error", fuzz_chat_error),
    ("responses_error", fuzz_responses_error),
    ("messages_error", fuzz_messages_error),
    ("completions_error", fuzz_completions_error),
];

type Frames = Vec<(Option<Arc<str>>, Arc<str>)>;

fn frames(bytes: &[u8], chunk: usize, limit: usize) -> (Frames, Result<End, FrameError>) {
    let mut splitter = Splitter::new(limit);
    let mut frames = Frames::new();
    for piece in bytes.chunks(chunk) {
        let pushed =
            splitter.push(piece, |frame| frames.push((frame.event.map(Arc::from), frame.data.into())));
        if let Err(error) = pushed {
            return (frames, Err(error));
        }
    }
    let end = splitter.finish(|frame| frames.push((frame.event.map(Arc::from), frame.data.into())));
    (frames, end)
}

/// Event streams: the cut of the bytes changes nothing, a written event reads back, a relay loses no byte.
/// The first byte says how the rest is cut.
pub fn fuzz_sse(input: &[u8]) {
    const LIMIT: usize = 4096;
    let Some((control, stream)) = input.split_first() else { return };
    let chunk = usize::from(*control) + 1;
    let (events, end) = frames(stream, stream.len().max(1), LIMIT);
    assert_eq!((events.clone(), end), frames(stream, chunk, LIMIT));

    let mut written = Vec::new();
    for (event, data) in &events {
        write_event(&mut written, event.as_deref(), data.as_bytes());
    }
    assert_eq!((events, Ok(End::Clean)), frames(&written, chunk, usize::MAX));

    let mut boundary = Boundary::new(LIMIT);
    for piece in stream.chunks(chunk) {
        match boundary.push(piece, |data| assert!(data.len() <= LIMIT)) {
            Ok(ready) => assert!(ready <= piece.len()),
            Err(error) => return assert_eq!(error, FrameError::TooLong { limit: LIMIT }),
        }
    }
}

/// Request bodies: what is well-formed agrees with `serde_json`, the members lie where they are said to
/// lie, and replacing the model changes nothing else.
pub fn fuzz_scan(input: &[u8]) {
    let well_formed = serde_json::from_slice::<&RawValue>(input).is_ok();
    let scan = match scan(input, &Limits::default()) {
        Ok(scan) => scan,
        Err(error) => {
            assert!(error.offset <= input.len() && error.line >= 1 && error.column >= 1);
            assert!(!error.to_string().is_empty());
            let over_limit = matches!(
                error.fault,
                Fault::TooDeep { .. } | Fault::TooManyMembers { .. } | Fault::DuplicateKey { .. }
            );
            assert!(over_limit || !well_formed, "{error}");
            return;
        }
    };
    assert!(well_formed);
    assert!(scan.root() == Kind::Object || scan.members().is_empty());
    for member in scan.members() {
        let key = input.get(member.key_range.clone()).unwrap_or_default();
        // serde_json refuses lone surrogates, which the grammar allows.
        if let Ok(decoded) = serde_json::from_slice::<String>(key) {
            assert_eq!(decoded, member.key);
        }
        let value = input.get(member.value_range.clone()).unwrap_or_default();
        assert!(serde_json::from_slice::<&RawValue>(value).is_ok_and(|raw| raw.get().len() == value.len()));
    }

    let body = Bytes::copy_from_slice(input);
    let Ok(scan) = crate::scan::scan(&body, &Limits::default()) else { return };
    if let Some(spliced) = splice(&body, &scan, "a \"b\"\n\u{1}é") {
        let range = scan.member("model").map(|member| member.value_range.clone()).unwrap_or_default();
        assert_eq!(input.get(..range.start), Some(spliced.head.as_ref()));
        assert_eq!(input.get(range.end..), Some(spliced.tail.as_ref()));
        let body = spliced.to_bytes();
        let again = crate::scan::scan(&body, &Limits::default());
        assert!(again.is_ok_and(|scan| scan.string("model").as_deref() == Some("a \"b\"\n\u{1}é")));
    }
}
