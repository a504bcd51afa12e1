//! Putting an upstream's answer together: which items and parts were told, and how much of each. What a
//! final object holds beyond that is told then, so that servers which send less than the whole sequence of
//! events, and answers that come whole, give the same events.

use trilith_core::{
    CallKind, DialectId, Error, Event, Item, ItemBody, ItemStatus, Json, Logprob, Loss, Message, PartSpace,
    PartStart, Role, ToolStage,
};

use super::replay;
use crate::{
    names::{NameMap, Wrap},
    responses::{
        field::{Field, Side},
        item::{decode_item, is_client_run},
        response::finish_reason,
    },
    tape::Value,
};

/// What an item is, as far as it decides which events may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Message,
    Reasoning,
    Call,
    /// It has neither parts nor arguments.
    Whole,
}

impl Sort {
    const fn of(body: &ItemBody) -> Self {
        match body {
            ItemBody::Message(_) => Self::Message,
            ItemBody::Reasoning(_) => Self::Reasoning,
            ItemBody::Call(_) => Self::Call,
            ItemBody::Result(_)
            | ItemBody::Compaction(_)
            | ItemBody::CompactionTrigger
            | ItemBody::ConfigurationUpdate(_)
            | ItemBody::ToolsChange(_)
            | ItemBody::Reference(_)
            | ItemBody::Opaque(_) => Self::Whole,
        }
    }

    fn holds(self, space: PartSpace) -> bool {
        self == match space {
            PartSpace::Content => Self::Message,
            PartSpace::Reasoning | PartSpace::Summary => Self::Reasoning,
        }
    }
}

/// One part of an item, as far as it was told.
#[derive(Debug)]
pub(super) struct PartTold {
    pub(super) start: PartStart,
    pub(super) space: PartSpace,
    /// The upstream's place of it.
    pub(super) theirs: u64,
    /// Our place of it.
    pub(super) ours: u32,
    pub(super) bytes: usize,
    pub(super) logprobs: usize,
    pub(super) annotations: usize,
    pub(super) done: bool,
}

/// One item, as far as it was told.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) sort: Sort,
    /// The upstream's `output_index`.
    pub(super) theirs: u64,
    pub(super) id: Option<Box<str>>,
    /// Our place in the output; `None` while the item waits to be told whole.
    pub(super) ours: Option<u32>,
    pub(super) parts: Vec<PartTold>,
    /// Bytes of argument text.
    pub(super) args: usize,
    /// It is a function that stands for a custom tool: its arguments so far, taken apart once they are whole.
    held: Option<(Wrap, String)>,
    /// Whether any step of a hosted tool was told.
    pub(super) stages: bool,
    pub(super) done: bool,
}

/// An answer under way.
#[derive(Debug)]
pub(in crate::responses) struct Assembly {
    pub(super) names: NameMap,
    pub(super) items: Vec<Told>,
    next: u32,
    calls_client: bool,
    too_many: bool,
}

/// How many items an answer may have, and parts an item; the work per event grows with them.
const MOST: usize = 4096;

/// How an event names its item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'t> {
    pub(super) index: Option<u64>,
    pub(super) id: Option<&'t str>,
}

impl Assembly {
    pub(in crate::responses) const fn new(names: NameMap) -> Self {
        Self { names, items: Vec::new(), next: 0, calls_client: false, too_many: false }
    }

    /// Whether the answer is still of a size that can be read.
    ///
    /// # Errors
    /// It has too many items or parts.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.too_many { Err(Error::upstream("The upstream's answer has too many items.")) } else { Ok(()) }
    }

    /// The item an event means: by index, else by id, else the one that is open.
    pub(super) fn find(&self, place: Place<'_>) -> Option<usize> {
        match (place.index, place.id) {
            (Some(index), _) => self.items.iter().rposition(|told| told.theirs == index),
            (None, Some(id)) => self.items.iter().rposition(|told| told.id.as_deref() == Some(id)),
            (None, None) => self.items.iter().rposition(|told| !told.done),
        }
    }

    /// An item begins. What cannot grow waits until it is whole.
    pub(super) fn add(&mut self, place: Place<'_>, mut item: Item, out: &mut Vec<Event>) -> usize {
        let held = self.rename(&mut item).map(|wrap| (wrap, String::new()));
        let theirs = place.index.unwrap_or_else(|| {
            self.items.iter().map(|told| told.theirs.saturating_add(1)).max().unwrap_or_default()
        });
        let told = Told {
            sort: Sort::of(&item.body),
            theirs,
            id: item.id.clone(),
            ours: None,
            parts: Vec::new(),
            args: 0,
            held,
            stages: false,
            done: false,
        };
        if self.items.len() == MOST {
            self.too_many = true;
            return usize::MAX;
        }
        self.items.push(told);
        let at = self.items.len() - 1;
        if let Some(head) = replay::head(item) {
            self.tell(at, head, out);
        }
        at
    }

    /// Announces an item at the next place.
    pub(super) fn tell(&mut self, at: usize, item: Item, out: &mut Vec<Event>) {
        let index = self.next;
        self.next += 1;
        if let Some(told) = self.items.get_mut(at) {
            told.ours = Some(index);
        }
        out.push(Event::ItemAdded { index, choice: 0, item: Box::new(item) });
    }

    /// The upstream's tool names, in the caller's spelling. Says what its arguments were inside of.
    fn rename(&self, item: &mut Item) -> Option<Wrap> {
        let mut wrapped = None;
        if let ItemBody::Call(call) = &mut item.body
            && !self.names.is_empty()
        {
            wrapped = self.names.wrapping(&call.name).filter(|_| call.kind == CallKind::Function);
            if let Some(wrap) = wrapped {
                call.kind = wrap.kind();
                call.args = wrap.take_off(std::mem::take(&mut call.args));
            }
            let full = self.names.inward(&call.name);
            call.name = full.name;
            if call.namespace.is_none() {
                call.namespace = full.namespace;
            }
        }
        wrapped
    }

    /// Makes sure that a part exists; gives the item's place in the table and the part's in its list.
    pub(super) fn part(
        &mut self,
        at: usize,
        theirs: u64,
        start: PartStart,
        out: &mut Vec<Event>,
    ) -> Option<(u32, usize)> {
        let space = start.space();
        let told = self.items.get_mut(at).filter(|told| !told.done && told.sort.holds(space))?;
        let index = told.ours?;
        if let Some(known) = told.parts.iter().rposition(|part| part.start == start && part.theirs == theirs)
        {
            return Some((index, known));
        }
        if told.parts.len() == MOST {
            self.too_many = true;
            return None;
        }
        close_parts(told, index, out);
        let ours = told.parts.iter().filter(|part| part.space == space).count();
        let ours = u32::try_from(ours).ok()?;
        told.parts.push(PartTold {
            start,
            space,
            theirs,
            ours,
            bytes: 0,
            logprobs: 0,
            annotations: 0,
            done: false,
        });
        out.push(Event::PartAdded { index, part: ours, start });
        Some((index, told.parts.len() - 1))
    }

    /// Text of a part. A message that was not announced is announced first.
    pub(super) fn text(
        &mut self,
        place: Place<'_>,
        theirs: u64,
        start: PartStart,
        delta: String,
        logprobs: Vec<Logprob>,
        out: &mut Vec<Event>,
    ) {
        let at = match self.find(place) {
            Some(at) => at,
            None => self.add_implied(place, start, out),
        };
        let Some((index, slot)) = self.part(at, theirs, start, out) else { return };
        let Some(part) = self.items.get_mut(at).and_then(|told| told.parts.get_mut(slot)) else { return };
        if part.done || (delta.is_empty() && logprobs.is_empty()) {
            return;
        }
        part.bytes += delta.len();
        part.logprobs += logprobs.len();
        let (space, part) = (part.space, part.ours);
        out.push(match start {
            PartStart::Text | PartStart::Audio => Event::TextDelta { index, part, delta, logprobs },
            PartStart::Refusal | PartStart::Reasoning | PartStart::Summary => {
                Event::PartDelta { index, part, space, delta }
            }
        });
    }

    fn add_implied(&mut self, place: Place<'_>, start: PartStart, out: &mut Vec<Event>) -> usize {
        let mut item = Item::new(match start.space() {
            PartSpace::Content => ItemBody::Message(Message {
                role: Role::Assistant,
                parts: Vec::new(),
                phase: None,
                name: None,
            }),
            PartSpace::Reasoning | PartSpace::Summary => {
                ItemBody::Reasoning(trilith_core::Reasoning::default())
            }
        });
        item.id = place.id.filter(|id| !id.is_empty()).map(Into::into);
        self.add(place, item, out)
    }

    /// Argument text of a call.
    pub(super) fn args(&mut self, place: Place<'_>, delta: String, out: &mut Vec<Event>) {
        let Some(told) = self.find(place).and_then(|at| self.items.get_mut(at)) else { return };
        let grows = !told.done && told.sort == Sort::Call && !delta.is_empty();
        let Some(index) = told.ours.filter(|_| grows) else { return };
        if let Some((_, held)) = &mut told.held {
            held.push_str(&delta);
            return;
        }
        told.args += delta.len();
        out.push(Event::ArgumentsDelta { index, delta });
    }

    /// The whole text of a part, which may hold more than its deltas did.
    pub(super) fn whole_text(
        &mut self,
        place: Place<'_>,
        theirs: u64,
        start: PartStart,
        text: &str,
        out: &mut Vec<Event>,
    ) {
        let at = self.find(place);
        let told = at.and_then(|at| self.items.get(at)).map_or(0, |told| {
            let same = |part: &&PartTold| part.start == start && part.theirs == theirs;
            told.parts.iter().rfind(same).map_or(0, |part| part.bytes)
        });
        let rest = text.get(told..).unwrap_or_default().to_owned();
        self.text(place, theirs, start, rest, Vec::new(), out);
    }

    /// The whole argument text of a call.
    pub(super) fn whole_args(&mut self, place: Place<'_>, args: &str, out: &mut Vec<Event>) {
        let told = self.find(place).and_then(|at| self.items.get(at));
        let told = told.map_or(0, |told| told.held.as_ref().map_or(told.args, |(_, held)| held.len()));
        self.args(place, args.get(told..).unwrap_or_default().to_owned(), out);
    }

    /// A part is whole.
    pub(super) fn end_part(&mut self, place: Place<'_>, theirs: u64, space: PartSpace, out: &mut Vec<Event>) {
        let Some(told) = self.find(place).and_then(|at| self.items.get_mut(at)) else { return };
        let Some(index) = told.ours.filter(|_| !told.done) else { return };
        let same = |part: &&mut PartTold| part.space == space && part.theirs == theirs && !part.done;
        if let Some(part) = told.parts.iter_mut().find(same) {
            part.done = true;
            out.push(Event::PartDone { index, part: part.ours, space });
        }
    }

    /// The place of an item that can still change.
    pub(super) fn open_index(&self, place: Place<'_>) -> Option<u32> {
        self.find(place).and_then(|at| self.items.get(at)).filter(|told| !told.done)?.ours
    }

    pub(super) fn progress(&mut self, place: Place<'_>, stage: ToolStage, out: &mut Vec<Event>) {
        let Some(told) = self.find(place).and_then(|at| self.items.get_mut(at)) else { return };
        if let Some(index) = told.ours.filter(|_| !told.done) {
            told.stages = true;
            out.push(Event::ToolProgress { index, stage });
        }
    }

    pub(super) fn detail(&self, place: Place<'_>, json: Json, out: &mut Vec<Event>) {
        let index = self.open_index(place);
        out.push(Event::Detail { index, dialect: DialectId::Responses, json });
    }

    /// An item is whole; what was not told of it is told now.
    pub(super) fn done(&mut self, place: Place<'_>, mut item: Item, out: &mut Vec<Event>) {
        let sort = Sort::of(&item.body);
        let fits = |told: &Told| told.done || told.sort == sort;
        let at = match self.find(place) {
            Some(at) if self.items.get(at).is_some_and(fits) => at,
            // Of another sort than it began with, it is another item.
            _ => self.add(place, item.clone(), out),
        };
        if self.items.get(at).is_none_or(|told| told.done) {
            return;
        }
        self.rename(&mut item);
        let status = match item.status {
            // A call that a program waits for is left running on the wire, though nothing will be added.
            None | Some(ItemStatus::InProgress) => ItemStatus::Completed,
            Some(status) => status,
        };
        if let ItemBody::Call(call) = &item.body
            && status == ItemStatus::Completed
        {
            self.calls_client |= is_client_run(call);
        }
        replay::complete(self, at, item, status, out);
    }

    /// An item ended that does not say what it is. One that was told ends as it was told.
    pub(super) fn unsaid(&self, place: Place<'_>, out: &mut Vec<Event>) {
        if self.find(place).is_none() {
            out.push(Event::Loss(Loss::warn(
                "output",
                "the upstream sent an item that does not say what it is",
            )));
        }
    }

    /// The response ended: tells what is missing, closes what is open, then why it ended.
    ///
    /// # Errors
    /// The upstream failed.
    pub(in crate::responses) fn terminal(
        &mut self,
        response: Value<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let cut = response.str("status").is_some_and(|status| status != "completed");
        for (index, value) in response.get("output").into_iter().flat_map(Value::elements).enumerate() {
            if is_unsaid(value) {
                self.unsaid(Place { index: u64::try_from(index).ok(), id: None }, out);
                continue;
            }
            let mut item = decode_item(&Field::root(value, Side::Upstream))?;
            if cut && item.status == Some(ItemStatus::InProgress) {
                item.status = Some(ItemStatus::Incomplete);
            }
            self.done(Place { index: u64::try_from(index).ok(), id: None }, item, out);
        }
        self.check()?;
        let status = if cut { ItemStatus::Incomplete } else { ItemStatus::Completed };
        for told in self.items.iter_mut().filter(|told| !told.done) {
            close(told, status, out);
        }
        finish_reason(response, self.calls_client, out)
    }
}

/// Whether an item does not say what it is.
pub(super) fn is_unsaid(item: Value<'_>) -> bool {
    item.str("type").is_none() && item.get("role").is_none()
}

/// Closes an item with what was told of it.
fn close(told: &mut Told, status: ItemStatus, out: &mut Vec<Event>) {
    told.done = true;
    let Some(index) = told.ours else { return };
    let held = told.held.take().map(|(wrap, held)| wrap.take_off(held));
    if let Some(delta) = held.filter(|delta| !delta.is_empty()) {
        out.push(Event::ArgumentsDelta { index, delta });
    }
    close_parts(told, index, out);
    out.push(Event::ItemDone {
        index,
        status,
        carriers: Vec::new(),
        detail: None,
        extra: trilith_core::Extra::EMPTY,
    });
}

/// Closes the parts of an item that are open.
pub(super) fn close_parts(told: &mut Told, index: u32, out: &mut Vec<Event>) {
    for part in told.parts.iter_mut().filter(|part| !part.done) {
        part.done = true;
        out.push(Event::PartDone { index, part: part.ours, space: part.space });
    }
}
