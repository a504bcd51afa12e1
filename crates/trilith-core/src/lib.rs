//! The vocabulary of Trilith: items, turns, events, usage, errors, losses, and the ports that adapters fill.
//!
//! Nothing here does I/O, reads a clock, draws random numbers or knows a wire format. The types are not
//! serialisable on purpose: each dialect converts at its own border, and the store has its own encoding.

mod abilities;
mod completion;
mod dialect;
mod error;
mod event;
mod extra;
mod ids;
mod item;
mod json;
mod loss;
mod media;
mod part;
mod pattern;
mod pin;
mod ports;
mod reasoning;
mod response;
mod settings;
mod tool;
mod turn;
mod usage;

pub use abilities::{Abilities, Hold, Shows};
pub use completion::Completion;
pub use dialect::DialectId;
pub use error::{Error, ErrorKind, Origin as ErrorOrigin, Retry, UpstreamFault};
pub use event::{Begin, Created, End, Event, Finish, FinishReason, PartSpace, PartStart, ToolStage};
pub use extra::{Extra, ExtraField};
pub use ids::{ResponseId, call_id, item_id, item_prefix};
pub use item::{
    Call, CallKind, CallResult, Caller, Compaction, Item, ItemBody, ItemStatus, Message, Opaque, Phase,
    ResultOutput, ResultStatus, Role, ToolsChange,
};
pub use json::Json;
pub use loss::{Disposition, Loss};
pub use media::{DocumentText, Fetch, Fetched, Reads};
pub use part::{
    Annotation, AnnotationKind, Audio, CacheMark, File, Image, Logprob, MediaSource, Part, PartKind, Text,
    TopLogprob,
};
pub use pattern::Pattern;
pub use pin::{Pin, PinRule};
pub use ports::{
    BoxFuture, BoxStream, Clock, EventStream, Headers, Ids, InputPage, ItemPage, ModelCall, RelayAnswer,
    RelayCall, Schema, Schemas, Sealer, Spawn, Store, StoreError, StoredContext, TokenCount, Upstream,
    Wanted,
};
pub use reasoning::{Carrier, CarrierKind, Origin, Reasoning};
pub use response::{ApplyError, OutputItem, Response, ResponseState, Status};
pub use settings::{
    Effort, Instructions, Limits, OutputFormat, OutputSettings, ReasoningSettings, Sampling, Settings,
    TextFormat, Truncation, Verbosity,
};
pub use tool::{
    CustomFormat, GrammarSyntax, HostedTool, Tool, ToolChoice, ToolChoiceMode, ToolKind, ToolRef,
};
pub use turn::{StateRef, StreamOptions, Turn};
pub use usage::{CacheWrite, Usage};

#[cfg(test)]
mod tests;
