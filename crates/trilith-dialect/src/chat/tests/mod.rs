//! The dialect as clients and upstreams see it.

mod golden;
mod hostile;
mod order;
mod requests;
mod translated;
mod writing;

use std::sync::Arc;

use serde_json::Value;
use trilith_core::{
    Created, End, Error, Event, Item, ItemBody, Response, Settings, Status, StreamOptions, call_id,
};

use super::Chat;
use crate::{Dialect, NameMap};

fn created(settings: Settings) -> Event {
    Event::Created(Box::new(Created {
        id: "resp_00112233445566778899aabbccddeeff".into(),
        created_at: 1_795_000_000,
        settings: Arc::new(settings),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    }))
}

fn ended(status: Status, error: Option<Error>) -> Event {
    Event::End(Box::new(End { status, incomplete: None, error, at: 1_795_000_001 }))
}

/// What the runtime does with an item before it applies it.
fn with_ids(mut events: Vec<Event>) -> Vec<Event> {
    for event in &mut events {
        let Event::ItemAdded { index, item, .. } = event else { continue };
        if let ItemBody::Call(call) = &mut item.body
            && call.call_id.is_none()
        {
            call.call_id = Some(call_id("resp_00112233445566778899aabbccddeeff", *index));
        }
    }
    events
}

fn whole_life(events: Vec<Event>) -> Vec<Event> {
    let mut all = vec![created(Settings { model: "gpt-5.6".into(), ..Settings::default() })];
    all.extend(with_ids(events));
    all.push(ended(Status::Completed, None));
    all
}

/// The fold of what a reader gave.
fn fold(events: Vec<Event>) -> Response {
    let events = whole_life(events);
    order::check(&events);
    Response::fold(&events).unwrap()
}

fn read(stream: &[u8]) -> Result<Vec<Event>, Error> {
    read_cut(stream, stream.len().max(1))
}

/// Reads a stream in pieces of `size` bytes.
fn read_cut(stream: &[u8], size: usize) -> Result<Vec<Event>, Error> {
    let mut reader = Chat.reader(NameMap::default());
    let mut out = Vec::new();
    for piece in stream.chunks(size) {
        reader.push(piece, &mut out)?;
    }
    reader.finish(&mut out)?;
    Ok(out)
}

fn decode_whole(body: &[u8]) -> Result<Vec<Event>, Error> {
    let mut out = Vec::new();
    Chat.decode_response(body, &NameMap::default(), &mut out)?;
    Ok(out)
}

/// The stream that a client reads for these events.
fn write(events: &[Event], options: StreamOptions) -> String {
    let Some(Event::Created(first)) = events.first() else { return String::new() };
    let mut response = Response::new(first);
    let mut writer = Chat.writer(options);
    let mut out = Vec::new();
    writer.write(&events[0], &response, &mut out);
    for event in &events[1..] {
        response.apply(event).unwrap();
        writer.write(event, &response, &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// The payloads of a written stream but for the final `[DONE]`, which is checked here.
fn payloads(stream: &str) -> Vec<Value> {
    let frames: Vec<&str> = stream.split("\n\n").filter(|frame| !frame.is_empty()).collect();
    let data: Vec<&str> = frames.iter().filter_map(|frame| frame.strip_prefix("data: ")).collect();
    assert_eq!(data.last(), Some(&"[DONE]"));
    assert_eq!(data.iter().filter(|payload| **payload == "[DONE]").count(), 1);
    data[..data.len() - 1].iter().map(|payload| serde_json::from_str(payload).unwrap()).collect()
}

fn items(response: &Response) -> Vec<&Item> {
    response.output.iter().map(|output| &output.item).collect()
}

fn calls(response: &Response) -> Vec<(&str, &str, &str)> {
    let calls = response.output.iter().filter_map(|output| match &output.item.body {
        ItemBody::Call(call) => {
            Some((call.call_id.as_deref().unwrap_or(""), &*call.name, call.args.as_str()))
        }
        _ => None,
    });
    calls.collect()
}

fn text(response: &Response) -> String {
    let mut all = String::new();
    for item in items(response) {
        if let ItemBody::Message(message) = &item.body {
            all.extend(message.parts.iter().filter_map(|part| part.as_text()));
        }
    }
    all
}
