//! What can go wrong at loading and at answering, in words for the person who runs the server.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a model could not be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// The CPU lacks instruction-set extensions that this build of the engine uses.
    Cpu {
        /// The missing extensions by their usual names, such as `avx2`.
        missing: Vec<&'static str>,
    },
    /// The file could not be opened or read.
    File {
        /// The file asked for.
        path: PathBuf,
        /// What the operating system answered.
        source: io::Error,
    },
    /// The file is not a GGUF file this engine reads.
    NotGguf {
        /// The file asked for.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file ends before the data its header announces: usually an interrupted download.
    Truncated {
        /// The file asked for.
        path: PathBuf,
        /// The least number of bytes the header asks for.
        needed_bytes: u64,
        /// The number of bytes in the file.
        actual_bytes: u64,
    },
    /// The file holds a model that does not write text, such as a sentence encoder.
    NotGenerative {
        /// The file asked for.
        path: PathBuf,
        /// The architecture named in the file.
        architecture: String,
    },
    /// The chat template of the file, or the one given, is not valid.
    ChatTemplate(String),
    /// The native engine refused the file.
    Native {
        /// The file asked for.
        path: PathBuf,
        /// The engine's own error lines.
        reason: String,
    },
    /// The context could not be set up, usually for want of memory.
    Context {
        /// The context length asked for, in tokens.
        context_tokens: u32,
        /// The engine's own error lines.
        reason: String,
    },
    /// A thread of the engine could not be started.
    Thread(io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu { missing } => write!(
                f,
                "this CPU lacks {} and this build of the model engine needs them: \
                 use a build for an older CPU level, or another machine",
                missing.join(", ")
            ),
            Self::File { path, source } => {
                write!(f, "the model file {} cannot be read: {source}", path.display())
            }
            Self::NotGguf { path, reason } => {
                write!(f, "{} is not a usable GGUF file: {reason}", path.display())
            }
            Self::Truncated { path, needed_bytes, actual_bytes } => write!(
                f,
                "{} is cut short: its header asks for {needed_bytes} bytes and the file has {actual_bytes}; \
                 download it again",
                path.display()
            ),
            Self::NotGenerative { path, architecture } => write!(
                f,
                "{} holds a model of architecture {architecture:?}, which does not write text",
                path.display()
            ),
            Self::ChatTemplate(reason) => write!(f, "the chat template is not valid: {reason}"),
            Self::Native { path, reason } => {
                write!(f, "the engine refused {}: {reason}", path.display())
            }
            Self::Context { context_tokens, reason } => write!(
                f,
                "a context of {context_tokens} tokens could not be set up: {reason}; \
                 a smaller context needs less memory"
            ),
            Self::Thread(source) => write!(f, "a thread of the model engine could not be started: {source}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { source, .. } | Self::Thread(source) => Some(source),
            _ => None,
        }
    }
}

/// Why a request was refused, or why its answer broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GenerateError {
    /// The queue is full. Trying again later is the right answer.
    Busy {
        /// The number of requests that are waiting or being answered.
        in_flight: usize,
    },
    /// A value of the request is outside its range.
    InvalidParameter {
        /// The field of [`Request`](crate::Request) or [`Sampling`](crate::Sampling).
        name: &'static str,
        /// The range it must keep.
        reason: &'static str,
    },
    /// The prompt leaves no room for an answer in the context window. Nothing was decoded.
    ContextLengthExceeded {
        /// The tokens of the prompt. For prompts too large to be worth counting, a lower bound that is
        /// already above the context.
        prompt_tokens: u64,
        /// The context window, in tokens.
        context_tokens: u32,
    },
    /// The prompt has no tokens, and the model has no token to begin a text with.
    EmptyPrompt,
    /// The chat template refused the messages, for instance because of their order.
    Template(String),
    /// The native engine failed while decoding.
    Engine(String),
    /// The model was dropped, or its thread ended, before the answer was complete.
    Stopped,
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy { in_flight } => {
                write!(f, "the embedded model is busy: {in_flight} requests are in flight")
            }
            Self::InvalidParameter { name, reason } => write!(f, "{name} {reason}"),
            Self::ContextLengthExceeded { prompt_tokens, context_tokens } => write!(
                f,
                "the prompt has {prompt_tokens} tokens, and the context of this model is {context_tokens} \
                 tokens, prompt and answer together"
            ),
            Self::EmptyPrompt => f.write_str("the prompt is empty"),
            Self::Template(reason) => write!(f, "the chat template refused the messages: {reason}"),
            Self::Engine(reason) => write!(f, "the model engine failed: {reason}"),
            Self::Stopped => f.write_str("the embedded model was shut down"),
        }
    }
}

impl std::error::Error for GenerateError {}
