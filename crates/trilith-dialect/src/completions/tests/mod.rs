//! The dialect as clients and upstreams see it.

mod golden;
mod hostile;
mod requests;
mod translated;
mod writing;

use std::sync::Arc;

use serde_json::Value;
use trilith_core::{Created, End, Error, Event, Response, Settings, Status, StreamOptions, Turn};

use super::Completions;
use crate::{ALL_CAPABILITIES, Dialect, Encoded, NameMap, Quirks, Target};

fn created() -> Event {
    Event::Created(Box::new(Created {
        id: "resp_00112233445566778899aabbccddeeff".into(),
        created_at: 1_795_000_000,
        settings: Arc::new(Settings { model: "gpt-3.5-turbo-instruct".into(), ..Settings::default() }),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    }))
}

fn ended(status: Status, error: Option<Error>) -> Event {
    Event::End(Box::new(End { status, incomplete: None, error, at: 1_795_000_001 }))
}

/// A reader's events with the life around them.
fn whole_life(events: Vec<Event>) -> Vec<Event> {
    let mut all = vec![created()];
    all.extend(events);
    all.push(ended(Status::Completed, None));
    all
}

fn fold(events: Vec<Event>) -> Response {
    Response::fold(&whole_life(events)).unwrap()
}

/// Reads a stream in pieces of `size` bytes, whatever comes of it.
fn read_cut(stream: &[u8], size: usize) -> (Vec<Event>, Result<(), Error>) {
    let mut reader = Completions.reader(NameMap::default());
    let mut out = Vec::new();
    let mut outcome = Ok(());
    for piece in stream.chunks(size) {
        outcome = outcome.and_then(|()| reader.push(piece, &mut out));
    }
    let outcome = outcome.and_then(|()| reader.finish(&mut out));
    (out, outcome)
}

fn read(stream: &[u8]) -> Result<Vec<Event>, Error> {
    let (events, outcome) = read_cut(stream, stream.len().max(1));
    outcome.map(|()| events)
}

fn decode_whole(body: &[u8]) -> Result<Vec<Event>, Error> {
    let mut out = Vec::new();
    Completions.decode_response(body, &NameMap::default(), &mut out)?;
    Ok(out)
}

/// The stream that a client reads for these events.
fn write(events: &[Event], options: StreamOptions) -> String {
    let Some(Event::Created(first)) = events.first() else { return String::new() };
    let mut response = Response::new(first);
    let mut writer = Completions.writer(options);
    let mut out = Vec::new();
    writer.write(&events[0], &response, &mut out);
    for event in &events[1..] {
        response.apply(event).unwrap();
        writer.write(event, &response, &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// The payloads of a stream before its sentinel, which is the last.
fn payloads(stream: &str) -> Vec<Value> {
    let stream = stream.strip_suffix("data: [DONE]\n\n").unwrap();
    let frames = stream.split_terminator("\n\n").filter(|frame| !frame.starts_with(':'));
    frames.map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap()).collect()
}

fn encode(response: &Response) -> Value {
    let mut out = Vec::new();
    Completions.encode_response(response, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn sent_by(dialect: &dyn Dialect, turn: &Turn) -> Result<Encoded, Error> {
    let quirks = Quirks::default();
    let target = Target {
        model: &turn.settings.model,
        stream: turn.stream.stream,
        quirks: &quirks,
        can: &ALL_CAPABILITIES,
    };
    dialect.encode_request(turn, &target)
}

fn body(encoded: &Encoded) -> Value {
    serde_json::from_slice(&encoded.body).unwrap()
}
