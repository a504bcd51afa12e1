//! The names of the wire languages.

/// A wire language that clients or providers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DialectId {
    /// OpenAI Completions (`/v1/completions`).
    Completions,
    /// OpenAI Chat Completions (`/v1/chat/completions`).
    Chat,
    /// OpenAI Responses and Open Responses (`/v1/responses`).
    Responses,
    /// Anthropic Messages (`/v1/messages`).
    Messages,
    /// Google Gemini `generateContent`.
    Gemini,
    /// Google Gemini Interactions.
    Interactions,
    /// Amazon Bedrock Converse.
    Converse,
}

impl DialectId {
    /// Every dialect, in a fixed order.
    pub const ALL: [Self; 7] = [
        Self::Completions,
        Self::Chat,
        Self::Responses,
        Self::Messages,
        Self::Gemini,
        Self::Interactions,
        Self::Converse,
    ];

    /// The name used in configuration, stored rows, metrics and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Completions => "completions",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
            Self::Interactions => "interactions",
            Self::Converse => "converse",
        }
    }

    /// The dialect of that name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }
}
