//! The embedded model behind the same port as every other upstream.
//!
//! A GGUF file is loaded into this process and answers without any network. [`Model::load`] checks the CPU
//! and the file before native code touches either; [`Model::generate`] queues a request and returns at once
//! with a [`Generation`], a stream of [`Step`]s that needs no particular async runtime.
//!
//! Two threads belong to a model. One renders and tokenizes prompts, so that an oversized prompt is refused
//! without waiting for the answer being written; the other owns the native context and writes one answer at
//! a time. The KV cache of the last answer stays, and the next prompt pays only for what differs.

mod cpu;
mod embedded;
mod engine;
mod error;
mod gguf;
mod model;
mod native_log;
mod output;
mod prepare;
mod request;
mod stream;
mod template;
mod vocabulary;

pub use embedded::Embedded;
pub use error::{GenerateError, LoadError};
pub use model::{LoadOptions, Model, ModelInfo};
pub use request::{
    CalendarDate, Chat, ChatMessage, HistoricCall, MAX_STOP_BYTES, MAX_STOPS, Prompt, Request, Sampling,
};
pub use stream::{FinishReason, Generation, Step};
