//! Items in messages: what one assistant turn said and called becomes one message, and its results follow.

use std::collections::{HashMap, VecDeque};

use trilith_core::{
    Call, CallKind, CallResult, CarrierKind, DialectId, Error, Instructions, Item, ItemBody, Loss, Message,
    Part, PartKind, Reasoning, ResultOutput, ResultStatus, Role,
};

use super::{
    ERROR_MARKER,
    encode::Encoder,
    messages::MESSAGE_PREFIX,
    write_content::{Marks, text_part, unsayable},
};
use crate::chat::{
    json::{List, Object},
    response::carriers,
};

/// What the model did between two things of others.
#[derive(Default)]
struct Group<'t> {
    reasoning: Vec<&'t Reasoning>,
    said: Option<(usize, &'t Item, &'t Message)>,
    calls: Vec<(usize, &'t Item, &'t Call)>,
}

impl Group<'_> {
    const fn is_empty(&self) -> bool {
        self.said.is_none() && self.calls.is_empty()
    }
}

/// The results of a context, found by the id of their call.
struct Results<'t> {
    by_id: HashMap<&'t str, VecDeque<usize>>,
    calls_left: HashMap<&'t str, usize>,
    used: Vec<bool>,
    /// How often an id was sent already: a later pair of the same id is renamed.
    sent: HashMap<&'t str, usize>,
}

struct Writer<'e, 't, 'w> {
    encoder: &'e mut Encoder<'t>,
    items: &'t [Item],
    results: Results<'t>,
    group: Group<'t>,
    marks: Marks,
    list: List<'w>,
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
        let mut writer = Writer { encoder, items, results, group: Group::default(), marks, list, base };
        writer.run()?;
        (marks, list) = (writer.marks, writer.list);
    }
    list.end();
    Ok(())
}

fn marks(items: &[Item]) -> usize {
    let parts = items.iter().filter_map(|item| match &item.body {
        ItemBody::Message(message) => Some(&message.parts),
        _ => None,
    });
    parts.flatten().filter(|part| part.cache_mark.is_some()).count()
}

/// Whether it is of a kind this wire has.
const fn sayable(kind: CallKind) -> bool {
    matches!(kind, CallKind::Function | CallKind::Custom)
}

impl<'t> Results<'t> {
    fn of(items: &'t [Item]) -> Self {
        let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
        let mut calls_left: HashMap<&str, usize> = HashMap::new();
        for (place, item) in items.iter().enumerate() {
            match &item.body {
                ItemBody::Result(CallResult { kind, call_id: Some(id), .. }) if sayable(*kind) => {
                    by_id.entry(id).or_default().push_back(place);
                }
                ItemBody::Call(Call { kind, call_id: Some(id), .. }) if sayable(*kind) => {
                    *calls_left.entry(id).or_default() += 1;
                }
                _ => {}
            }
        }
        Self { by_id, calls_left, used: vec![false; items.len()], sent: HashMap::new() }
    }

    /// The place of the result for the call at `call`, and how many others answered it too.
    fn take(&mut self, id: &str, call: usize) -> Option<(usize, usize)> {
        let left = self.calls_left.get_mut(id)?;
        *left = left.saturating_sub(1);
        let queue = self.by_id.get_mut(id)?;
        // The last call of this id takes all that is left, and the newest of them counts.
        let take = if *left == 0 { queue.len() } else { usize::from(!queue.is_empty()) };
        let taken: Vec<usize> = queue.drain(..take).collect();
        if taken.first().is_some_and(|first| *first < call) {
            return None;
        }
        for place in &taken {
            if let Some(used) = self.used.get_mut(*place) {
                *used = true;
            }
        }
        Some((*taken.last()?, taken.len() - 1))
    }
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
                    self.spoken(place, item, message)?;
                }
                ItemBody::Reasoning(reasoning) => {
                    if !self.group.is_empty() {
                        self.flush()?;
                    }
                    self.group.reasoning.push(reasoning);
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
        if self.results.used.get(place).copied().unwrap_or(false) {
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
        let ids: Vec<(Box<str>, Option<(usize, usize)>)> =
            group.calls.iter().map(|(place, _, call)| self.claim(*place, call)).collect::<Result<_, _>>()?;
        self.assistant(&group, &ids)?;
        let mut media = Vec::new();
        for (id, found) in &ids {
            let Some((place, others)) = found else { continue };
            if *others > 0 {
                self.encoder
                    .losses
                    .push(Loss::warn(self.at(*place), "answers a call again; the last one is sent"));
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

    /// The wire id of a call, and its result.
    fn claim(&mut self, place: usize, call: &'t Call) -> Result<(Box<str>, Option<(usize, usize)>), Error> {
        let Some(id) = call.call_id.as_deref() else {
            return Err(unsayable(&self.at(place), "a call without an id"));
        };
        let found = self.results.take(id, place);
        if found.is_none() {
            let text = format!("No tool output found for function call {id}.");
            return Err(Error::bad_request(self.base, text));
        }
        let times = self.results.sent.entry(id).or_default();
        *times += 1;
        let wire = if *times == 1 { id.into() } else { format!("{id}_{times}").into() };
        Ok((wire, found))
    }

    fn assistant(
        &mut self,
        group: &Group<'t>,
        ids: &[(Box<str>, Option<(usize, usize)>)],
    ) -> Result<(), Error> {
        let mut object = self.list.object();
        object.string("role", "assistant");
        let mut texts = Vec::new();
        let mut refusal = None;
        let mut audio = None;
        for (number, part) in group.said.iter().flat_map(|(_, _, message)| &message.parts).enumerate() {
            match &part.kind {
                PartKind::Text(_) => texts.push(part.clone()),
                PartKind::Refusal(text) if refusal.is_none() => refusal = Some(text),
                PartKind::Refusal(text) => texts.push(Part::text(text.as_str())),
                PartKind::Audio(said) => match (&said.id, &said.transcript) {
                    (Some(id), _) => audio = Some(id),
                    (None, Some(words)) => texts.push(Part::text(words.as_str())),
                    (None, None) => {}
                },
                kind => {
                    let place = group.said.map_or(0, |(place, ..)| place);
                    let at = format!("{}[{place}].content[{number}]", self.base);
                    let why =
                        format!("an assistant's {} part, which Chat Completions cannot show", kind.name());
                    self.encoder.losses.push(Loss::warn(at, why));
                }
            }
        }
        let silent = refusal.is_some() || audio.is_some() || !group.calls.is_empty();
        if texts.is_empty() && silent {
            object.null("content");
        } else {
            self.encoder.content("content", &texts, &mut self.marks, object.key("content"))?;
        }
        if let Some(refusal) = refusal {
            object.string("refusal", refusal);
        }
        if let Some(id) = audio {
            let mut reference = object.object("audio");
            reference.string("id", id);
            reference.end();
        }
        self.encoder.reasoning(&group.reasoning, &mut object);
        if let Some((_, item, message)) = group.said {
            object.optional_string("name", message.name.as_deref());
            for field in item.extra.of(DialectId::Chat) {
                object.json(&field.name, &field.value);
            }
        }
        if !group.calls.is_empty() {
            let mut calls = object.list("tool_calls");
            for ((_, item, call), (id, _)) in group.calls.iter().zip(ids) {
                self.encoder.call(id, item, call, &mut calls);
            }
            calls.end();
        }
        let outer = group.calls.iter().flat_map(|(_, item, _)| item.extra.of(DialectId::Chat));
        for field in outer {
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
                [Part { kind: PartKind::Text(text), extra, .. }] if extra.is_empty() => {
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

impl Encoder<'_> {
    /// A part of a result. This wire takes text only here, so media follow in a message of their own.
    fn result_part(
        &mut self,
        at: &str,
        part: &Part,
        media: &mut Vec<Part>,
        marks: &mut Marks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        match &part.kind {
            PartKind::Image(_) | PartKind::Audio(_) | PartKind::File(_) => {
                media.push(part.clone());
                text_part(&format!("[{} {} attached]", part.kind.name(), media.len()), out);
                self.losses.push(Loss::emulate(at, "sent in a user message after the tool results"));
                Ok(())
            }
            _ => self.part(at, part, marks, out),
        }
    }

    fn call(&mut self, id: &str, item: &Item, call: &Call, out: &mut List<'_>) {
        let name = self.names.outward(call.namespace.as_deref(), &call.name);
        let custom = call.kind == CallKind::Custom;
        let (kind, args) = if custom { ("custom", "input") } else { ("function", "arguments") };
        let mut object = out.object();
        object.string("id", id);
        object.string("type", kind);
        let mut called = object.object(kind);
        called.string("name", &name);
        // Arguments that are empty stand for none (translation contract, invariant 1).
        let empty = !custom && call.args.trim().is_empty();
        called.string(args, if empty { "{}" } else { &call.args });
        called.end();
        for field in item.extra.of(DialectId::Chat).filter(|field| !field.name.starts_with(MESSAGE_PREFIX)) {
            object.json(&field.name, &field.value);
        }
        object.end();
    }

    fn reasoning(&mut self, list: &[&Reasoning], out: &mut Object<'_>) {
        let quirks = self.target.quirks;
        let text: Vec<&str> = list.iter().flat_map(|reasoning| &reasoning.text).map(String::as_str).collect();
        if quirks.replay_reasoning {
            if !text.is_empty() {
                out.string(&quirks.reasoning_field, &text.join("\n\n"));
            } else if &*quirks.reasoning_field == "reasoning_content" {
                // DeepSeek refuses a history in which any earlier turn lacks it; a space passes.
                out.string("reasoning_content", " ");
            }
        } else if !text.is_empty() {
            self.losses.push(Loss::hint("reasoning", "earlier reasoning is not sent to this upstream"));
        }
        let details = list.iter().flat_map(|reasoning| &reasoning.carriers);
        let details: Vec<&str> = details
            .filter(|carrier| carrier.kind == CarrierKind::Details && !carriers::is_sealed(carrier))
            .map(|carrier| &*carrier.data)
            .collect();
        if !details.is_empty() {
            let mut entries = out.list("reasoning_details");
            for detail in details {
                entries.item().extend_from_slice(detail.as_bytes());
            }
            entries.end();
        }
    }
}

/// An earlier search as a note (translation contract §7.6): what was looked for, and what was found.
fn note(call: &Call) -> Option<String> {
    let what = match call.kind {
        CallKind::WebSearch => "Web search",
        CallKind::FileSearch => "File search",
        _ => return None,
    };
    let detail: serde_json::Value = serde_json::from_str(call.detail.as_ref()?.as_str()).ok()?;
    let action = detail.get("action").unwrap_or(&detail);
    let mut words: Vec<&str> = action.get("query").and_then(|query| query.as_str()).into_iter().collect();
    for list in ["queries", "sources", "results"] {
        let entries = action.get(list).or_else(|| detail.get(list)).and_then(|list| list.as_array());
        words.extend(entries.into_iter().flatten().filter_map(|entry| {
            let named = ["url", "filename"].into_iter().find_map(|key| entry.get(key)?.as_str());
            entry.as_str().or(named)
        }));
    }
    words.dedup();
    (!words.is_empty()).then(|| format!("[{what}: {}]", words.join("; ")))
}
