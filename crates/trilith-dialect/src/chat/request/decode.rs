//! A client's request in items.

use std::sync::Arc;

use trilith_core::{Error, Settings, StateRef, Turn};

use super::{
    history::History,
    settings, tools,
    wire::{Message, Request},
};
use crate::{
    chat::object::{invalid, keep, missing, parse},
    surrogates,
    values::stream_options,
};

pub(in crate::chat) fn decode(body: &[u8]) -> Result<Turn, Error> {
    let mut request: Request<'_> = parse(body)?;
    surrogates::check(body)?;
    let mut turn =
        Turn { stream: stream_options(request.stream, request.stream_options.as_ref())?, ..Turn::default() };
    // The real default is not to keep; a store that keeps by default must not keep these.
    turn.state = StateRef { store: Some(request.store.unwrap_or(false)), ..StateRef::default() };
    let messages = request.messages.take().ok_or_else(|| missing("messages"))?;
    let mut settings = Settings {
        model: request.model.take().filter(|model| !model.is_empty()).ok_or_else(|| missing("model"))?,
        ..Settings::default()
    };
    tools::decode(&mut request, &mut settings, &mut turn.losses)?;
    settings::decode(&mut request, &mut settings)?;
    keep(&mut settings.extra, "", std::mem::take(&mut request.rest));
    turn.settings = Arc::new(settings);
    turn.input = items(messages, &mut turn)?;
    Ok(turn)
}

fn items(messages: Vec<Message<'_>>, turn: &mut Turn) -> Result<Vec<trilith_core::Item>, Error> {
    if messages.is_empty() {
        return Err(invalid("messages", "Invalid 'messages': expected at least one message."));
    }
    let mut history = History::new(messages.len());
    for (place, message) in messages.into_iter().enumerate() {
        history.take(place, message)?;
    }
    history.end(&mut turn.losses)
}
