//! What a caller asks the model for.

use crate::GenerateError;

/// The most stop strings one request may have.
pub const MAX_STOPS: usize = 16;

/// The most bytes one stop string may have. Text that might become a stop string is held back, so this is
/// also the most text that can be held back.
pub const MAX_STOP_BYTES: usize = 1024;

/// One request for one answer.
#[derive(Debug, Clone)]
pub struct Request {
    /// What to answer or continue.
    pub prompt: Prompt,
    /// How to choose among the tokens the model finds likely.
    pub sampling: Sampling,
    /// The most tokens to write; `None` writes until the context is full. Zero writes nothing and reports
    /// the size of the prompt, without waiting for the model.
    pub max_tokens: Option<u32>,
    /// Texts that end the answer and are not part of it. At most [`MAX_STOPS`], each of 1 to
    /// [`MAX_STOP_BYTES`] bytes.
    pub stop: Vec<String>,
}

/// The two ways to prompt a model.
#[derive(Debug, Clone)]
pub enum Prompt {
    /// A conversation, rendered with the model's chat template. Control tokens spelled out in the
    /// messages stay plain text.
    Chat(Chat),
    /// Text to continue as it stands. Control tokens spelled out in it count as control tokens.
    Text(String),
}

/// A conversation and what its next turn may use.
#[derive(Debug, Clone, Default)]
pub struct Chat {
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Definitions of functions the model may call, each the JSON text of
    /// `{"type":"function","function":{"name":…,"description":…,"parameters":…}}`.
    pub tools: Vec<String>,
    /// The day the model should take for today, for templates that print it. This crate reads no clock.
    pub today: Option<CalendarDate>,
    /// Whether a reasoning model should think before it answers; `None` leaves it to the template.
    pub thinking: Option<bool>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatMessage {
    /// Instructions of the application.
    System(String),
    /// A message of the user.
    User(String),
    /// An earlier answer of the model.
    Assistant {
        /// The text of the answer; empty when it only called tools.
        text: String,
        /// The calls it made.
        tool_calls: Vec<HistoricCall>,
    },
    /// What a tool returned.
    ToolResult {
        /// The id of the call that is answered.
        call_id: String,
        /// The function that was called.
        name: String,
        /// Its output.
        text: String,
    },
}

/// A tool call that the model made in an earlier turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoricCall {
    /// The id by which the result refers to it.
    pub id: String,
    /// The function.
    pub name: String,
    /// Its arguments as JSON text.
    pub arguments: String,
}

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalendarDate {
    /// The year, such as 2026.
    pub year: i32,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, 1 to 31.
    pub day: u8,
}

/// How the next token is chosen. The default is the vendors' default: temperature 1, nothing cut off.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// 0 to 2; at 0 the likeliest token is always taken.
    pub temperature: f32,
    /// Above 0, up to 1: only the likeliest tokens that reach this probability together are considered.
    pub top_p: f32,
    /// Only so many of the likeliest tokens are considered; 0 considers all.
    pub top_k: u32,
    /// 0 to 1: tokens less likely than this part of the likeliest are not considered.
    pub min_p: f32,
    /// -2 to 2: taken from the score of every token that the answer already has.
    pub presence_penalty: f32,
    /// -2 to 2: taken from the score of a token for each time the answer already has it.
    pub frequency_penalty: f32,
    /// Equal seeds give equal answers to equal requests; `None` takes one from the system's entropy.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            temperature: 1.0,
            top_p: 1.0,
            top_k: 0,
            min_p: 0.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            seed: None,
        }
    }
}

impl Request {
    /// Checks every value against its documented range.
    ///
    /// # Errors
    /// [`GenerateError::InvalidParameter`] with the first value outside its range.
    pub(crate) fn validate(&self) -> Result<(), GenerateError> {
        let sampling = &self.sampling;
        let invalid = |name, reason| Err(GenerateError::InvalidParameter { name, reason });
        if !(0.0..=2.0).contains(&sampling.temperature) {
            return invalid("temperature", "must be between 0 and 2");
        }
        if !(sampling.top_p > 0.0 && sampling.top_p <= 1.0) {
            return invalid("top_p", "must be above 0 and at most 1");
        }
        if i32::try_from(sampling.top_k).is_err() {
            return invalid("top_k", "must be at most 2147483647");
        }
        if !(0.0..=1.0).contains(&sampling.min_p) {
            return invalid("min_p", "must be between 0 and 1");
        }
        if !(-2.0..=2.0).contains(&sampling.presence_penalty) {
            return invalid("presence_penalty", "must be between -2 and 2");
        }
        if !(-2.0..=2.0).contains(&sampling.frequency_penalty) {
            return invalid("frequency_penalty", "must be between -2 and 2");
        }
        if self.stop.len() > MAX_STOPS {
            return invalid("stop", "must have at most 16 strings");
        }
        if self.stop.iter().any(|stop| stop.is_empty() || stop.len() > MAX_STOP_BYTES) {
            return invalid("stop", "must have strings of 1 to 1024 bytes");
        }
        Ok(())
    }
}
