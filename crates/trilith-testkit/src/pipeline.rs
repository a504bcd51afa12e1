//! From an upstream's bytes to a client's bytes without a runtime: the same rules, a fixed clock, fixed ids.

use std::{collections::VecDeque, sync::Arc};

use trilith_core::{
    Created, End, Error, Event, Extra, FinishReason, ItemBody, ItemStatus, Loss, PartSpace, Response,
    ResponseId, Settings, Status, StreamOptions, Usage, call_id, item_id,
};
use trilith_dialect::{Dialect, NameMap};

/// Unix seconds at which every response here begins.
const BEGINS_AT: i64 = 1_800_000_000;

/// An answer, from its first event to its last.
#[derive(Clone, Debug)]
pub struct Played {
    /// Every event, [`Event::Created`] and [`Event::End`] included.
    pub events: Vec<Event>,
    /// Their fold.
    pub response: Response,
}

/// What an upstream said.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    /// The events that could be read.
    pub events: Vec<Event>,
    /// What went wrong after them, if anything did.
    pub fault: Option<Error>,
}

/// Reads a stream that arrives in pieces; `cuts` are byte offsets, in order.
pub fn hear_stream(dialect: &dyn Dialect, names: NameMap, stream: &[u8], cuts: &[usize]) -> Heard {
    let mut reader = dialect.reader(names);
    let mut heard = Heard::default();
    let mut from = 0;
    for to in cuts.iter().copied().chain([stream.len()]) {
        let piece = stream.get(from..to).unwrap_or_default();
        from = from.max(to);
        if let Err(fault) = reader.push(piece, &mut heard.events) {
            heard.fault = Some(fault);
            return heard;
        }
    }
    heard.fault = reader.finish(&mut heard.events).err();
    heard
}

/// Reads a whole answer.
pub fn hear_whole(dialect: &dyn Dialect, names: &NameMap, body: &[u8]) -> Heard {
    let mut heard = Heard::default();
    heard.fault = dialect.decode_response(body, names, &mut heard.events).err();
    heard
}

/// The life of a response around what the upstream said: ids where they are missing, what is open is closed, an
/// end that follows from it all.
///
/// # Errors
/// The upstream's events come in an order that cannot be.
pub fn play(settings: &Arc<Settings>, heard: Heard) -> Result<Played, String> {
    let created = Created {
        id: ResponseId::mint(BEGINS_AT as u64 * 1000, *b"golden-run").response(),
        created_at: BEGINS_AT,
        settings: Arc::clone(settings),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    };
    let mut response = Response::new(&created);
    let mut events = vec![Event::Created(Box::new(created))];
    let mut open = Vec::new();
    let mut show = |event: Event, response: &mut Response| -> Result<(), String> {
        response.apply(&event).map_err(|why| format!("{why}: {event:?}"))?;
        events.push(event);
        Ok(())
    };
    show(Event::Status(Status::InProgress), &mut response)?;
    for mut event in heard.events {
        admit(&mut open, &response.id.clone(), &mut event);
        show(event, &mut response)?;
    }
    for event in close(open) {
        show(event, &mut response)?;
    }
    if response.usage.is_none() && heard.fault.is_none() {
        let usage = Usage { estimated: true, ..Usage::default() };
        show(Event::Usage(usage), &mut response)?;
        let why = "the upstream counted no tokens; estimated from the text";
        show(Event::Loss(Loss::warn("usage", why)), &mut response)?;
    }
    let end = end_of(&response, heard.fault);
    show(Event::End(Box::new(end)), &mut response)?;
    Ok(Played { events, response })
}

type Open = Vec<(u32, VecDeque<(u32, PartSpace)>)>;

fn admit(open: &mut Open, response: &str, event: &mut Event) {
    match event {
        Event::ItemAdded { index, item, .. } => {
            if item.id.is_none() {
                item.id = Some(item_id(response, &item.body, *index));
            }
            if let ItemBody::Call(call) = &mut item.body
                && call.call_id.as_deref().is_none_or(str::is_empty)
                && call.detail.is_none()
            {
                call.call_id = Some(call_id(response, *index));
            }
            item.status = Some(ItemStatus::InProgress);
            open.push((*index, VecDeque::new()));
        }
        Event::PartAdded { index, part, start } => {
            if let Some(parts) = parts_of(open, *index) {
                parts.push_back((*part, start.space()));
            }
        }
        Event::PartDone { index, part, space } => {
            if let Some(parts) = parts_of(open, *index) {
                parts.retain(|known| *known != (*part, *space));
            }
        }
        Event::ItemDone { index, .. } => open.retain(|(known, _)| known != index),
        _ => {}
    }
}

fn parts_of(open: &mut Open, index: u32) -> Option<&mut VecDeque<(u32, PartSpace)>> {
    open.iter_mut().find(|(known, _)| *known == index).map(|(_, parts)| parts)
}

fn close(open: Open) -> Vec<Event> {
    let mut events = Vec::new();
    for (index, parts) in open {
        events.extend(parts.into_iter().map(|(part, space)| Event::PartDone { index, part, space }));
        events.push(Event::ItemDone {
            index,
            status: ItemStatus::Incomplete,
            carriers: Vec::new(),
            detail: None,
            extra: Extra::EMPTY,
        });
    }
    events
}

fn end_of(response: &Response, fault: Option<Error>) -> End {
    let at = BEGINS_AT + 1;
    let reasons = || response.finishes.iter().flatten();
    let malformed = reasons().any(|reason| *reason == FinishReason::MalformedCall);
    let unreadable = || Error::upstream("the model wrote a tool call that cannot be read; try again");
    if let Some(error) = fault.or_else(|| malformed.then(unreadable)) {
        return End { status: Status::Failed, incomplete: None, error: Some(error), at };
    }
    let cut_short = |reason: &&FinishReason| {
        matches!(
            reason,
            FinishReason::Length
                | FinishReason::ContextWindow
                | FinishReason::ContentFilter
                | FinishReason::Refusal
                | FinishReason::Paused
        )
    };
    let incomplete = reasons().find(cut_short).cloned();
    let status = if incomplete.is_some() { Status::Incomplete } else { Status::Completed };
    End { status, incomplete, error: None, at }
}

/// What a client reads of a streamed answer.
///
/// # Errors
/// The events do not begin with [`Event::Created`] or cannot follow each other.
pub fn write_stream(
    dialect: &dyn Dialect,
    options: StreamOptions,
    events: &[Event],
) -> Result<Vec<u8>, String> {
    let Some(Event::Created(created)) = events.first() else { return Err("no beginning".into()) };
    let mut response = Response::new(created);
    let mut writer = dialect.writer(options);
    let mut out = Vec::new();
    for (number, event) in events.iter().enumerate() {
        if matches!(event, Event::End(_)) {
            // Found after the headers went out: told before the terminal event (translation contract §0).
            for loss in dialect.response_losses(&response) {
                writer.write(&Event::Loss(loss), &response, &mut out);
            }
        }
        if number > 0 {
            response.apply(event).map_err(|why| format!("{why}: {event:?}"))?;
        }
        writer.write(event, &response, &mut out);
    }
    Ok(out)
}

/// What a client reads of a whole answer: status and body. A failed one is shown as its error, as before the
/// first byte.
pub fn write_whole(dialect: &dyn Dialect, response: &Response) -> (u16, Vec<u8>) {
    let mut out = Vec::new();
    match &response.error {
        Some(error) => {
            let status = dialect.render_error(error, "req_golden", &mut out);
            (status, out)
        }
        None => {
            dialect.encode_response(response, &mut out);
            (200, out)
        }
    }
}
