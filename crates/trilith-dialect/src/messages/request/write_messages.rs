//! Items in messages: turns of the user and of the assistant by turns, results first in the user's.

use trilith_core::{CallResult, Error, Instructions, Item, ItemBody, Json, Loss, Message, Part, Role};

use super::{
    MESSAGE_PREFIX,
    decode::OWN,
    encode::Encoder,
    results::{Claim, Results, sayable},
    write_blocks::{Blocks, Marks, unsayable},
    write_calls::note,
    write_settings::Form,
};
use crate::{
    capability::no_prefill,
    json::{List, Object},
    platform,
};

/// An assistant turn being written.
#[derive(Default)]
pub(super) struct Spoken<'t> {
    pub(super) blocks: Blocks<'t>,
    pub(super) claims: Vec<Claim>,
    /// Whether its first block is thinking.
    pub(super) thought_first: bool,
    /// Whether it has anything but thinking.
    pub(super) said: bool,
    /// Whether its last block is text: the model would be made to continue it.
    pub(super) ends_in_text: bool,
    /// The user's turn before it. It is gone on with if this one comes to nothing.
    before: Option<(Blocks<'t>, Fields<'t>)>,
}

/// Fields of a message itself.
type Fields<'t> = Vec<(&'t str, &'t Json)>;

enum Open<'t> {
    Nothing,
    User(Blocks<'t>),
    Assistant(Spoken<'t>),
}

pub(super) struct Writer<'e, 't, 'w> {
    pub(super) encoder: &'e mut Encoder<'t>,
    pub(super) items: Vec<&'t Item>,
    /// How many of the items are the instructions'.
    before: usize,
    pub(super) results: Results<'t>,
    open: Open<'t>,
    /// Fields of the message that is open.
    fields: Fields<'t>,
    list: List<'w>,
    /// Whether the last message written is the assistant's, and could be continued.
    ends_on_assistant: bool,
}

/// Writes `system` and `messages`.
pub(super) fn write(encoder: &mut Encoder<'_>, out: &mut Object<'_>) -> Result<(), Error> {
    let turn = encoder.turn;
    let (text, before): (Option<&str>, &[Item]) = match &turn.settings.instructions {
        None => (None, &[]),
        Some(Instructions::Text(text)) => (Some(text), &[]),
        Some(Instructions::Items(items)) => (None, items),
    };
    let items: Vec<&Item> = before.iter().chain(&turn.input).collect();
    encoder.marks = Marks::of(&turn.settings.tools, &items, encoder.marked_whole());
    let lead = items.iter().position(|item| !platform::leads(item)).unwrap_or(items.len());
    let results = Results::of(&items);
    let before = before.len();
    // `system` comes first; the list below is written where `messages` stands.
    let mut messages = Vec::with_capacity(1 << 12);
    let mut writer = Writer {
        encoder,
        items,
        before,
        results,
        open: Open::Nothing,
        fields: Vec::new(),
        list: List::new(&mut messages),
        ends_on_assistant: false,
    };
    writer.system(text.filter(|text| !text.is_empty()), lead, out)?;
    writer.run(lead)?;
    writer.end()?;
    out.key("messages").extend_from_slice(&messages);
    Ok(())
}

impl<'t> Writer<'_, 't, '_> {
    pub(super) fn at(&self, place: usize) -> String {
        match place.checked_sub(self.before) {
            None => format!("instructions[{place}]"),
            Some(place) => format!("input[{place}]"),
        }
    }

    /// What stands before the conversation.
    fn system(&mut self, text: Option<&'t str>, lead: usize, out: &mut Object<'_>) -> Result<(), Error> {
        let mut blocks = Blocks::default();
        if let Some(text) = text {
            blocks.plain(text);
        }
        for place in 0..lead {
            let Some(Item { body: ItemBody::Message(message), extra, .. }) = self.items.get(place).copied()
            else {
                continue;
            };
            let at = self.at(place);
            self.encoder.foreign(&at, extra);
            self.about(&at, message);
            for (number, part) in message.parts.iter().enumerate() {
                self.encoder.system_block(&format!("{at}.content[{number}]"), part, &mut blocks)?;
            }
        }
        if let Form::Told(told) = &self.encoder.form {
            blocks.text(told);
        }
        if blocks.is_empty() {
            return Ok(());
        }
        // Blocks stay blocks, as the caller wrote them; one text stays one text.
        blocks.finish(out.key("system"), text.is_some());
        Ok(())
    }

    fn run(&mut self, lead: usize) -> Result<(), Error> {
        for place in lead..self.items.len() {
            let Some(item) = self.items.get(place).copied() else { break };
            let at = self.at(place);
            self.encoder.foreign(&at, &item.extra);
            match &item.body {
                ItemBody::Message(message) => self.message(place, item, message)?,
                ItemBody::Reasoning(reasoning) => {
                    let mut turn = self.assistant();
                    self.encoder.reasoning(&at, item, reasoning, &mut turn);
                    self.open = Open::Assistant(turn);
                    self.message_fields(item);
                }
                ItemBody::Call(call) if sayable(call.kind) => {
                    let mut turn = self.assistant();
                    self.call(place, item, call, &mut turn)?;
                    self.open = Open::Assistant(turn);
                    self.message_fields(item);
                }
                ItemBody::Result(result) if sayable(result.kind) => {
                    // A result that came late was sent with its call.
                    let is_due = |claim: &Claim| (claim.first..=claim.place).contains(&place);
                    if let Open::Assistant(turn) = &self.open
                        && turn.claims.iter().any(is_due)
                    {
                        self.flush()?;
                    }
                    self.orphan(place, result)?;
                    self.message_fields(item);
                }
                ItemBody::Opaque(opaque) if opaque.dialect == OWN => {
                    let mut turn = self.assistant();
                    turn.blocks.raw(opaque.json.as_str());
                    (turn.said, turn.ends_in_text) = (true, false);
                    self.open = Open::Assistant(turn);
                    self.message_fields(item);
                }
                body => self.unlike(&at, body)?,
            }
        }
        Ok(())
    }

    fn message(&mut self, place: usize, item: &'t Item, message: &'t Message) -> Result<(), Error> {
        let at = self.at(place);
        self.about(&at, message);
        match message.role {
            Role::Assistant => {
                let mut turn = self.assistant();
                for (number, part) in message.parts.iter().enumerate() {
                    self.encoder.said(&format!("{at}.content[{number}]"), part, &mut turn)?;
                }
                self.open = Open::Assistant(turn);
            }
            Role::User => {
                let mut blocks = self.user()?;
                for (number, part) in message.parts.iter().enumerate() {
                    self.encoder.block(&format!("{at}.content[{number}]"), part, &mut blocks)?;
                }
                self.open = Open::User(blocks);
            }
            Role::System | Role::Developer => return self.between(&at, item, message),
        }
        self.fields.extend(item.extra.of(OWN).map(|field| (&*field.name, &field.value)));
        Ok(())
    }

    /// What a message says of itself and this wire has no place for.
    fn about(&mut self, at: &str, message: &Message) {
        if message.name.is_some() {
            self.encoder.losses.push(Loss::warn(format!("{at}.name"), "Messages has no names of speakers"));
        }
        if message.phase.is_some() {
            let why = "Messages does not tell remarks from answers";
            self.encoder.losses.push(Loss::hint(format!("{at}.phase"), why));
        }
    }

    fn message_fields(&mut self, item: &'t Item) {
        let fields = item.extra.of(OWN);
        self.fields.extend(
            fields.filter_map(|field| Some((field.name.strip_prefix(MESSAGE_PREFIX)?, &field.value))),
        );
    }

    /// The platform's words after the conversation began: in place, never before it, since that would change
    /// what is cached.
    fn between(&mut self, at: &str, item: &'t Item, message: &'t Message) -> Result<(), Error> {
        if message.parts.iter().all(|part| part.as_text() == Some("")) {
            return Ok(());
        }
        if self.encoder.target.can.system_between_turns {
            self.flush_all()?;
            self.first_is_the_users(at);
            let mut blocks = Blocks::default();
            for (number, part) in message.parts.iter().enumerate() {
                self.encoder.system_block(&format!("{at}.content[{number}]"), part, &mut blocks)?;
            }
            let mut object = self.list.object();
            object.string("role", "system");
            blocks.finish(object.key("content"), true);
            for field in item.extra.of(OWN) {
                object.json(&field.name, &field.value);
            }
            object.end();
            self.ends_on_assistant = false;
            return Ok(());
        }
        let told = platform::marked(message)
            .map_err(|(number, kind)| unsayable(&format!("{at}.content[{number}]"), kind))?;
        let mut blocks = self.user()?;
        let mark = message.parts.iter().rev().find_map(|part| part.cache_mark);
        let mut part = Part::text(told);
        part.cache_mark = mark;
        self.encoder.owned_block(at, &part, &mut blocks)?;
        self.open = Open::User(blocks);
        for field in item.extra.of(OWN) {
            self.encoder
                .losses
                .push(Loss::warn(format!("{at}.{}", field.name), "not taken by this model here"));
        }
        self.encoder.losses.push(Loss::emulate(at, platform::MARKED));
        Ok(())
    }

    /// A result that no call before it claimed.
    fn orphan(&self, place: usize, result: &CallResult) -> Result<(), Error> {
        if self.results.is_claimed(place) {
            return Ok(());
        }
        let id = result.call_id.as_deref().unwrap_or_default();
        let text = format!("No tool call found for function call output with call_id {id}.");
        Err(Error::bad_request("input", text))
    }

    /// Items that this wire has no block for.
    fn unlike(&mut self, at: &str, body: &'t ItemBody) -> Result<(), Error> {
        let warn = match body {
            ItemBody::Call(call) => {
                if let Some(note) = note(call) {
                    let mut turn = self.assistant();
                    turn.blocks.text(&note);
                    (turn.said, turn.ends_in_text) = (true, true);
                    self.open = Open::Assistant(turn);
                    self.encoder.losses.push(Loss::emulate(at, "an earlier search, sent as a note"));
                    return Ok(());
                }
                format!("an earlier {} call, which Messages cannot show", call.kind.name())
            }
            ItemBody::Result(result) => {
                format!("an earlier {} result, which Messages cannot show", result.kind.name())
            }
            ItemBody::Compaction(_) => {
                return Err(unsayable(at, "a compaction that only its maker can read"));
            }
            ItemBody::CompactionTrigger => return Err(unsayable(at, "a request to compact")),
            ItemBody::Reference(id) => {
                let text = format!(
                    "'{at}' refers to the item '{id}', which is not known here. Send the item itself."
                );
                return Err(Error::bad_request(at, text));
            }
            ItemBody::ConfigurationUpdate(_) => "later settings have no place in Messages".to_owned(),
            ItemBody::Opaque(opaque) => {
                format!("an item of type {}, which only {} understands", opaque.kind, opaque.dialect.name())
            }
            ItemBody::ToolsChange(_) | ItemBody::Message(_) | ItemBody::Reasoning(_) => return Ok(()),
        };
        self.encoder.losses.push(Loss::warn(at, warn));
        Ok(())
    }

    /// The user's turn: the open one, or a new one.
    fn user(&mut self) -> Result<Blocks<'t>, Error> {
        if matches!(self.open, Open::Assistant(_)) {
            self.flush()?;
        }
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::User(blocks) => Ok(blocks),
            _ => Ok(Blocks::default()),
        }
    }

    /// The assistant's turn: the open one, or a new one.
    fn assistant(&mut self) -> Spoken<'t> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Assistant(turn) => turn,
            Open::User(blocks) => {
                Spoken { before: Some((blocks, std::mem::take(&mut self.fields))), ..Spoken::default() }
            }
            Open::Nothing => Spoken::default(),
        }
    }

    /// A conversation begins with the user; where it does not, the user says a space.
    fn first_is_the_users(&mut self, at: &str) {
        if self.list.is_empty() {
            let mut object = self.list.object();
            object.string("role", "user");
            object.string("content", " ");
            object.end();
            let why = "a user message of one space stands before it: Messages begins with the user";
            self.encoder.losses.push(Loss::emulate(at, why));
        }
    }

    /// Writes the message that is open. After an assistant's calls, the user's turn with their results opens.
    fn flush(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::User(blocks) => self.close_user(blocks),
            Open::Assistant(turn) => {
                if !turn.said {
                    if !turn.blocks.is_empty() {
                        let why = "reasoning that led to nothing is not sent";
                        self.encoder.losses.push(Loss::hint("input", why));
                    }
                    self.fields.clear();
                    if let Some((blocks, fields)) = turn.before {
                        self.fields = fields;
                        self.open = Open::User(blocks);
                    }
                    return Ok(());
                }
                if let Some((blocks, fields)) = turn.before {
                    let own = std::mem::replace(&mut self.fields, fields);
                    self.close_user(blocks);
                    self.fields = own;
                }
                self.first_is_the_users("input");
                self.encoder.bare_call = !turn.claims.is_empty() && !turn.thought_first;
                self.ends_on_assistant = turn.ends_in_text;
                let claims = turn.claims;
                self.close("assistant", turn.blocks);
                if !claims.is_empty() {
                    let mut blocks = Blocks::default();
                    for claim in claims {
                        self.result(claim, &mut blocks)?;
                    }
                    self.open = Open::User(blocks);
                }
            }
        }
        Ok(())
    }

    fn close_user(&mut self, mut blocks: Blocks<'t>) {
        if blocks.is_empty() {
            blocks.plain(" ");
        }
        self.close("user", blocks);
        self.ends_on_assistant = false;
    }

    /// Writes all that is open, results of the last calls included.
    fn flush_all(&mut self) -> Result<(), Error> {
        while !matches!(self.open, Open::Nothing) {
            self.flush()?;
        }
        Ok(())
    }

    fn close(&mut self, role: &str, blocks: Blocks<'_>) {
        let mut object = self.list.object();
        object.string("role", role);
        blocks.finish(object.key("content"), true);
        let fields = std::mem::take(&mut self.fields);
        for (number, (name, value)) in fields.iter().enumerate() {
            if !fields.iter().take(number).any(|(earlier, _)| earlier == name) {
                object.json(name, value);
            }
        }
        object.end();
    }

    fn end(mut self) -> Result<(), Error> {
        self.flush_all()?;
        if self.list.is_empty() {
            if self.items.is_empty() {
                let text = "Nothing in 'input' can be said to the model behind this request. Send at least one message.";
                return Err(Error::bad_request("input", text).with_code("invalid_value"));
            }
            self.first_is_the_users("input");
        }
        if self.ends_on_assistant && !self.encoder.target.can.prefill {
            return Err(no_prefill(&self.encoder.turn.settings.model));
        }
        self.list.end();
        Ok(())
    }
}
