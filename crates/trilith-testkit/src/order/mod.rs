//! Event-order state machines: they take every frame that a client would see and stop at the first step that
//! the wire does not allow (openai-checklist §3.3 and §11.2, translation contract §16).

mod chat;
mod completions;
mod messages;
mod responses;

pub use chat::ChatOrder;
pub use completions::CompletionsOrder;
pub use messages::MessagesOrder;
pub use responses::ResponsesOrder;

use serde_json::Value;
use trilith_core::DialectId;

/// A state machine over the frames of one stream.
pub trait Order {
    /// Takes one frame, its closing blank line included.
    ///
    /// # Errors
    /// What is wrong with it at this place.
    fn frame(&mut self, frame: &str) -> Result<(), String>;

    /// The stream has ended.
    ///
    /// # Errors
    /// What is missing.
    fn end(&mut self) -> Result<(), String>;
}

/// The state machine of a dialect, if it has one.
pub fn of(dialect: DialectId) -> Option<Box<dyn Order>> {
    match dialect {
        DialectId::Chat => Some(Box::new(ChatOrder::default())),
        DialectId::Responses => Some(Box::new(ResponsesOrder::default())),
        DialectId::Completions => Some(Box::new(CompletionsOrder::default())),
        DialectId::Messages => Some(Box::new(MessagesOrder::default())),
        _ => None,
    }
}

/// Runs a whole stream through the state machine of its dialect.
///
/// # Errors
/// The first illegal step, with the number of its frame (from 0) and the frame itself.
pub fn check(dialect: DialectId, stream: &[u8]) -> Result<(), String> {
    let mut order = of(dialect).ok_or_else(|| format!("no order is known for {}", dialect.name()))?;
    check_with(&mut *order, stream)
}

/// Runs a whole stream through a state machine.
///
/// # Errors
/// As for [`check`].
pub fn check_with(order: &mut dyn Order, stream: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(stream).map_err(|why| format!("the stream is not UTF-8: {why}"))?;
    if text.contains('\r') {
        return Err("the stream has a carriage return; lines end in \\n only".into());
    }
    let mut rest = text;
    let mut number = 0;
    while !rest.is_empty() {
        let Some(at) = rest.find("\n\n") else {
            return Err(format!("the last frame has no blank line: {rest}"));
        };
        let (frame, after) = rest.split_at(at + 2);
        order.frame(frame).map_err(|why| format!("frame {number}: {why}\n{frame}"))?;
        (rest, number) = (after, number + 1);
    }
    order.end().map_err(|why| format!("after {number} frames: {why}"))
}

/// The fields of a frame.
struct Fields<'a> {
    event: Option<&'a str>,
    /// `None` for a frame of comments.
    data: Option<&'a str>,
}

fn fields(frame: &str) -> Result<Fields<'_>, String> {
    let lines = frame.strip_suffix("\n\n").ok_or("a frame ends in one blank line")?;
    let mut fields = Fields { event: None, data: None };
    for line in lines.split('\n') {
        if line.starts_with(':') {
            continue;
        }
        let (name, value) = line.split_once(": ").ok_or("a line is `name: value`")?;
        match name {
            "event" if fields.event.is_none() && fields.data.is_none() => fields.event = Some(value),
            "data" if fields.data.is_none() => fields.data = Some(value),
            _ => return Err(format!("the line `{name}` is too much, or comes too late")),
        }
    }
    if fields.event.is_some() && fields.data.is_none() {
        return Err("an event without data".into());
    }
    Ok(fields)
}

fn object(data: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(data).map_err(|why| format!("the data is not JSON: {why}"))?;
    if value.is_object() { Ok(value) } else { Err("the data is not an object".into()) }
}

fn string<'a>(value: &'a Value, name: &str) -> Result<&'a str, String> {
    value.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` must be a string"))
}

fn number(value: &Value, name: &str) -> Result<u64, String> {
    value.get(name).and_then(Value::as_u64).ok_or_else(|| format!("`{name}` must be a number from 0"))
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    value.get(name).and_then(Value::as_array).ok_or_else(|| format!("`{name}` must be a list"))
}

fn ensure(holds: bool, why: impl Into<String>) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why.into()) }
}
