//! The response: a fold over events, and nothing else. `apply` is the only writer of its state.

mod apply;
mod parts;

use std::{fmt, ops::Deref, sync::Arc};

use crate::{Begin, Created, Error, Event, FinishReason, Item, Settings, Usage};

/// How far a response got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Waiting to run.
    Queued,
    /// Running.
    InProgress,
    /// Whole.
    Completed,
    /// Cut short; see [`ResponseState::incomplete`].
    Incomplete,
    /// Ended in an error; see [`ResponseState::error`].
    Failed,
    /// Stopped by the caller.
    Cancelled,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::InProgress, Self::Completed, Self::Incomplete, Self::Failed, Self::Cancelled];

    /// Whether nothing can follow.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::InProgress)
    }

    /// The word that the Responses wire and stored rows use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// An item of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputItem {
    /// Which of `n` answers it belongs to.
    pub choice: u16,
    /// Whether it can still grow.
    pub open: bool,
    /// The item as it stands.
    pub item: Item,
}

/// What a response holds. Read it through [`Response`]; only a fold of events changes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseState {
    /// `resp_…`.
    pub id: Box<str>,
    /// Unix seconds.
    pub created_at: i64,
    /// Unix seconds of its end.
    pub ended_at: Option<i64>,
    /// How far it got.
    pub status: Status,
    /// What was asked for.
    pub settings: Arc<Settings>,
    /// Whether it is kept.
    pub store: bool,
    /// Whether it runs detached from a connection.
    pub background: bool,
    /// The response it continues.
    pub previous_response_id: Option<Box<str>>,
    /// The conversation it belongs to.
    pub conversation: Option<Box<str>>,
    /// What the upstream said about itself.
    pub upstream: Begin,
    /// The items made so far.
    pub output: Vec<OutputItem>,
    /// Why each answer ended, by its number.
    pub finishes: Vec<Option<FinishReason>>,
    /// Token counts, once known.
    pub usage: Option<Usage>,
    /// Why it is incomplete.
    pub incomplete: Option<FinishReason>,
    /// What went wrong.
    pub error: Option<Error>,
}

/// A response. It starts with [`Response::new`] and changes only through [`Response::apply`].
#[derive(Clone, Debug, PartialEq)]
pub struct Response(ResponseState);

/// An event that cannot follow what came before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// The response has ended.
    AfterEnd,
    /// The response began twice.
    CreatedTwice,
    /// The item's index is not the next one.
    ItemOutOfOrder,
    /// No such item, or it is closed.
    NoOpenItem,
    /// The part's index is not the next one, or the item has no such list.
    PartOutOfOrder,
    /// No such part, or it is of another sort.
    NoSuchPart,
    /// An end that is no final status.
    NotAnEnd,
    /// The end came while an item was open.
    ItemLeftOpen,
    /// More answers than can be counted.
    TooManyChoices,
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AfterEnd => "an event came after the end of the response",
            Self::CreatedTwice => "the response began twice",
            Self::ItemOutOfOrder => "an item began out of order",
            Self::NoOpenItem => "an event names an item that is not open",
            Self::PartOutOfOrder => "a part began out of order",
            Self::NoSuchPart => "an event names a part that does not exist",
            Self::NotAnEnd => "an end event carries a status that is not final",
            Self::ItemLeftOpen => "the response ended while an item was open",
            Self::TooManyChoices => "more answers than were asked for",
        })
    }
}

impl std::error::Error for ApplyError {}

impl Response {
    /// The response at its first event.
    pub fn new(created: &Created) -> Self {
        Self(ResponseState {
            id: created.id.clone(),
            created_at: created.created_at,
            ended_at: None,
            status: Status::InProgress,
            settings: Arc::clone(&created.settings),
            store: created.store,
            background: created.background,
            previous_response_id: created.previous_response_id.clone(),
            conversation: created.conversation.clone(),
            upstream: Begin::default(),
            output: Vec::new(),
            finishes: Vec::new(),
            usage: None,
            incomplete: None,
            error: None,
        })
    }

    /// A response read back from where it was stored.
    pub const fn restore(state: ResponseState) -> Self {
        Self(state)
    }

    /// The fold of a whole list of events.
    ///
    /// # Errors
    /// The list does not begin with [`Event::Created`] or breaks the order of events.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<Self, ApplyError> {
        let mut events = events.into_iter();
        let Some(Event::Created(created)) = events.next() else { return Err(ApplyError::CreatedTwice) };
        let mut response = Self::new(created);
        events.try_for_each(|event| response.apply(event))?;
        Ok(response)
    }

    /// Takes one step. This is the only way a response changes.
    ///
    /// # Errors
    /// The event cannot follow what came before; the response is unchanged then.
    pub fn apply(&mut self, event: &Event) -> Result<(), ApplyError> {
        apply::apply(&mut self.0, event)
    }
}

impl Deref for Response {
    type Target = ResponseState;

    fn deref(&self) -> &ResponseState {
        &self.0
    }
}
