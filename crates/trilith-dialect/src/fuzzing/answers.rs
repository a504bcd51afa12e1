//! Answers of upstreams, whole and streamed.

use serde_json::value::RawValue;
use trilith_core::{Event, Response};

use super::life::Life;
use crate::{
    DIALECTS, Dialect, NameMap,
    chat::Chat,
    completions::Completions,
    frame::sse::{End, Splitter},
    messages::Messages,
    responses::Responses,
};

/// A whole answer of Chat Completions; see [`whole`].
pub fn fuzz_chat_response(input: &[u8]) {
    whole(&Chat, input);
}

/// A whole answer of Responses; see [`whole`].
pub fn fuzz_responses_response(input: &[u8]) {
    whole(&Responses, input);
}

/// A streamed answer of Chat Completions; see [`streamed`].
pub fn fuzz_chat_stream(input: &[u8]) {
    streamed(&Chat, input);
}

/// A streamed answer of Responses; see [`streamed`].
pub fn fuzz_responses_stream(input: &[u8]) {
    streamed(&Responses, input);
}

/// A whole answer of Messages; see [`whole`].
pub fn fuzz_messages_response(input: &[u8]) {
    whole(&Messages, input);
}

/// A streamed answer of Messages; see [`streamed`].
pub fn fuzz_messages_stream(input: &[u8]) {
    streamed(&Messages, input);
}

/// A whole answer of Completions; see [`whole`].
pub fn fuzz_completions_response(input: &[u8]) {
    whole(&Completions, input);
}

/// A streamed answer of Completions; see [`streamed`].
pub fn fuzz_completions_stream(input: &[u8]) {
    streamed(&Completions, input);
}

/// What is read folds into a response, which every dialect can write and its own reader can read back.
fn whole(dialect: &dyn Dialect, body: &[u8]) {
    let mut events = Vec::new();
    let fault = dialect.decode_response(body, &NameMap::default(), &mut events).err();
    let mut life = Life::new();
    events.into_iter().for_each(|event| life.take(event));
    let failed = fault.is_some();
    let (response, read) = life.end(fault);
    written(&response, failed);
    frames(&read);
}

/// The same, from a stream in pieces. The first byte says how many of the following ones are sizes of pieces,
/// which are used in turn.
fn streamed(dialect: &dyn Dialect, input: &[u8]) {
    let Some((count, rest)) = input.split_first() else { return };
    let (sizes, stream) = rest.split_at(usize::from(*count % 16).min(rest.len()));
    let (events, fault) = heard(dialect, stream, &[]);
    let (pieces, piece_fault) = heard(dialect, stream, sizes);
    assert_eq!(events, pieces, "the cut of the stream changes what it says");
    assert_eq!(fault, piece_fault);
    let mut life = Life::new();
    events.into_iter().for_each(|event| life.take(event));
    let failed = fault.is_some();
    let (response, read) = life.end(fault);
    written(&response, failed);
    frames(&read);
}

fn heard(
    dialect: &dyn Dialect,
    mut stream: &[u8],
    sizes: &[u8],
) -> (Vec<Event>, Option<trilith_core::Error>) {
    let mut reader = dialect.reader(NameMap::default());
    let mut events = Vec::new();
    let mut sizes = sizes.iter().cycle();
    while !stream.is_empty() {
        let size = sizes.next().map_or(stream.len(), |size| usize::from(*size) + 1);
        let (piece, rest) = stream.split_at(size.min(stream.len()));
        stream = rest;
        if let Err(fault) = reader.push(piece, &mut events) {
            return (events, Some(fault));
        }
    }
    let fault = reader.finish(&mut events).err();
    (events, fault)
}

/// A written answer is JSON, and its own dialect reads it.
fn written(response: &Response, failed: bool) {
    for dialect in DIALECTS {
        let mut body = Vec::new();
        dialect.encode_response(response, &mut body);
        drop(dialect.response_losses(response));
        let text = String::from_utf8_lossy(&body);
        assert!(serde_json::from_slice::<&RawValue>(&body).is_ok(), "{}: {text}", dialect.id().name());
        let mut events = Vec::new();
        let read = dialect.decode_response(&body, &NameMap::default(), &mut events);
        assert!(failed || read.is_ok(), "{}: {read:?}: {text}", dialect.id().name());
    }
}

/// What clients read of a stream is whole frames that hold JSON or the sentinel.
fn frames(read: &[Vec<u8>]) {
    for stream in read {
        let mut splitter = Splitter::new(usize::MAX);
        let pushed = splitter.push(stream, |frame| {
            let json = serde_json::from_str::<&RawValue>(frame.data).is_ok();
            assert!(json || frame.data == "[DONE]", "{}", frame.data);
        });
        assert!(pushed.is_ok());
        assert_eq!(splitter.finish(|_| ()), Ok(End::Clean));
    }
}
