//! A turn: one request to a model, in items.

use std::sync::Arc;

use crate::{Completion, Item, Loss, Settings};

/// One request, decoded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turn {
    /// Everything that is not an item. Shared, since the response keeps it too.
    pub settings: Arc<Settings>,
    /// The items, oldest first. Toward an upstream this is the whole context.
    pub input: Vec<Item>,
    /// What makes it a text completion; `None` for a conversation.
    pub completion: Option<Completion>,
    /// What the request says about server-held state.
    pub state: StateRef,
    /// How the answer is wanted.
    pub stream: StreamOptions,
    /// What decoding alone already could not keep.
    pub losses: Vec<Loss>,
}

/// What a request says about server-held state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateRef {
    /// Whether to keep the response; `None` where the caller said nothing.
    pub store: Option<bool>,
    /// The response to continue from.
    pub previous_response_id: Option<Box<str>>,
    /// The conversation to continue.
    pub conversation: Option<Box<str>>,
    /// Whether to run detached from this connection.
    pub background: bool,
}

/// How the answer is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOptions {
    /// As a stream of events.
    pub stream: bool,
    /// With a usage chunk at the end (Chat and Completions).
    pub include_usage: bool,
    /// With random padding on deltas; `None` is the dialect's default.
    pub include_obfuscation: Option<bool>,
}
