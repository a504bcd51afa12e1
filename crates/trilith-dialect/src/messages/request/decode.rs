//! A client's request in items.

use std::sync::Arc;

use trilith_core::{
    DialectId, Error, Headers, Instructions, Item, ItemBody, Message, Role, Settings, StateRef,
    StreamOptions, Turn, Wanted,
};

use super::{
    blocks::{self, Speaker},
    history, object,
    object::{invalid, keep, missing},
    settings, tools,
    wire::{Content, Request},
};
use crate::surrogates;

/// The most messages that Anthropic takes in one request.
const MAX_MESSAGES: usize = 100_000;

/// Which rules a request is held to, by its `anthropic-version` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// `2023-01-01` and `2023-06-01`.
    First,
    /// `2026-10-21`: no sampling, no documents of the model's, no citations in what the user says.
    Of2026,
}

impl Version {
    fn of(headers: &Headers) -> Result<Self, Error> {
        const NAME: &str = "anthropic-version";
        match headers.iter().find(|(name, _)| &**name == NAME).map(|(_, value)| value.trim()) {
            None => Err(invalid(NAME, "header is required")),
            Some("2023-01-01" | "2023-06-01") => Ok(Self::First),
            Some("2026-10-21") => Ok(Self::Of2026),
            Some(other) => {
                let shown: String = other.chars().take(40).collect();
                Err(invalid(NAME, format!("'{shown}' is not a known version")))
            }
        }
    }
}

/// A client's request in items. `headers` are those that came with it, names in lower case.
///
/// # Errors
/// The request or its `anthropic-version` is wrong; the error names the field as this wire spells it
/// (`messages.0.content.1`).
pub(crate) fn decode(headers: &Headers, body: &[u8]) -> Result<Turn, Error> {
    read(headers, body, Wanted::Answer)
}

/// The same for a client that only wants to know how long its input is, and says nothing of an answer.
///
/// # Errors
/// As for [`decode`].
pub(crate) fn decode_count(headers: &Headers, body: &[u8]) -> Result<Turn, Error> {
    read(headers, body, Wanted::InputTokens)
}

fn read(headers: &Headers, body: &[u8], wanted: Wanted) -> Result<Turn, Error> {
    let version = Version::of(headers)?;
    let mut request: Request<'_> = object::parse(body)?;
    surrogates::check(body)?;
    if wanted == Wanted::InputTokens
        && let Some(name) = of_an_answer(&request)
    {
        return Err(invalid(name, "Extra inputs are not permitted"));
    }
    if request.thread.is_some() {
        let why = "server-held threads are not kept here; send the whole conversation in 'messages'";
        return Err(invalid("thread", why).with_code("thread_unsupported_request"));
    }
    let messages = request.messages.take().ok_or_else(|| missing("messages"))?;
    if messages.is_empty() {
        return Err(invalid("messages", "at least one message is required"));
    }
    if messages.len() > MAX_MESSAGES {
        return Err(invalid("messages", format!("at most {MAX_MESSAGES} messages are taken")));
    }
    let mut turn = Turn {
        stream: StreamOptions { stream: request.stream.unwrap_or(false), ..StreamOptions::default() },
        state: StateRef { store: Some(false), ..StateRef::default() },
        ..Turn::default()
    };
    let mut settings = Settings {
        model: request.model.take().filter(|model| !model.is_empty()).ok_or_else(|| missing("model"))?,
        instructions: system(&mut request, version)?,
        ..Settings::default()
    };
    tools::decode(&mut request, &mut settings)?;
    if wanted == Wanted::Answer && request.max_tokens.is_none() {
        return Err(missing("max_tokens"));
    }
    settings::decode(&mut request, version, &mut settings)?;
    keep(&mut settings.extra, "", std::mem::take(&mut request.rest));
    turn.settings = Arc::new(settings);
    turn.input = history::decode(messages, version)?;
    Ok(turn)
}

/// A field that only says what an answer should be.
fn of_an_answer(request: &Request<'_>) -> Option<&'static str> {
    let typed = [
        ("max_tokens", request.max_tokens.is_some()),
        ("stream", request.stream.is_some()),
        ("stop_sequences", request.stop_sequences.is_some()),
        ("metadata", request.metadata.is_some()),
        ("service_tier", request.service_tier.is_some()),
        ("temperature", request.temperature.is_some()),
        ("top_p", request.top_p.is_some()),
        ("top_k", request.top_k.is_some()),
    ];
    let there = typed.into_iter().find(|(_, there)| *there).map(|(name, _)| name);
    let given = |name: &str| request.rest.iter().any(|(own, value)| &**own == name && value.get() != "null");
    there.or_else(|| ["container", "inference_geo", "diagnostics"].into_iter().find(|name| given(name)))
}

/// What stands before the conversation: one text, or blocks as one message of the platform.
fn system(request: &mut Request<'_>, version: Version) -> Result<Option<Instructions>, Error> {
    Ok(match request.system.take() {
        None => None,
        Some(Content::Text(text)) => Some(Instructions::Text(text)),
        Some(Content::Blocks(blocks)) => {
            let parts = blocks::parts("system", blocks, Speaker::System, version)?;
            let message = Message { role: Role::System, parts, phase: None, name: None };
            Some(Instructions::Items(vec![Item::new(ItemBody::Message(message))]))
        }
    })
}

/// This dialect.
pub(super) const OWN: DialectId = DialectId::Messages;
