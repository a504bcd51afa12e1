//! Events: the steps of an answer. A response is the fold over them, and every view is rendered from them.

use std::sync::Arc;

use crate::{
    Annotation, Carrier, Error, Extra, Item, ItemStatus, Json, Logprob, Loss, Settings, Status, Usage,
};

/// One step of an answer.
///
/// Upstream readers produce the steps from [`Event::Begin`] to [`Event::Finish`]; the runtime adds the life
/// of the response around them ([`Event::Created`], [`Event::Status`], [`Event::End`]). `index` is the item's
/// place in the output, `part` a place inside one of the item's lists (see [`PartSpace`]).
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The response exists. Always the first event.
    Created(Box<Created>),
    /// The response's status changed without ending it (queued, in progress).
    Status(Status),
    /// The upstream began to answer.
    Begin(Box<Begin>),
    /// An item begins. Its lists and texts are empty; indexes are contiguous from 0.
    ItemAdded {
        /// Place in the output.
        index: u32,
        /// Which of `n` answers it belongs to; 0 unless more than one was asked for.
        choice: u16,
        /// The item without its content.
        item: Box<Item>,
    },
    /// A part of an item begins.
    PartAdded {
        /// The item.
        index: u32,
        /// Place in its list.
        part: u32,
        /// What it is.
        start: PartStart,
    },
    /// Text of a text part.
    TextDelta {
        /// The item.
        index: u32,
        /// The part.
        part: u32,
        /// What to append.
        delta: String,
        /// Log-probabilities of the tokens of `delta`.
        logprobs: Vec<Logprob>,
    },
    /// Text of a refusal, reasoning or summary part.
    PartDelta {
        /// The item.
        index: u32,
        /// The part.
        part: u32,
        /// In which list.
        space: PartSpace,
        /// What to append.
        delta: String,
    },
    /// Argument text of a call.
    ArgumentsDelta {
        /// The item.
        index: u32,
        /// What to append.
        delta: String,
    },
    /// Sound and its transcript.
    AudioDelta {
        /// The item.
        index: u32,
        /// The part.
        part: u32,
        /// The answer's audio id, with the first delta.
        id: Option<Box<str>>,
        /// Base64 to append.
        data: String,
        /// Transcript to append.
        transcript: String,
        /// Unix seconds at which the id expires.
        expires_at: Option<i64>,
    },
    /// An annotation on a text part.
    AnnotationAdded {
        /// The item.
        index: u32,
        /// The part.
        part: u32,
        /// The annotation.
        annotation: Annotation,
    },
    /// A part is whole.
    PartDone {
        /// The item.
        index: u32,
        /// The part.
        part: u32,
        /// In which list.
        space: PartSpace,
    },
    /// A hosted tool went one step on.
    ToolProgress {
        /// The item.
        index: u32,
        /// The step.
        stage: ToolStage,
    },
    /// A step that only one dialect can show (partial images, shell output, …), as that dialect's JSON.
    Detail {
        /// The item, if it belongs to one.
        index: Option<u32>,
        /// The dialect that can show it.
        dialect: crate::DialectId,
        /// The event as it came, with the upstream's own numbering.
        json: Json,
    },
    /// An item is whole, or as whole as it will be.
    ItemDone {
        /// The item.
        index: u32,
        /// How it ended.
        status: ItemStatus,
        /// Carriers that became known; they replace earlier ones when not empty.
        carriers: Vec<Carrier>,
        /// The final fields of a hosted call; they replace earlier ones.
        detail: Option<Json>,
        /// Fields that only one dialect understands; added to the item's.
        extra: Extra,
    },
    /// Token counts. Within one upstream call they replace earlier ones.
    Usage(Usage),
    /// One of the answers ended, from the model's side.
    Finish(Finish),
    /// Something could not be carried, found after the headers went out.
    Loss(Loss),
    /// The response ended. Always the last event.
    End(Box<End>),
}

impl Event {
    /// The item that the event is about, where it is about one.
    pub const fn index(&self) -> Option<u32> {
        match self {
            Self::ItemAdded { index, .. }
            | Self::PartAdded { index, .. }
            | Self::TextDelta { index, .. }
            | Self::PartDelta { index, .. }
            | Self::ArgumentsDelta { index, .. }
            | Self::AudioDelta { index, .. }
            | Self::AnnotationAdded { index, .. }
            | Self::PartDone { index, .. }
            | Self::ToolProgress { index, .. }
            | Self::ItemDone { index, .. } => Some(*index),
            Self::Detail { index, .. } => *index,
            Self::Created(_)
            | Self::Status(_)
            | Self::Begin(_)
            | Self::Usage(_)
            | Self::Finish(_)
            | Self::Loss(_)
            | Self::End(_) => None,
        }
    }

    /// The place to write another index to; `None` where there is none to change.
    pub const fn index_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::ItemAdded { index, .. }
            | Self::PartAdded { index, .. }
            | Self::TextDelta { index, .. }
            | Self::PartDelta { index, .. }
            | Self::ArgumentsDelta { index, .. }
            | Self::AudioDelta { index, .. }
            | Self::AnnotationAdded { index, .. }
            | Self::PartDone { index, .. }
            | Self::ToolProgress { index, .. }
            | Self::ItemDone { index, .. } => Some(index),
            Self::Detail { index, .. } => index.as_mut(),
            Self::Created(_)
            | Self::Status(_)
            | Self::Begin(_)
            | Self::Usage(_)
            | Self::Finish(_)
            | Self::Loss(_)
            | Self::End(_) => None,
        }
    }
}

/// The response exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// The response's id.
    pub id: Box<str>,
    /// Unix seconds.
    pub created_at: i64,
    /// What was asked for.
    pub settings: Arc<Settings>,
    /// Whether it is kept.
    pub store: bool,
    /// Whether it runs detached from the connection.
    pub background: bool,
    /// The response it continues.
    pub previous_response_id: Option<Box<str>>,
    /// The conversation it belongs to.
    pub conversation: Option<Box<str>>,
}

/// The upstream began to answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Begin {
    /// The upstream's own id for its answer.
    pub upstream_id: Option<Box<str>>,
    /// The model that answers, in the upstream's words.
    pub model: Option<Box<str>>,
    /// Unix seconds, by the upstream's clock.
    pub created_at: Option<i64>,
    /// The tier really used.
    pub service_tier: Option<Box<str>>,
    /// The upstream's configuration fingerprint (Chat).
    pub system_fingerprint: Option<Box<str>>,
    /// Fields that only one dialect understands.
    pub extra: Extra,
}

/// The lists that an item's parts live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartSpace {
    /// A message's parts.
    Content,
    /// Raw reasoning text.
    Reasoning,
    /// Reasoning summaries.
    Summary,
}

/// What a part is, when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PartStart {
    /// Text of a message.
    Text,
    /// A refusal in a message.
    Refusal,
    /// Sound in a message.
    Audio,
    /// Raw reasoning text.
    Reasoning,
    /// A reasoning summary.
    Summary,
}

impl PartStart {
    /// The list that such a part lives in.
    pub const fn space(self) -> PartSpace {
        match self {
            Self::Text | Self::Refusal | Self::Audio => PartSpace::Content,
            Self::Reasoning => PartSpace::Reasoning,
            Self::Summary => PartSpace::Summary,
        }
    }
}

/// How far a hosted tool got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolStage {
    /// It started.
    InProgress,
    /// It searches.
    Searching,
    /// It runs code.
    Interpreting,
    /// It makes an image.
    Generating,
    /// It compacts history.
    Compacting,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
}

/// Why a model stopped (translation contract §12).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It wrote this stop string, which is not part of the text; `None` where the upstream does not say which.
    StopString(Option<Box<str>>),
    /// It called tools.
    ToolCalls,
    /// It reached the output limit.
    Length,
    /// The context window was full.
    ContextWindow,
    /// A filter stopped it.
    ContentFilter,
    /// It declined (Messages' `refusal`).
    Refusal,
    /// The upstream paused a server-side turn.
    Paused,
    /// It wrote a call that cannot be read.
    MalformedCall,
    /// A word this version does not know; treated as a stop and reported.
    Other(Box<str>),
}

/// One of the answers ended, from the model's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finish {
    /// Which answer.
    pub choice: u16,
    /// Why.
    pub reason: FinishReason,
}

/// The response ended.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// One of the final states.
    pub status: Status,
    /// Why it is incomplete, when it is.
    pub incomplete: Option<FinishReason>,
    /// What went wrong, when it failed.
    pub error: Option<Error>,
    /// Unix seconds.
    pub at: i64,
}
