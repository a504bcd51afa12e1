//! Messages in items, held to the wire's order: results answer the calls of the assistant's turn before them.

use serde_json::value::RawValue;
use trilith_core::{
    Call, CallKind, CallResult, Carrier, CarrierKind, Error, Extra, Item, ItemBody, Message, Opaque, Part,
    Reasoning, ResultOutput, ResultStatus, Role,
};

use super::{
    CACHE_CONTROL, MESSAGE_PREFIX,
    blocks::{self, Speaker},
    decode::{OWN, Version},
    object::{invalid, json, keep, missing, parse_at, unknown_word},
    wire::{self, Content, Redacted, Thought, ToolResult, ToolUse},
};

struct History {
    items: Vec<Item>,
    version: Version,
    /// Ids of the newest assistant turn's calls, and whether each is answered.
    asked: Vec<(Box<str>, bool)>,
    /// Whether something was said since that turn.
    left: bool,
}

/// The items of a conversation.
pub(super) fn decode(messages: Vec<wire::Message<'_>>, version: Version) -> Result<Vec<Item>, Error> {
    let last = messages.len() - 1;
    let mut history =
        History { items: Vec::with_capacity(messages.len()), version, asked: Vec::new(), left: false };
    for (place, mut message) in messages.into_iter().enumerate() {
        let at = format!("messages.{place}");
        let role = message.role.take().ok_or_else(|| missing(&format!("{at}.role")))?;
        let content = message.content.take().ok_or_else(|| missing(&format!("{at}.content")))?;
        let empty = match &content {
            Content::Text(text) => text.is_empty(),
            Content::Blocks(blocks) => blocks.is_empty(),
        };
        if empty && !(place == last && &*role == "assistant") {
            let why =
                "all messages must have non-empty content except for the optional final assistant message";
            return Err(invalid(&at, why));
        }
        let first = history.items.len();
        let at = format!("{at}.content");
        match &*role {
            "user" => history.user(place, &at, content)?,
            "assistant" => history.assistant(place, &at, content)?,
            "system" => {
                let parts = history.parts(&at, content, Speaker::System)?;
                history.items.push(message_item(Role::System, parts));
            }
            word => {
                return Err(unknown_word(
                    &format!("messages.{place}.role"),
                    word,
                    &["user", "assistant", "system"],
                ));
            }
        }
        history.own_fields(first, message.rest);
    }
    Ok(history.items)
}

fn message_item(role: Role, parts: Vec<Part>) -> Item {
    Item::new(ItemBody::Message(Message { role, parts, phase: None, name: None }))
}

impl History {
    fn parts(&self, at: &str, content: Content<'_>, speaker: Speaker) -> Result<Vec<Part>, Error> {
        match content {
            Content::Text(text) => Ok(vec![Part::text(text)]),
            Content::Blocks(blocks) => blocks::parts(at, blocks, speaker, self.version),
        }
    }

    /// Fields of the message itself stand on its first item that is a message, else on its first item.
    fn own_fields(&mut self, first: usize, rest: super::object::Rest<'_>) {
        let Some(made) = self.items.get_mut(first..) else { return };
        let place = made.iter().position(|item| matches!(item.body, ItemBody::Message(_)));
        if let Some(item) = made.get_mut(place.unwrap_or(0)) {
            let prefix = if place.is_some() { "" } else { MESSAGE_PREFIX };
            keep(&mut item.extra, prefix, rest);
        }
    }

    /// Adds a part to the message that is being made, or begins one.
    fn said(&mut self, first: usize, role: Role, part: Part) {
        if self.items.len() > first
            && let Some(Item { body: ItemBody::Message(message), .. }) = self.items.last_mut()
        {
            message.parts.push(part);
            return;
        }
        self.items.push(message_item(role, vec![part]));
    }

    fn user(&mut self, place: usize, at: &str, content: Content<'_>) -> Result<(), Error> {
        self.left = true;
        let blocks = match content {
            Content::Text(text) => {
                self.items.push(message_item(Role::User, vec![Part::text(text)]));
                return Ok(());
            }
            Content::Blocks(blocks) => blocks,
        };
        let first = self.items.len();
        for (number, raw) in blocks.into_iter().enumerate() {
            let at = format!("{at}.{number}");
            if &*blocks::kind(&at, raw)? == "tool_result" {
                let item = self.result(place, &at, raw)?;
                self.items.push(item);
            } else {
                let part = blocks::part(&at, raw, Speaker::User, self.version)?;
                self.said(first, Role::User, part);
            }
        }
        Ok(())
    }

    fn result(&mut self, place: usize, at: &str, raw: &RawValue) -> Result<Item, Error> {
        let wire: ToolResult<'_> = parse_at(at, raw)?;
        let param = format!("{at}.tool_use_id");
        let id = wire.tool_use_id.ok_or_else(|| missing(&param))?;
        check_id(&param, &id)?;
        let Some(asked) = self.asked.iter_mut().find(|(asked, _)| *asked == id) else {
            let why = format!(
                "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must \
                 have a corresponding `tool_use` block in the previous message."
            );
            return Err(invalid(&param, why));
        };
        if asked.1 {
            let why = format!("each `tool_use` must have a single result. Found multiple results for {id}.");
            return Err(invalid(&format!("messages.{place}.content"), why));
        }
        asked.1 = true;
        let output = match wire.content {
            None => ResultOutput::Text(String::new()),
            Some(Content::Text(text)) => ResultOutput::Text(text),
            Some(Content::Blocks(blocks)) => ResultOutput::Parts(blocks::parts(
                &format!("{at}.content"),
                blocks,
                Speaker::Tool,
                self.version,
            )?),
        };
        let status = wire.is_error.map(|failed| if failed { ResultStatus::Error } else { ResultStatus::Ok });
        let mut item = Item::new(ItemBody::Result(CallResult {
            kind: CallKind::Function,
            call_id: Some(id),
            name: None,
            namespace: None,
            status,
            output,
            caller: None,
            detail: None,
        }));
        block_fields(at, &mut item, wire.rest)?;
        Ok(item)
    }

    fn assistant(&mut self, place: usize, at: &str, content: Content<'_>) -> Result<(), Error> {
        if self.left {
            self.close(place)?;
        }
        let blocks = match content {
            Content::Text(text) => {
                self.items.push(message_item(Role::Assistant, vec![Part::text(text)]));
                return Ok(());
            }
            Content::Blocks(blocks) => blocks,
        };
        let first = self.items.len();
        for (number, raw) in blocks.into_iter().enumerate() {
            let at = format!("{at}.{number}");
            let item = match &*blocks::kind(&at, raw)? {
                "text" => {
                    let part = blocks::part(&at, raw, Speaker::Assistant, self.version)?;
                    self.said(first, Role::Assistant, part);
                    continue;
                }
                "thinking" => thinking(&at, raw)?,
                "redacted_thinking" => redacted(&at, raw)?,
                "tool_use" => self.call(&at, raw)?,
                "tool_result" => {
                    return Err(invalid(
                        &format!("{at}.type"),
                        "'tool_result' blocks stand in the user's messages only",
                    ));
                }
                "document" if self.version == Version::Of2026 => {
                    let why = "'document' blocks are not permitted in assistant messages";
                    return Err(invalid(&at, why));
                }
                kind => {
                    Item::new(ItemBody::Opaque(Opaque { dialect: OWN, kind: kind.into(), json: json(raw) }))
                }
            };
            self.items.push(item);
        }
        Ok(())
    }

    /// A new assistant turn begins: the calls of the one before must have been answered.
    fn close(&mut self, place: usize) -> Result<(), Error> {
        let open: Vec<&str> =
            self.asked.iter().filter(|(_, answered)| !answered).map(|(id, _)| &**id).collect();
        if !open.is_empty() {
            let why = format!(
                "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                 `tool_use` block must have a corresponding `tool_result` block in the next message.",
                open.join(", ")
            );
            return Err(invalid(&format!("messages.{}", place.saturating_sub(1)), why));
        }
        self.asked.clear();
        self.left = false;
        Ok(())
    }

    fn call(&mut self, at: &str, raw: &RawValue) -> Result<Item, Error> {
        let wire: ToolUse<'_> = parse_at(at, raw)?;
        let param = format!("{at}.id");
        let id = wire.id.ok_or_else(|| missing(&param))?;
        check_id(&param, &id)?;
        if self.asked.iter().any(|(asked, _)| *asked == id) {
            return Err(invalid(&param, format!("`tool_use` ids must be unique: {id}")));
        }
        let param = format!("{at}.name");
        let name = wire.name.ok_or_else(|| missing(&param))?;
        if !super::tools::is_legal(&name) {
            return Err(super::tools::illegal_name(&param));
        }
        let param = format!("{at}.input");
        let input = wire.input.ok_or_else(|| missing(&param))?;
        if !input.get().starts_with('{') {
            return Err(invalid(&param, "Input should be an object"));
        }
        self.asked.push((id.clone(), false));
        let mut item = Item::new(ItemBody::Call(Call {
            kind: CallKind::Function,
            call_id: Some(id),
            name,
            namespace: None,
            args: input.get().to_owned(),
            caller: None,
            detail: None,
        }));
        block_fields(at, &mut item, wire.rest)?;
        Ok(item)
    }
}

/// Fields of a call or a result that items have no place for; its cache mark is checked.
fn block_fields(at: &str, item: &mut Item, rest: super::object::Rest<'_>) -> Result<(), Error> {
    if let Some((_, raw)) = rest.iter().find(|(name, raw)| &**name == CACHE_CONTROL && raw.get() != "null") {
        blocks::mark(at, Some(raw), &mut None, &mut Extra::default())?;
    }
    keep(&mut item.extra, "", rest);
    Ok(())
}

fn thinking(at: &str, raw: &RawValue) -> Result<Item, Error> {
    let wire: Thought<'_> = parse_at(at, raw)?;
    let text = wire.thinking.ok_or_else(|| missing(&format!("{at}.thinking")))?;
    let carrier = |data| Carrier { kind: CarrierKind::Signature, data, origin: None };
    let mut item = Item::new(ItemBody::Reasoning(Reasoning {
        summary: Vec::new(),
        text: Some(text).filter(|text| !text.is_empty()).into_iter().collect(),
        carriers: wire.signature.filter(|data| !data.is_empty()).map(carrier).into_iter().collect(),
    }));
    keep(&mut item.extra, "", wire.rest);
    Ok(item)
}

fn redacted(at: &str, raw: &RawValue) -> Result<Item, Error> {
    let wire: Redacted<'_> = parse_at(at, raw)?;
    let data = wire.data.ok_or_else(|| missing(&format!("{at}.data")))?;
    let carriers = vec![Carrier { kind: CarrierKind::Redacted, data, origin: None }];
    let mut item = Item::new(ItemBody::Reasoning(Reasoning { carriers, ..Reasoning::default() }));
    keep(&mut item.extra, "", wire.rest);
    Ok(item)
}

fn check_id(param: &str, id: &str) -> Result<(), Error> {
    if super::ids::is_legal(id) {
        return Ok(());
    }
    Err(invalid(param, "String should match pattern '^[a-zA-Z0-9_-]+$'"))
}
