//! Items as the messages of a chat template.

use std::collections::HashMap;

use trilith_core::{
    Call, CallKind, CallResult, Error, Instructions, Item, ItemBody, Loss, Message, Part, PartKind,
    ResultOutput, ResultStatus, Role, Settings,
};

use super::prompt::{Report, unsupported};
use super::tools::{INPUT_FIELD, Tools};
use crate::{ChatMessage, HistoricCall};

/// Put in front of the output of a tool that failed, since templates have no place to say so.
const FAILED_TOOL: &str = "[the tool failed]\n";

/// The conversation, oldest message first.
///
/// # Errors
/// An item or part is not text, or calls and results do not match.
pub(super) fn messages(
    settings: &Settings,
    input: &[Item],
    tools: &Tools,
    report: &mut Report,
) -> Result<Vec<ChatMessage>, Error> {
    let mut writer = Writer { tools, report, messages: Vec::new(), open: HashMap::new() };
    match &settings.instructions {
        None => {}
        Some(Instructions::Text(text)) => writer.system(text.clone()),
        Some(Instructions::Items(items)) => writer.items("instructions", items)?,
    }
    writer.items("input", input)?;
    writer.finish()
}

struct Writer<'w> {
    tools: &'w Tools,
    report: &'w mut Report,
    messages: Vec<ChatMessage>,
    /// The calls without a result so far, by their id; with the name that the model sees.
    open: HashMap<Box<str>, String>,
}

impl Writer<'_> {
    fn items(&mut self, list: &str, items: &[Item]) -> Result<(), Error> {
        items.iter().enumerate().try_for_each(|(place, item)| self.item(&format!("{list}[{place}]"), item))
    }

    fn item(&mut self, at: &str, item: &Item) -> Result<(), Error> {
        self.report.foreign(at, &item.extra);
        match &item.body {
            ItemBody::Message(message) => self.message(at, message)?,
            ItemBody::Reasoning(_) => {
                let why = "earlier reasoning is not shown to the embedded model";
                self.report.add_once(Loss::hint(at, why));
            }
            ItemBody::Call(call) if is_function(call.kind) => self.call(at, call)?,
            ItemBody::Result(result) if is_function(result.kind) => self.result(at, result)?,
            // The tools that are offered already follow from it.
            ItemBody::ToolsChange(_) => {}
            ItemBody::ConfigurationUpdate(_) => {
                self.report.add(Loss::warn(at, "later settings do not reach the embedded model"));
            }
            ItemBody::Call(Call { kind, .. }) | ItemBody::Result(CallResult { kind, .. }) => {
                return Err(not_text(at, &format!("a {} item", kind.name())));
            }
            ItemBody::Compaction(_) => return Err(not_text(at, "compacted history")),
            ItemBody::CompactionTrigger => return Err(not_text(at, "a request to compact")),
            ItemBody::Reference(_) => {
                return Err(not_text(at, "a reference to an item that is not known here"));
            }
            ItemBody::Opaque(opaque) => {
                return Err(not_text(at, &format!("an item of type {}", opaque.kind)));
            }
        }
        Ok(())
    }

    fn message(&mut self, at: &str, message: &Message) -> Result<(), Error> {
        if message.name.is_some() {
            let why = "the embedded model is not told the names of speakers";
            self.report.add_once(Loss::warn(format!("{at}.name"), why));
        }
        let text = self.parts(&format!("{at}.content"), &message.parts)?;
        match message.role {
            Role::System | Role::Developer => self.system(text),
            Role::User => self.messages.push(ChatMessage::User(text)),
            Role::Assistant => self.messages.push(ChatMessage::Assistant { text, tool_calls: Vec::new() }),
        }
        Ok(())
    }

    /// Instructions that follow each other are one message, since many templates take one only.
    fn system(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(ChatMessage::System(before)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            _ => self.messages.push(ChatMessage::System(text)),
        }
    }

    fn call(&mut self, at: &str, call: &Call) -> Result<(), Error> {
        let Some(id) = &call.call_id else {
            return Err(Error::bad_request(at, format!("'{at}' is a call without an id")));
        };
        let name = self.tools.shown(call.namespace.as_deref(), &call.name);
        let arguments = match call.kind {
            CallKind::Custom => serde_json::json!({ INPUT_FIELD: call.args }).to_string(),
            _ => call.args.clone(),
        };
        self.open.insert(id.clone(), name.clone());
        let call = HistoricCall { id: id.to_string(), name, arguments };
        match self.messages.last_mut() {
            Some(ChatMessage::Assistant { tool_calls, .. }) => tool_calls.push(call),
            _ => {
                self.messages.push(ChatMessage::Assistant { text: String::new(), tool_calls: vec![call] });
            }
        }
        Ok(())
    }

    fn result(&mut self, at: &str, result: &CallResult) -> Result<(), Error> {
        let id = result.call_id.as_deref().unwrap_or_default();
        let Some(name) = self.open.remove(id) else {
            let text = format!("No tool call found for function call output with call_id {id}.");
            return Err(Error::bad_request("input", text));
        };
        let mut text = match &result.output {
            ResultOutput::Text(text) => text.clone(),
            ResultOutput::Parts(parts) => self.parts(&format!("{at}.output"), parts)?,
        };
        if result.status == Some(ResultStatus::Error) {
            text.insert_str(0, FAILED_TOOL);
        }
        self.messages.push(ChatMessage::ToolResult { call_id: id.to_owned(), name, text });
        Ok(())
    }

    /// The text of all parts, one after the other on lines of their own.
    fn parts(&mut self, at: &str, parts: &[Part]) -> Result<String, Error> {
        let mut all = String::new();
        for (place, part) in parts.iter().enumerate() {
            if place > 0 {
                all.push('\n');
            }
            all.push_str(self.part(&format!("{at}[{place}]"), part)?);
        }
        Ok(all)
    }

    fn part<'p>(&mut self, at: &str, part: &'p Part) -> Result<&'p str, Error> {
        self.report.foreign(at, &part.extra);
        if part.cache_mark.is_some() {
            let why = "cache marks are not needed: the last conversation is kept";
            self.report.add_once(Loss::hint(at, why));
        }
        match &part.kind {
            PartKind::Text(text) => Ok(&text.text),
            PartKind::Refusal(refusal) => Ok(refusal),
            PartKind::Json(json) | PartKind::SearchResult(json) => {
                self.report.add(Loss::emulate(at, "shown to the embedded model as the text of its JSON"));
                Ok(json.as_str())
            }
            kind @ (PartKind::Image(_)
            | PartKind::Audio(_)
            | PartKind::Video(_)
            | PartKind::File(_)
            | PartKind::Opaque { .. }) => Err(not_text(at, &format!("a part of type {}", kind.name()))),
        }
    }

    fn finish(self) -> Result<Vec<ChatMessage>, Error> {
        match self.open.keys().min() {
            None => Ok(self.messages),
            Some(id) => {
                let text = format!("No tool output found for function call {id}.");
                Err(Error::bad_request("input", text))
            }
        }
    }
}

/// Whether it is of a kind that can be shown as a function.
const fn is_function(kind: CallKind) -> bool {
    matches!(kind, CallKind::Function | CallKind::Custom)
}

fn not_text(at: &str, what: &str) -> Error {
    let mut error = unsupported(at, &format!("takes text only, and this is {what}"));
    error.code = Some("unsupported_content".into());
    error
}
