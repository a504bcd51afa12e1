//! The dialect as clients and upstreams see it.

mod counts;
mod errors;
mod golden;
mod hostile;
mod models;
mod order;
mod reading;
mod small;
mod writing;

use std::sync::Arc;

use trilith_core::{
    Created, End, Error, Event, FinishReason, Item, ItemBody, Response, Settings, Status, StreamOptions,
    call_id,
};

use super::Messages;
use crate::{Dialect, NameMap};

const ID: &str = "resp_00112233445566778899aabbccddeeff";

fn created() -> Event {
    Event::Created(Box::new(Created {
        id: ID.into(),
        created_at: 1_795_000_000,
        settings: Arc::new(Settings { model: "claude".into(), ..Settings::default() }),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    }))
}

fn ended(status: Status, error: Option<Error>) -> Event {
    Event::End(Box::new(End { status, incomplete: None, error, at: 1_795_000_001 }))
}

/// What the runtime makes of a reader's events: ids where there are none, and the life around them.
fn whole_life(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        let Event::ItemAdded { index, item, .. } = event else { continue };
        if let ItemBody::Call(call) = &mut item.body
            && call.call_id.is_none()
        {
            call.call_id = Some(call_id(ID, *index));
        }
    }
    let mut all = vec![created()];
    all.extend(events);
    all.push(ended(Status::Completed, None));
    all
}

/// The fold of what a reader gave.
fn fold(events: Vec<Event>) -> Response {
    let events = whole_life(events);
    order::check(&events);
    Response::fold(&events).unwrap()
}

fn read(stream: &str) -> Result<Vec<Event>, Error> {
    read_cut(stream.as_bytes(), stream.len().max(1))
}

/// Reads a stream in pieces of `size` bytes.
fn read_cut(stream: &[u8], size: usize) -> Result<Vec<Event>, Error> {
    let (events, outcome) = read_all(stream, size, NameMap::default());
    outcome.map(|()| events)
}

/// Reads a stream whatever comes of it.
fn read_all(stream: &[u8], size: usize, names: NameMap) -> (Vec<Event>, Result<(), Error>) {
    let mut reader = Messages.reader(names);
    let mut out = Vec::new();
    let mut outcome = Ok(());
    for piece in stream.chunks(size) {
        outcome = outcome.and_then(|()| reader.push(piece, &mut out));
    }
    let outcome = outcome.and_then(|()| reader.finish(&mut out));
    (out, outcome)
}

fn decode_whole(body: &str) -> Result<Vec<Event>, Error> {
    let mut out = Vec::new();
    Messages.decode_response(body.as_bytes(), &NameMap::default(), &mut out)?;
    Ok(out)
}

/// The stream that a client reads for these events.
fn write(events: &[Event]) -> String {
    let Some(Event::Created(first)) = events.first() else { return String::new() };
    let mut response = Response::new(first);
    let mut writer = Messages.writer(StreamOptions::default());
    let mut out = Vec::new();
    writer.write(&events[0], &response, &mut out);
    for event in &events[1..] {
        response.apply(event).unwrap();
        writer.write(event, &response, &mut out);
    }
    String::from_utf8(out).unwrap()
}

fn encode(response: &Response) -> serde_json::Value {
    let mut out = Vec::new();
    Messages.encode_response(response, &mut out);
    serde_json::from_slice(&out).unwrap()
}

fn items(response: &Response) -> Vec<&Item> {
    response.output.iter().map(|output| &output.item).collect()
}

fn finish(response: &Response) -> Option<&FinishReason> {
    response.finishes.first().and_then(Option::as_ref)
}

/// A stream of these events, as Anthropic frames them.
fn sse(events: &[&str]) -> String {
    let frame = |data: &&str| {
        let value: serde_json::Value = serde_json::from_str(data).unwrap();
        format!("event: {}\ndata: {data}\n\n", value["type"].as_str().unwrap_or("error"))
    };
    events.iter().map(frame).collect()
}
