//! What a script says, once read.

mod content;
mod parse;
mod value;
mod words;

use std::{fmt, time::Duration};

use trilith_core::{ErrorKind, FinishReason, Logprob, Phase, Usage};

/// Answers to play, in order.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) answers: Vec<Answer>,
    pub(crate) at_end: AtEnd,
    pub(crate) models: Vec<String>,
}

impl Script {
    /// Reads a script. `file` is only named in errors.
    ///
    /// # Errors
    /// The first line that is wrong, by file and line.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScriptError> {
        parse::script(text).map_err(|(line, why)| ScriptError { file: file.into(), line, why })
    }
}

/// A line of a script that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    file: Box<str>,
    line: usize,
    why: String,
}

impl ScriptError {
    /// The line that is wrong, from 1.
    pub const fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.why)
    }
}

impl std::error::Error for ScriptError {}

/// What happens to a request after every answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// The last answer again.
    #[default]
    Repeat,
    /// From the first answer on.
    Loop,
    /// An error that says so.
    Refuse,
}

/// One answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Where it begins in the file, from 1.
    pub(crate) line: usize,
    pub(crate) when: Vec<When>,
    /// How often it may be given; `None` for an answer in line (once) or a conditional one (always).
    pub(crate) times: Option<u32>,
    pub(crate) wire: Wire,
    pub(crate) steps: Vec<Step>,
}

/// A condition on the request.
#[derive(Clone, Debug)]
pub(crate) enum When {
    /// The body has this text.
    Body(String),
    /// The path has this text.
    Path(String),
}

/// How an answer travels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) shape: Shape,
    pub(crate) framing: Framing,
    pub(crate) coding: Coding,
    pub(crate) line_end: LineEnd,
    /// Body bytes of one TCP write; `None` writes each event at once.
    pub(crate) chunk: Option<usize>,
    /// Everything up to the next wait in one write.
    pub(crate) burst: bool,
    /// The closing sentinel is left out.
    pub(crate) no_sentinel: bool,
    /// The answer stops without saying why.
    pub(crate) no_finish: bool,
    /// How it ends before its end, after that many body bytes.
    pub(crate) halt: Option<(u64, Halt)>,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) fingerprint: Option<String>,
    pub(crate) tier: Option<String>,
}

/// Stream or whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Shape {
    #[default]
    AsAsked,
    Stream,
    Whole,
}

/// How the receiver knows where the body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Chunks for streams, a length for the rest.
    #[default]
    Auto,
    /// The connection closes.
    UntilClose,
}

/// How the body is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Coding {
    #[default]
    Plain,
    Gzip,
    Brotli,
    Zstd,
}

/// How lines of a stream end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LineEnd {
    #[default]
    Lf,
    CrLf,
    Cr,
}

/// A way to end before the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// The connection is closed in order.
    Close,
    /// The connection is reset.
    Reset,
    /// Nothing more comes, and the connection stays open.
    Hang,
}

/// One step of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Something that the dialect spells.
    Content(Content),
    /// These bytes as they are.
    Bytes(Vec<u8>),
    /// Silence.
    Wait(Duration),
    /// The end, here.
    Halt(Halt),
    /// A step that many times.
    Repeat(u32, Box<Step>),
}

impl Step {
    /// Whether this is something that the model says, and no error in its place.
    pub(crate) fn is_said(&self) -> bool {
        match self {
            Self::Content(content) => !matches!(content, Content::Error(_)),
            Self::Repeat(_, step) => step.is_said(),
            Self::Bytes(_) | Self::Wait(_) | Self::Halt(_) => false,
        }
    }

    /// Whether the dialect spells it.
    pub(crate) fn is_content(&self) -> bool {
        match self {
            Self::Content(_) => true,
            Self::Repeat(_, step) => step.is_content(),
            Self::Bytes(_) | Self::Wait(_) | Self::Halt(_) => false,
        }
    }
}

/// Something that the dialect spells.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Text {
        delta: String,
        logprobs: Vec<Logprob>,
    },
    Refusal(String),
    Reasoning(String),
    Summary(String),
    Sealed(String),
    NewMessage(Option<Phase>),
    NewReasoning,
    NewPart,
    Call(CallWord, String),
    Open(String, CallWord),
    Arguments(String, String),
    Close(String),
    Cite {
        url: String,
        range: Option<(u32, u32)>,
        title: String,
    },
    Audio {
        data: String,
        transcript: String,
    },
    Image(String),
    Choice(u16),
    Usage(Usage),
    Finish(FinishReason),
    Fail(Failure),
    /// Instead of any answer: an error with its status and headers.
    Error(Failure),
}

/// Which tool is called.
#[derive(Clone, Debug)]
pub(crate) struct CallWord {
    pub(crate) custom: bool,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) id: Option<String>,
}

/// Something that goes wrong on purpose.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) status: u16,
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Failure {
    /// The class whose usual status this is.
    pub(crate) fn kind(&self) -> ErrorKind {
        match (self.status, self.code.as_str()) {
            (402, _) | (_, "insufficient_quota") => ErrorKind::QuotaExhausted,
            (_, "context_length_exceeded") => ErrorKind::ContextTooLong,
            (401, _) => ErrorKind::Unauthorized,
            (403, _) => ErrorKind::Forbidden,
            (404, _) => ErrorKind::NotFound,
            (405, _) => ErrorKind::MethodNotAllowed,
            (408 | 504, _) => ErrorKind::Timeout,
            (409, _) => ErrorKind::Conflict,
            (413, _) => ErrorKind::TooLarge,
            (415, _) => ErrorKind::UnsupportedMediaType,
            (426, _) => ErrorKind::UpgradeRequired,
            (429, _) => ErrorKind::RateLimited,
            (502, _) => ErrorKind::UpstreamBroken,
            (503 | 529, _) => ErrorKind::Overloaded,
            (400..=499, _) => ErrorKind::BadRequest,
            _ => ErrorKind::Internal,
        }
    }
}

#[cfg(test)]
mod tests;
