//! What a request asks for besides its items. A response keeps its settings, so that it can be shown again.

use crate::{Extra, Item, Json, Tool, ToolChoice};

/// Everything about a turn that is not an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The model's name as the caller wrote it.
    pub model: Box<str>,
    /// Text or items set before the conversation; never inherited by a later response.
    pub instructions: Option<Instructions>,
    /// The tools, in the caller's order.
    pub tools: Vec<Tool>,
    /// How the model may choose among them.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several calls may come in one answer.
    pub parallel_tool_calls: Option<bool>,
    /// How many hosted calls may run in total (1 or more).
    pub max_tool_calls: Option<u32>,
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// How much may be written.
    pub limits: Limits,
    /// How the model should think.
    pub reasoning: ReasoningSettings,
    /// What the text must look like.
    pub output: OutputSettings,
    /// What to do when the conversation does not fit.
    pub truncation: Option<Truncation>,
    /// Extra data asked for in items, in the words of the Responses dialect.
    pub include: Vec<Box<str>>,
    /// The caller's own key-value pairs, at most 16.
    pub metadata: Option<Vec<(Box<str>, Box<str>)>>,
    /// A stable id of the end user.
    pub safety_identifier: Option<Box<str>>,
    /// The older field for the same purpose.
    pub user: Option<Box<str>>,
    /// Routes requests with a common prefix to the same cache.
    pub prompt_cache_key: Option<Box<str>>,
    /// The service tier asked for.
    pub service_tier: Option<Box<str>>,
    /// Fields that only one dialect understands.
    pub extra: Extra,
}

/// Text or items set before the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Instructions {
    /// One text.
    Text(String),
    /// Items.
    Items(Vec<Item>),
}

/// How tokens are drawn. `None` leaves the upstream's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// 0 to 2.
    pub temperature: Option<f64>,
    /// 0 to 1.
    pub top_p: Option<f64>,
    /// Only the `k` best tokens.
    pub top_k: Option<u32>,
    /// Only tokens at least this likely relative to the best.
    pub min_p: Option<f64>,
    /// −2 to 2.
    pub presence_penalty: Option<f64>,
    /// −2 to 2.
    pub frequency_penalty: Option<f64>,
    /// For repeatable answers.
    pub seed: Option<i64>,
    /// A JSON object of token id to bias, untouched.
    pub logit_bias: Option<Json>,
    /// Texts at which to stop; never shown.
    pub stop: Vec<Box<str>>,
    /// How many answers (1 to 128).
    pub n: Option<u32>,
    /// Whether log-probabilities are wanted.
    pub logprobs: Option<bool>,
    /// How many alternatives per token (0 to 20).
    pub top_logprobs: Option<u32>,
}

/// How much may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Output tokens, reasoning included.
    pub max_output_tokens: Option<u64>,
}

/// How hard a model should think, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effort {
    /// Not at all.
    None,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// The usual amount.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// All it can.
    Max,
}

impl Effort {
    /// Every level, from least to most.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The word that the dialects share.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The level of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.name() == name)
    }
}

/// How the model should think.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReasoningSettings {
    /// How hard.
    pub effort: Option<Effort>,
    /// At most this many tokens (Messages and Gemini).
    pub budget_tokens: Option<u64>,
    /// Which summary is wanted (`auto`, `concise`, `detailed`).
    pub summary: Option<Box<str>>,
    /// Which earlier reasoning the model sees (`auto`, `current_turn`, `all_turns`).
    pub context: Option<Box<str>>,
    /// The reasoning mode (`standard`, `pro`, …).
    pub mode: Option<Box<str>>,
}

/// What the text must look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutputSettings {
    /// Its form.
    pub format: Option<TextFormat>,
    /// Its length.
    pub verbosity: Option<Verbosity>,
}

/// The form of the text.
#[derive(Clone, Debug, PartialEq)]
pub enum TextFormat {
    /// Free text.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that matches a schema.
    JsonSchema(OutputFormat),
}

impl TextFormat {
    /// What a model is told that cannot be held to the form; `None` for free text.
    pub fn in_words(&self) -> Option<String> {
        match self {
            Self::Text => None,
            Self::JsonObject => Some("Answer with one JSON object and nothing else.".to_owned()),
            Self::JsonSchema(format) => {
                let schema = format.schema.as_ref().map_or("{}", Json::as_str);
                let text = "Answer with one JSON value that matches this JSON Schema and nothing else:";
                Some(format!("{text}\n{schema}"))
            }
        }
    }
}

/// A schema the text must match.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputFormat {
    /// Its name; `None` becomes `response`.
    pub name: Option<Box<str>>,
    /// What it is for, for the model.
    pub description: Option<String>,
    /// The JSON Schema, untouched.
    pub schema: Option<Json>,
    /// Whether the text is guaranteed to match.
    pub strict: Option<bool>,
}

/// How long the text should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verbosity {
    /// Short.
    Low,
    /// As usual.
    Medium,
    /// Long.
    High,
}

/// What to do when the conversation does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truncation {
    /// Drop from the start.
    Auto,
    /// Refuse.
    Disabled,
}
