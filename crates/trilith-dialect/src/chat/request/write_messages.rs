//! Items in messages: what one assistant turn said and called becomes one message, and its results follow.

use trilith_core::{
    Call, CallResult, DialectId, Error, Instructions, Item, ItemBody, Loss, Message, Part, PartKind,
    Reasoning, ResultOutput, ResultStatus, Role,
};

use super::{
    ERROR_MARKER,
    encode::Encoder,
    messages::MESSAGE_PREFIX,
    results::{Claim, Results, sayable},
    write_assistant::note,
    write_content::{Marks, text_part, unsayable},
};
use crate::{chat::json::List, platform};

/// What the model did between two things of others.
#[derive(Default)]
struct Group<'t> {
    reasoning: Vec<(usize, &'t Reasoning)>,
    said: Option<(usize, &'t Item, &'t Message)>,
    calls: Vec<(usize, &'t Item, &'t Call)>,
}

impl Group<'_> {
    const fn is_empty(&self) -> bool {
        self.said.is_none() && self.calls.is_empty()
    }
}

struct Writer<'e, 't, 'w> {
    encoder: &'e mut Encoder<'t>,
    items: &'t [Item],
    results: Results<'t>,
    group: Group<'t>,
    marks: Marks,
    list: List<'w>,
    /// How many items stand before the conversation.
    lead: usize,
    /// The caller's name of the list, for paths.
    base: &'static str,
}

pub(super) fn write(encoder: &mut Encoder<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
    let turn = encoder.turn;
    let settings = &turn.settings;
    let role = encoder.target.quirks.system_role.clone();
    let before: &[Item] = match &settings.instructions {
        Some(Instructions::Items(items)) => items,
        _ => &[],
    };
    let mut list = List::new(out);
    if let Some(Instructions::Text(text)) = &settings.instructions
        && !text.is_empty()
    {
        let mut object = list.object();
        object.string("role", &role);
        object.string("content", text);
        object.end();
    }
    let mut marks = Marks { total: marks(before) + marks(&turn.input), seen: 0 };
    for (base, items) in [("instructions", before), ("input", &turn.input)] {
        let results = Results::of(items);
        let lead = match base {
            "input" => items.iter().position(|item| !platform::leads(item)),
            _ => None,
        };
        let lead = lead.unwrap_or(items.len());
        let mut writer = Writer { encoder, items, results, group: Group::default(), marks, list, lead, base };
        writer.run()?;
        (marks, list) = (writer.marks, writer.list);
    }
    let said_nothing = list.is_empty();
    list.end();
    if said_nothing {
        let text =
            "Nothing in 'input' can be said to the model behind this request. Send at least one message.";
        return Err(Error::bad_request("input", text).with_code("invalid_value"));
    }
    Ok(())
}

fn marks(items: &[Item]) -> usize {
    let parts = items.iter().filter_map(|item| match &item.body {
        ItemBody::Message(message) => Some(&message.parts),
        _ => None,
    });
    parts.flatten().filter(|part| part.cache_mark.is_some()).count()
}

impl<'t> Writer<'_, 't, '_> {
    fn at(&self, place: usize) -> String {
        format!("{}[{place}]", self.base)
    }

    fn run(&mut self) -> Result<(), Error> {
        let items = self.items;
        for (place, item) in items.iter().enumerate() {
            self.encoder.foreign(&self.at(place), &item.extra);
            match &item.body {
                ItemBody::Message(message) if message.role == Role::Assistant => {
                    if !self.group.is_empty() {
                        self.flush()?;
                    }
                    self.group.said = Some((place, item, message));
                }
                ItemBody::Message(message) => {
                    self.flush()?;
                    let between = place >= self.lead && platform::speaks(message);
                    if between && !self.encoder.target.can.system_between_turns {
                        self.marked(place, item, message)?;
                    } else {
                        self.spoken(place, item, message)?;
                    }
                }
                ItemBody::Reasoning(reasoning) => {
                    // Entries that came late, without text, belong to the turn they came in.
                    let late = reasoning.text.is_empty() && reasoning.summary.is_empty();
                    if !self.group.is_empty() && !late {
                        self.flush()?;
                    }
                    self.group.reasoning.push((place, reasoning));
                }
                ItemBody::Call(call) if sayable(call.kind) => self.group.calls.push((place, item, call)),
                ItemBody::Result(result) if sayable(result.kind) => {
                    self.flush()?;
                    self.orphan(place, result)?;
                }
                body => self.unlike(place, body)?,
            }
        }
        self.flush()
    }

    /// A result that no call before it claimed.
    fn orphan(&self, place: usize, result: &CallResult) -> Result<(), Error> {
        if self.results.is_claimed(place) {
            return Ok(());
        }
        let id = result.call_id.as_deref().unwrap_or_default();
        let text = format!("No tool call found for function call output with call_id {id}.");
        Err(Error::bad_request(self.base, text))
    }

    /// Items that this wire has no message for.
    fn unlike(&mut self, place: usize, body: &ItemBody) -> Result<(), Error> {
        let at = self.at(place);
        match body {
            ItemBody::Call(call) => {
                if let Some(note) = note(call) {
                    self.flush()?;
                    let mut object = self.list.object();
                    object.string("role", "assistant");
                    object.string("content", &note);
                    object.end();
                    self.encoder.losses.push(Loss::emulate(at, "an earlier search, sent as a note"));
                    return Ok(());
                }
                let why = format!("an earlier {} call, which Chat Completions cannot show", call.kind.name());
                self.encoder.losses.push(Loss::warn(at, why));
            }
            ItemBody::Result(result) => {
                let why =
                    format!("an earlier {} result, which Chat Completions cannot show", result.kind.name());
                self.encoder.losses.push(Loss::warn(at, why));
            }
            ItemBody::Compaction(_) => {
                return Err(unsayable(&at, "a compaction that only its maker can read"));
            }
            ItemBody::CompactionTrigger => return Err(unsayable(&at, "a request to compact")),
            ItemBody::Reference(id) => {
                let text = format!(
                    "'{at}' refers to the item '{id}', which is not known here. Send the item itself."
                );
                return Err(Error::bad_request(at, text));
            }
            ItemBody::ConfigurationUpdate(_) => {
                self.encoder.losses.push(Loss::warn(at, "later settings have no place in Chat Completions"));
            }
            ItemBody::Opaque(opaque) => {
                let why = format!(
                    "an item of type {}, which only {} understands",
                    opaque.kind,
                    opaque.dialect.name()
                );
                self.encoder.losses.push(Loss::warn(at, why));
            }
            ItemBody::ToolsChange(_) | ItemBody::Message(_) | ItemBody::Reasoning(_) => {}
        }
        Ok(())
    }

    fn spoken(&mut self, place: usize, item: &Item, message: &Message) -> Result<(), Error> {
        let at = format!("{}.content", self.at(place));
        let system_only = &*self.encoder.target.quirks.system_role == "system";
        let role = match message.role {
            Role::Developer if system_only => "system",
            role => role.name(),
        };
        let mut object = self.list.object();
        object.string("role", role);
        self.encoder.content(&at, &message.parts, &mut self.marks, object.key("content"))?;
        object.optional_string("name", message.name.as_deref());
        for field in item.extra.of(DialectId::Chat) {
            object.json(&field.name, &field.value);
        }
        object.end();
        Ok(())
    }

    /// The platform's words in mid-conversation, for a model that takes them from the user only.
    fn marked(&mut self, place: usize, item: &Item, message: &Message) -> Result<(), Error> {
        let at = self.at(place);
        let text = platform::marked(message)
            .map_err(|(number, kind)| unsayable(&format!("{at}.content[{number}]"), kind))?;
        let mut part = Part::text(text);
        part.cache_mark = message.parts.iter().rev().find_map(|part| part.cache_mark);
        let mut object = self.list.object();
        object.string("role", "user");
        self.encoder.content(&at, &[part], &mut self.marks, object.key("content"))?;
        object.end();
        for field in item.extra.of(DialectId::Chat) {
            let why = "not taken by this model here";
            self.encoder.losses.push(Loss::warn(format!("{at}.{}", field.name), why));
        }
        self.encoder.losses.push(Loss::emulate(at, platform::MARKED));
        Ok(())
    }

    /// Writes the assistant message that is due, and the results of its calls in the order of the calls.
    fn flush(&mut self) -> Result<(), Error> {
        let group = std::mem::take(&mut self.group);
        if group.is_empty() {
            if !group.reasoning.is_empty() {
                let why = "reasoning that led to nothing is not sent";
                self.encoder.losses.push(Loss::hint(self.base, why));
            }
            return Ok(());
        }
        let claims: Vec<Claim> =
            group.calls.iter().map(|(place, _, call)| self.claim(*place, call)).collect::<Result<_, _>>()?;
        self.assistant(&group, &claims)?;
        let mut media = Vec::new();
        for Claim { id, place, replaced } in &claims {
            if *replaced > 0 {
                let why = "answers a call again; the last one is sent";
                self.encoder.losses.push(Loss::warn(self.at(*place), why));
            }
            if let Some(Item { body: ItemBody::Result(result), extra, .. }) = self.items.get(*place) {
                self.result(*place, id, result, extra, &mut media)?;
            }
        }
        if !media.is_empty() {
            let mut object = self.list.object();
            object.string("role", "user");
            self.encoder.content("content", &media, &mut self.marks, object.key("content"))?;
            object.end();
        }
        Ok(())
    }

    fn claim(&mut self, place: usize, call: &'t Call) -> Result<Claim, Error> {
        let Some(id) = call.call_id.as_deref() else {
            return Err(unsayable(&self.at(place), "a call without an id"));
        };
        self.results.claim(id, place).ok_or_else(|| {
            Error::bad_request(self.base, format!("No tool output found for function call {id}."))
        })
    }

    fn assistant(&mut self, group: &Group<'t>, claims: &[Claim]) -> Result<(), Error> {
        let calls = !group.calls.is_empty();
        let said =
            group.said.map(|(place, item, message)| (format!("{}[{place}]", self.base), item, message));
        let thought: Vec<_> =
            group.reasoning.iter().map(|(place, reasoning)| (self.at(*place), *reasoning)).collect();
        let mut object = self.list.object();
        object.string("role", "assistant");
        match &said {
            Some((at, _, message)) => {
                if message.phase.is_some() {
                    let why = "Chat Completions does not tell remarks from answers";
                    self.encoder.losses.push(Loss::hint(format!("{at}.phase"), why));
                }
                self.encoder.said(at, &message.parts, calls, &mut self.marks, &mut object)?;
            }
            None => object.null("content"),
        }
        self.encoder.reasoning(&thought, &mut object);
        if let Some((_, item, message)) = said {
            object.optional_string("name", message.name.as_deref());
            for field in item.extra.of(DialectId::Chat) {
                object.json(&field.name, &field.value);
            }
        }
        if calls {
            let mut list = object.list("tool_calls");
            for ((_, item, call), claim) in group.calls.iter().zip(claims) {
                self.encoder.call(&claim.id, item, call, &mut list);
            }
            list.end();
        }
        for field in group.calls.iter().flat_map(|(_, item, _)| item.extra.of(DialectId::Chat)) {
            if let Some(name) = field.name.strip_prefix(MESSAGE_PREFIX) {
                object.json(name, &field.value);
            }
        }
        object.end();
        Ok(())
    }

    fn result(
        &mut self,
        place: usize,
        id: &str,
        result: &CallResult,
        extra: &trilith_core::Extra,
        media: &mut Vec<Part>,
    ) -> Result<(), Error> {
        let at = format!("{}.output", self.at(place));
        let marker = if result.status == Some(ResultStatus::Error) { ERROR_MARKER } else { "" };
        let mut object = self.list.object();
        object.string("role", "tool");
        object.string("tool_call_id", id);
        let plain = match &result.output {
            ResultOutput::Text(text) => Some(text.as_str()),
            ResultOutput::Parts(parts) => match parts.as_slice() {
                [] => Some(""),
                [Part { kind: PartKind::Text(text), extra, .. }]
                    if extra.of(DialectId::Chat).next().is_none() =>
                {
                    self.encoder.foreign(&format!("{at}[0]"), extra);
                    Some(text.text.as_str())
                }
                _ => None,
            },
        };
        match (&result.output, plain) {
            (_, Some(text)) if marker.is_empty() => object.string("content", text),
            (_, Some(text)) => object.string("content", &format!("{marker}{text}")),
            (ResultOutput::Parts(parts), None) => {
                let mut list = object.list("content");
                if !marker.is_empty() {
                    let mut entry = list.object();
                    text_part(marker, &mut entry);
                    entry.end();
                }
                for (number, part) in parts.iter().enumerate() {
                    let mut entry = list.object();
                    self.encoder.result_part(
                        &format!("{at}[{number}]"),
                        part,
                        media,
                        &mut self.marks,
                        &mut entry,
                    )?;
                    entry.end();
                }
                list.end();
            }
            (ResultOutput::Text(_), None) => {}
        }
        for field in extra.of(DialectId::Chat) {
            object.json(&field.name, &field.value);
        }
        object.end();
        Ok(())
    }
}
