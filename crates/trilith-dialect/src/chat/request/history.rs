//! The order rules of a conversation: every call is answered right after the message that made it, and
//! nothing else is an answer (the real wire's rules and texts).

use trilith_core::{Call, CallKind, CallResult, Error, Item, ItemBody, Loss, ResultOutput, ResultStatus};

use super::{
    ERROR_MARKER,
    content::{self, Allowed},
    messages,
    wire::{Content, Message},
};
use crate::{
    chat::object::{invalid, missing},
    values::unknown_word,
};

const ROLES: [&str; 6] = ["developer", "system", "user", "assistant", "tool", "function"];

/// A call of the newest assistant message.
struct Asked {
    id: Box<str>,
    name: Box<str>,
    kind: CallKind,
    /// The item that answers it.
    answer: Option<usize>,
}

/// The items read so far.
pub(super) struct History {
    items: Vec<Item>,
    /// The calls of the newest assistant message.
    asked: Vec<Asked>,
    losses: Vec<Loss>,
}

impl History {
    pub(super) fn new(expected: usize) -> Self {
        Self { items: Vec::with_capacity(expected), asked: Vec::new(), losses: Vec::new() }
    }

    /// Takes message number `place`.
    pub(super) fn take(&mut self, place: usize, mut wire: Message<'_>) -> Result<(), Error> {
        let at = format!("messages[{place}]");
        let role = wire.role.take().ok_or_else(|| missing(&format!("{at}.role")))?;
        match &*role {
            "tool" => return self.tool(&at, wire),
            "function" => return self.function(&at, wire),
            _ => self.close()?,
        }
        match &*role {
            "assistant" => {
                let first = self.items.len();
                messages::assistant(&at, place, wire, &mut self.items, &mut self.losses)?;
                let made = self.items.iter().skip(first).filter_map(|item| match &item.body {
                    ItemBody::Call(call) => Some(asked(call)),
                    _ => None,
                });
                self.asked.extend(made);
                Ok(())
            }
            role if ROLES.contains(&role) => {
                self.items.push(messages::spoken(&at, role, wire)?);
                Ok(())
            }
            word => Err(unknown_word(&format!("{at}.role"), word, &ROLES)),
        }
    }

    /// The items, once every message is read.
    pub(super) fn end(mut self, losses: &mut Vec<Loss>) -> Result<Vec<Item>, Error> {
        self.close()?;
        losses.append(&mut self.losses);
        Ok(self.items)
    }

    fn close(&mut self) -> Result<(), Error> {
        let open: Vec<&str> =
            self.asked.iter().filter(|asked| asked.answer.is_none()).map(|asked| &*asked.id).collect();
        if !open.is_empty() {
            let text = format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                open.join(", ")
            );
            return Err(invalid("messages", text));
        }
        self.asked.clear();
        Ok(())
    }

    fn tool(&mut self, at: &str, wire: Message<'_>) -> Result<(), Error> {
        let id = wire.tool_call_id.ok_or_else(|| missing(&format!("{at}.tool_call_id")))?;
        let content = wire.content.ok_or_else(|| missing(&format!("{at}.content")))?;
        let Some(asked) = self.asked.iter_mut().find(|asked| asked.id == id) else {
            let text = format!(
                "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'. No \
                 tool call with the id '{id}' precedes this message."
            );
            return Err(invalid(&format!("{at}.tool_call_id"), text));
        };
        let mut item = Item::new(ItemBody::Result(CallResult {
            kind: asked.kind,
            call_id: Some(id),
            name: wire.name,
            namespace: None,
            status: None,
            output: output(&format!("{at}.content"), content)?,
            caller: None,
            detail: None,
        }));
        mark_failure(&mut item);
        crate::chat::object::keep(&mut item.extra, "", wire.rest);
        match asked.answer {
            Some(earlier) => {
                if let Some(slot) = self.items.get_mut(earlier) {
                    *slot = item;
                }
                self.losses.push(Loss::warn(at, "answers a call again; the last answer is used"));
            }
            None => {
                asked.answer = Some(self.items.len());
                self.items.push(item);
            }
        }
        Ok(())
    }

    /// The deprecated role: it answers by name.
    fn function(&mut self, at: &str, wire: Message<'_>) -> Result<(), Error> {
        let name = wire.name.ok_or_else(|| missing(&format!("{at}.name")))?;
        let open = self.asked.iter().find(|asked| asked.name == name && asked.answer.is_none());
        let Some(id) = open.map(|asked| asked.id.clone()) else {
            let text = format!(
                "Messages with role 'function' must be a response to a preceding message with \
                 'function_call'. No call of '{name}' precedes this message."
            );
            return Err(invalid(&format!("{at}.name"), text));
        };
        let content = Some(wire.content.unwrap_or(Content::Text(String::new())));
        self.tool(at, Message { tool_call_id: Some(id), content, rest: wire.rest, ..Message::default() })
    }
}

fn asked(call: &Call) -> Asked {
    Asked {
        id: call.call_id.clone().unwrap_or_default(),
        name: call.name.clone(),
        kind: call.kind,
        answer: None,
    }
}

fn output(at: &str, content: Content<'_>) -> Result<ResultOutput, Error> {
    match content {
        Content::Text(text) => Ok(ResultOutput::Text(text)),
        content => content::parts(at, content, Allowed::Text).map(ResultOutput::Parts),
    }
}

/// Reads the marker line back into a status.
fn mark_failure(item: &mut Item) {
    let ItemBody::Result(result) = &mut item.body else { return };
    let text = match &mut result.output {
        ResultOutput::Text(text) => Some(text),
        ResultOutput::Parts(parts) => match parts.first_mut().map(|part| &mut part.kind) {
            Some(trilith_core::PartKind::Text(text)) => Some(&mut text.text),
            _ => None,
        },
    };
    if let Some(text) = text
        && text.starts_with(ERROR_MARKER)
    {
        text.drain(..ERROR_MARKER.len());
        result.status = Some(ResultStatus::Error);
    }
}
