//! What the tests share: reading, folding and writing answers.

use std::sync::Arc;

use serde_json::Value;
use trilith_core::{
    Created, DialectId, End, Error, Event, FinishReason, Response, Settings, Status, StreamOptions,
};

use crate::{
    capability::ALL_CAPABILITIES,
    dialect::{Dialect, Quirks, Target},
    frame::sse::Splitter,
    names::NameMap,
    responses::Responses,
};

/// A response's first event.
pub(super) fn created(id: &str, settings: Arc<Settings>, store: bool) -> Created {
    Created {
        id: id.into(),
        created_at: 1_764_500_000,
        settings,
        store,
        background: false,
        previous_response_id: None,
        conversation: None,
    }
}

/// What the runtime adds around a reader's events.
pub(super) fn lifecycle(created: Created, events: Vec<Event>, failure: Option<Error>, at: i64) -> Vec<Event> {
    let reason = events.iter().find_map(|event| match event {
        Event::Finish(finish) => Some(finish.reason.clone()),
        _ => None,
    });
    let incomplete = reason.filter(|reason| {
        !matches!(reason, FinishReason::Stop | FinishReason::StopString(_) | FinishReason::ToolCalls)
    });
    let status = match (&failure, &incomplete) {
        (Some(_), _) => Status::Failed,
        (None, Some(_)) => Status::Incomplete,
        (None, None) => Status::Completed,
    };
    let mut all = vec![Event::Created(Box::new(created)), Event::Status(Status::InProgress)];
    all.extend(events);
    all.push(Event::End(Box::new(End { status, incomplete, error: failure, at })));
    all
}

/// The bytes of a stream of these events, and the response they make.
pub(super) fn stream(events: &[Event], options: StreamOptions) -> (String, Response) {
    let Some(Event::Created(created)) = events.first() else { panic!("the first event creates") };
    let mut response = Response::new(created);
    let mut writer = Responses.writer(options);
    let mut out = Vec::new();
    for (n, event) in events.iter().enumerate() {
        if n > 0 {
            response.apply(event).unwrap_or_else(|error| panic!("event {n} {event:?}: {error}"));
        }
        writer.write(event, &response, &mut out);
    }
    (String::from_utf8(out).unwrap(), response)
}

/// Reads a stream that arrives in pieces of `size` bytes.
pub(super) fn read(stream: &[u8], size: usize) -> (Vec<Event>, Result<(), Error>) {
    let mut reader = Responses.reader(NameMap::default());
    let mut events = Vec::new();
    for piece in stream.chunks(size) {
        if let Err(error) = reader.push(piece, &mut events) {
            return (events, Err(error));
        }
    }
    let end = reader.finish(&mut events);
    (events, end)
}

/// An upstream stream of these JSON events.
pub(super) fn sse(events: &[&str]) -> Vec<u8> {
    events.iter().flat_map(|event| format!("data: {event}\n\n").into_bytes()).collect()
}

/// The JSON events of a stream, `[DONE]` and comments left out.
pub(super) fn data(stream: &str) -> Vec<Value> {
    let mut events = Vec::new();
    let mut splitter = Splitter::default();
    splitter
        .push(stream.as_bytes(), |frame| {
            if frame.data != "[DONE]" {
                let value: Value = serde_json::from_str(frame.data).unwrap();
                assert_eq!(
                    Some(value["type"].as_str().unwrap()),
                    frame.event,
                    "T8: name line and type agree"
                );
                events.push(value);
            }
        })
        .unwrap();
    events
}

/// The events of an answer, folded.
pub(super) fn fold(events: Vec<Event>) -> Response {
    let created = created("resp_1", Arc::default(), true);
    Response::fold(&lifecycle(created, events, None, 1)).unwrap()
}

pub(super) fn target<'t>(model: &'t str, quirks: &'t Quirks) -> Target<'t> {
    Target { model, stream: false, quirks, can: &ALL_CAPABILITIES }
}

/// The JSON that encoding a request gives.
pub(super) fn encode(request: &str, quirks: &Quirks) -> Result<Value, Error> {
    let turn = Responses.decode_request(request.as_bytes())?;
    let encoded = Responses.encode_request(&turn, &target("up", quirks))?;
    Ok(serde_json::from_slice(&encoded.body).unwrap())
}

#[test]
fn the_dialect_is_named() {
    assert_eq!(Responses.id(), DialectId::Responses);
}
