//! The pieces a message or a tool result is made of.

use crate::{DialectId, Extra, Json};

/// A place up to which the caller asks for prompt caching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheMark {
    /// Five minutes (Messages' default).
    M5,
    /// Thirty minutes (OpenAI's default).
    M30,
    /// One hour.
    H1,
    /// Twelve hours.
    H12,
}

/// One piece of content.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Whether the caller asked to cache up to here.
    pub cache_mark: Option<CacheMark>,
    /// Fields that only one dialect understands.
    pub extra: Extra,
}

/// What a piece of content is.
#[derive(Clone, Debug, PartialEq)]
pub enum PartKind {
    /// Text with its annotations.
    Text(Text),
    /// The model's own words for declining.
    Refusal(String),
    /// A still image.
    Image(Image),
    /// Sound, from the caller or from the model.
    Audio(Audio),
    /// A moving image.
    Video(MediaSource),
    /// A document.
    File(File),
    /// A search result block, as its dialect spells it.
    SearchResult(Json),
    /// Structured data in a tool result.
    Json(Json),
    /// A part that only its own dialect understands.
    Opaque {
        /// That dialect.
        dialect: DialectId,
        /// The part as it came.
        json: Json,
    },
}

impl PartKind {
    /// A short word for reports and errors.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Refusal(_) => "refusal",
            Self::Image(_) => "image",
            Self::Audio(_) => "audio",
            Self::Video(_) => "video",
            Self::File(_) => "file",
            Self::SearchResult(_) => "search result",
            Self::Json(_) => "json",
            Self::Opaque { .. } => "opaque",
        }
    }
}

impl Part {
    /// A part of that kind, without mark or extra fields.
    pub const fn new(kind: PartKind) -> Self {
        Self { kind, cache_mark: None, extra: Extra::EMPTY }
    }

    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartKind::Text(Text { text: text.into(), ..Text::default() }))
    }

    /// The text, if this is a text part.
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            PartKind::Text(text) => Some(&text.text),
            _ => None,
        }
    }
}

/// Text, its annotations and, when asked for, the log-probabilities of its tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Citations and other marks over the text.
    pub annotations: Vec<Annotation>,
    /// Log-probabilities, when the request asked for them.
    pub logprobs: Vec<Logprob>,
}

/// A mark over a range of a text part. Offsets count Unicode code points of that part.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// What the mark refers to.
    pub kind: AnnotationKind,
    /// First code point, where the dialect gives a range.
    pub start: Option<u32>,
    /// One past the last code point.
    pub end: Option<u32>,
    /// The single position at which it applies, where the dialect gives no range.
    pub index: Option<u32>,
    /// Fields that only one dialect understands.
    pub extra: Extra,
}

/// What an annotation refers to.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationKind {
    /// A web page.
    Url {
        /// Address.
        url: Box<str>,
        /// Title, possibly empty.
        title: Box<str>,
    },
    /// A file given to the model.
    File {
        /// File id.
        file_id: Box<str>,
        /// File name.
        filename: Box<str>,
    },
    /// A file that the model made in a container.
    ContainerFile {
        /// Container id.
        container_id: Box<str>,
        /// File id.
        file_id: Box<str>,
        /// File name.
        filename: Box<str>,
    },
    /// A path of a generated file.
    FilePath {
        /// File id.
        file_id: Box<str>,
    },
    /// An annotation that only its own dialect understands.
    Opaque {
        /// That dialect.
        dialect: DialectId,
        /// The annotation as it came.
        json: Json,
    },
}

/// One alternative of a token.
#[derive(Clone, Debug, PartialEq)]
pub struct TopLogprob {
    /// The token's text.
    pub token: Box<str>,
    /// Natural logarithm of its probability.
    pub logprob: f64,
    /// The token's bytes, when the upstream gave them.
    pub bytes: Option<Vec<u8>>,
}

/// The log-probability of one token and of its best alternatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Logprob {
    /// The token that was chosen.
    pub chosen: TopLogprob,
    /// The best tokens at this place.
    pub top: Vec<TopLogprob>,
}

/// Where the bytes of a media part are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaSource {
    /// Inline bytes in base64.
    Data {
        /// Media type, where the dialect names one.
        mime: Option<Box<str>>,
        /// The bytes in base64, as they came.
        base64: Box<str>,
    },
    /// An address to fetch.
    Url(Box<str>),
    /// An id in an upstream's file store; only that upstream can read it.
    FileId(Box<str>),
}

/// A still image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Where it is.
    pub source: MediaSource,
    /// Resolution hint (`low`, `high`, `auto`, `original`).
    pub detail: Option<Box<str>>,
}

/// Sound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audio {
    /// Bytes in base64; empty when only an id refers to an earlier answer.
    pub base64: String,
    /// Container format (`wav`, `mp3`, …), where named.
    pub format: Option<Box<str>>,
    /// The id by which an earlier spoken answer is meant.
    pub id: Option<Box<str>>,
    /// What is said.
    pub transcript: Option<String>,
    /// Unix seconds at which the upstream forgets the id.
    pub expires_at: Option<i64>,
}

/// A document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Where it is.
    pub source: MediaSource,
    /// Its name.
    pub filename: Option<Box<str>>,
    /// Resolution hint for its pages.
    pub detail: Option<Box<str>>,
}
