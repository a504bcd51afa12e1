//! Thinking and tool calls inside the text of a chat answer.
//!
//! The tags are those that Qwen, Hermes, SmolLM and DeepSeek models are trained on: `<think>…</think>`
//! before the answer, and `<tool_call>{"name":…,"arguments":…}</tool_call>` for a call (an array of such
//! objects is read as several calls). Text that merely looks like the beginning of a tag is held back until
//! it is decided.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::begun;
use crate::stream::Step;

const THINK_OPEN: &str = "<think>";
const THINK_CLOSE: &str = "</think>";
const CALL_OPEN: &str = "<tool_call>";
const CALL_CLOSE: &str = "</tool_call>";

/// The tags this module understands, for tokenizers in which they are control tokens.
pub(crate) const TAGS: [&str; 4] = [THINK_OPEN, THINK_CLOSE, CALL_OPEN, CALL_CLOSE];

/// Separates the text of one answer.
#[derive(Debug)]
pub(crate) struct Splitter {
    calls: bool,
    buffer: String,
    place: Place,
}

/// Where in the answer the buffer begins.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// At the very beginning, where thinking may begin.
    Start,
    /// Inside thinking; `fresh` until its first visible character.
    Thinking { fresh: bool },
    /// In the answer.
    Answer(Leading),
    /// Inside a tool call; no closing tag lies before `searched`.
    Call { searched: usize },
}

/// What becomes of white space at the beginning of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leading {
    /// It belongs to the answer.
    Keep,
    /// It belongs to the answer unless a tool call follows.
    Hold,
    /// It only separates the answer from a tag before it.
    Drop,
}

impl Splitter {
    /// A splitter for an answer that begins inside thinking when the prompt has already opened it
    /// (`thinking_open`), and that looks for tool calls when tools were offered (`calls`).
    pub(crate) fn new(thinking_open: bool, calls: bool) -> Self {
        let place = if thinking_open { Place::Thinking { fresh: true } } else { Place::Start };
        Self { calls, buffer: String::new(), place }
    }

    /// Takes the next piece of text and appends what is certain to `steps`.
    pub(crate) fn push(&mut self, text: &str, steps: &mut Vec<Step>) {
        self.buffer.push_str(text);
        while self.advance(steps) {}
    }

    /// Ends the answer. An unfinished call that is complete JSON counts as a call, since models often end
    /// right after it; any other unfinished call is the text it is.
    pub(crate) fn finish(&mut self, steps: &mut Vec<Step>) {
        let rest = std::mem::take(&mut self.buffer);
        match self.place {
            Place::Start | Place::Answer(Leading::Keep | Leading::Hold) => emit_text(&rest, steps),
            Place::Answer(Leading::Drop) => emit_text(rest.trim_start(), steps),
            Place::Thinking { fresh: true } => emit_reasoning(rest.trim(), steps),
            Place::Thinking { fresh: false } => emit_reasoning(rest.trim_end(), steps),
            Place::Call { .. } => {
                let body = &rest[..rest.len() - begun(&rest, CALL_CLOSE)];
                match parse_calls(body) {
                    Ok(calls) => steps.extend(calls),
                    Err(_) => emit_text(&format!("{CALL_OPEN}{rest}"), steps),
                }
            }
        }
    }

    /// Decides as much of the buffer as one rule can; `true` when another rule may go on.
    fn advance(&mut self, steps: &mut Vec<Step>) -> bool {
        match self.place {
            Place::Start => self.advance_start(),
            Place::Thinking { fresh } => self.advance_thinking(fresh, steps),
            Place::Answer(leading) => self.advance_answer(leading, steps),
            Place::Call { searched } => self.advance_call(searched, steps),
        }
    }

    fn advance_start(&mut self) -> bool {
        let visible = self.buffer.trim_start();
        if let Some(thinking) = visible.strip_prefix(THINK_OPEN) {
            self.buffer = thinking.to_owned();
            self.place = Place::Thinking { fresh: true };
            return true;
        }
        if THINK_OPEN.starts_with(visible) {
            return false;
        }
        self.place = Place::Answer(Leading::Hold);
        true
    }

    fn advance_thinking(&mut self, fresh: bool, steps: &mut Vec<Step>) -> bool {
        if fresh {
            self.drop_leading_space();
        }
        if let Some(end) = self.buffer.find(THINK_CLOSE) {
            emit_reasoning(self.buffer[..end].trim_end(), steps);
            self.buffer.drain(..end + THINK_CLOSE.len());
            self.place = Place::Answer(Leading::Drop);
            return true;
        }
        // White space before the closing tag is no part of the thinking, so it waits like the tag itself.
        let decided = self.buffer[..self.buffer.len() - begun(&self.buffer, THINK_CLOSE)].trim_end().len();
        if decided > 0 {
            emit_reasoning(&self.buffer[..decided], steps);
            self.buffer.drain(..decided);
            self.place = Place::Thinking { fresh: false };
        }
        false
    }

    fn advance_answer(&mut self, leading: Leading, steps: &mut Vec<Step>) -> bool {
        if leading == Leading::Drop {
            self.drop_leading_space();
        }
        let call = if self.calls { self.buffer.find(CALL_OPEN) } else { None };
        if let Some(start) = call {
            let before = &self.buffer[..start];
            if leading == Leading::Keep || !before.trim().is_empty() {
                emit_text(before, steps);
            }
            self.buffer.drain(..start + CALL_OPEN.len());
            self.place = Place::Call { searched: 0 };
            return true;
        }
        let undecided = if self.calls { begun(&self.buffer, CALL_OPEN) } else { 0 };
        let decided = self.buffer.len() - undecided;
        let text = &self.buffer[..decided];
        let hold = self.calls && leading != Leading::Keep && text.trim().is_empty();
        if decided > 0 && !hold {
            emit_text(text, steps);
            self.buffer.drain(..decided);
            self.place = Place::Answer(Leading::Keep);
        }
        false
    }

    fn advance_call(&mut self, searched: usize, steps: &mut Vec<Step>) -> bool {
        let Some(found) = self.buffer.get(searched..).and_then(|rest| rest.find(CALL_CLOSE)) else {
            let undecided = begun(&self.buffer, CALL_CLOSE);
            self.place = Place::Call { searched: (self.buffer.len() - undecided).max(searched) };
            return false;
        };
        let end = searched + found;
        match parse_calls(&self.buffer[..end]) {
            Ok(calls) => steps.extend(calls),
            // The tag stands inside a JSON string: an argument may well talk about tool calls.
            Err(error) if error.is_eof() && end > 0 => {
                self.place = Place::Call { searched: end + CALL_CLOSE.len() };
                return true;
            }
            Err(_) => {
                let raw = format!("{CALL_OPEN}{}{CALL_CLOSE}", &self.buffer[..end]);
                emit_text(&raw, steps);
            }
        }
        self.buffer.drain(..end + CALL_CLOSE.len());
        self.place = Place::Answer(Leading::Drop);
        true
    }

    fn drop_leading_space(&mut self) {
        let space = self.buffer.len() - self.buffer.trim_start().len();
        self.buffer.drain(..space);
    }
}

fn emit_text(text: &str, steps: &mut Vec<Step>) {
    if !text.is_empty() {
        steps.push(Step::Text(text.to_owned()));
    }
}

fn emit_reasoning(text: &str, steps: &mut Vec<Step>) {
    if !text.is_empty() {
        steps.push(Step::Reasoning(text.to_owned()));
    }
}

#[derive(Deserialize)]
struct WrittenCall {
    name: String,
    // Llama's format calls the same thing parameters.
    #[serde(default, alias = "parameters")]
    arguments: Option<Box<RawValue>>,
}

/// The calls written between two tags.
fn parse_calls(body: &str) -> Result<Vec<Step>, serde_json::Error> {
    let calls = if body.trim_start().starts_with('[') {
        serde_json::from_str::<Vec<WrittenCall>>(body)?
    } else {
        vec![serde_json::from_str::<WrittenCall>(body)?]
    };
    if calls.is_empty() || calls.iter().any(|call| call.name.is_empty()) {
        return Err(serde::de::Error::custom("a tool call without a name"));
    }
    Ok(calls.into_iter().map(written_step).collect())
}

fn written_step(call: WrittenCall) -> Step {
    let written = call.arguments.as_deref().map_or("null", RawValue::get);
    let arguments = match written {
        "null" => "{}".to_owned(),
        // Some models write the arguments as the vendors' wire does: JSON inside a string.
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_else(|_| text.to_owned()),
        object => object.to_owned(),
    };
    Step::ToolCall { name: call.name, arguments }
}
