//! Puts events together; a whole answer is the same blocks, each in one piece.

use std::collections::HashSet;

use serde_json::value::RawValue;
use trilith_core::{
    Begin, Carrier, DialectId, Error, Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus, Json,
    Loss, PartSpace, Usage,
};

use super::blocks::{Open, Piece};
use crate::{
    NameMap,
    messages::{
        error,
        response::wire::{Answer, Block, Delta, Frame, Own, reason},
    },
    typed,
};

/// The state of one answer.
#[derive(Default)]
pub(in crate::messages) struct Assembler {
    begin: Begin,
    begun: bool,
    /// Items so far.
    items: u32,
    /// Blocks that were not stopped, with their places. More than one only where an upstream breaks the rules.
    open: Vec<(Option<i64>, Open)>,
    /// The message that a run of text blocks makes.
    message: Option<Message>,
    /// The newest item that was stopped. How it ended is known once more comes, or the end.
    waiting: Option<Waiting>,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    calls: usize,
    /// The newest call's arguments are not whole.
    cut_call: bool,
    ids: HashSet<Box<str>>,
    /// Bytes that are kept until their block stops.
    pub(super) kept: usize,
    reported: bool,
    ended: bool,
}

/// A message whose text blocks are its parts.
struct Message {
    index: u32,
    parts: u32,
}

/// An item without its end.
struct Waiting {
    index: u32,
    carriers: Vec<Carrier>,
    /// Nothing is missing from it, however the answer ends.
    whole: bool,
}

/// Where events go, and what making them needs.
pub(super) struct Ends<'e> {
    pub(super) names: &'e NameMap,
    pub(super) out: &'e mut Vec<Event>,
}

impl Assembler {
    /// A whole answer.
    pub(in crate::messages) fn whole(
        &mut self,
        mut answer: Answer<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let ends = &mut Ends { names, out };
        for (name, raw) in told(answer.own()) {
            self.begin.extra.push(DialectId::Messages, name, Json::from_checked(raw.get()));
        }
        self.introduce(&mut answer, ends)?;
        self.stopped(answer.stop_reason.filled(), answer.stop_sequence.0.take());
        self.end(ends)
    }

    fn introduce(&mut self, answer: &mut Answer<'_>, ends: &mut Ends<'_>) -> Result<(), Error> {
        let usage = answer.usage();
        if let Some(usage) = &usage {
            usage.learn(self.usage.get_or_insert_default());
        }
        if self.begun {
            return Ok(());
        }
        answer.introduce(&mut self.begin);
        self.begin(ends);
        if usage.is_some() {
            // An answer that is left before its end has cost this much at least.
            ends.out.extend(self.usage.clone().map(Event::Usage));
        }
        for raw in answer.content.take().unwrap_or_default() {
            self.start(None, raw, ends)?;
            self.stop_last(ends);
        }
        Ok(())
    }

    /// One event of a stream; whether it was the last one.
    pub(in crate::messages) fn take(
        &mut self,
        frame: Frame<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<bool, Error> {
        let ends = &mut Ends { names, out };
        match frame.kind.0.as_deref() {
            Some("message_start") => {
                let raw = frame.message.map_or("{}", RawValue::get);
                let mut answer: Answer<'_> = typed::from_str(raw)
                    .map_err(|why| error::nonsense("a message_start that cannot be read").with_source(why))?;
                self.introduce(&mut answer, ends)?;
                self.detail(answer.own(), ends);
            }
            Some("content_block_start") => match frame.content_block {
                Some(raw) => self.start(frame.index.0, raw, ends)?,
                None => self.report(ends, "a block without content is left out"),
            },
            Some("content_block_delta") => {
                if let Some(delta) = frame.delta {
                    self.delta(frame.index.0, delta, ends)?;
                }
            }
            Some("content_block_stop") => self.stop(frame.index.0, ends),
            Some("message_delta") => {
                if let Some(usage) = frame.usage() {
                    usage.learn(self.usage.get_or_insert_default());
                }
                self.detail(frame.own(), ends);
                if let Some(delta) = frame.delta {
                    self.stopped(delta.stop_reason.filled(), delta.stop_sequence.0);
                }
            }
            Some("message_stop") => {
                self.end_or_cut(true, ends)?;
                return Ok(true);
            }
            Some("ping") => {}
            _ => self.report(ends, "an event of an unknown type is left out"),
        }
        Ok(false)
    }

    fn stopped(&mut self, word: Option<String>, matched: Option<String>) {
        if let Some(word) = word {
            self.finish = Some(reason(&word, matched));
        }
    }

    /// Fields that only this dialect can show.
    fn detail(&mut self, own: Own<'_>, ends: &mut Ends<'_>) {
        let mut json = Vec::new();
        let mut object = crate::json::Object::new(&mut json);
        let mut any = false;
        for (name, raw) in told(own) {
            object.raw(name, raw.get());
            any = true;
        }
        object.end();
        if any && let Ok(json) = String::from_utf8(json) {
            let json = Json::from_checked(json);
            ends.out.push(Event::Detail { index: None, dialect: DialectId::Messages, json });
        }
    }

    fn begin(&mut self, ends: &mut Ends<'_>) {
        if !self.begun {
            self.begun = true;
            ends.out.push(Event::Begin(Box::new(std::mem::take(&mut self.begin))));
        }
    }

    /// What could not be understood is told once.
    pub(super) fn report(&mut self, ends: &mut Ends<'_>, why: &str) {
        if !self.reported {
            self.reported = true;
            ends.out.push(Event::Loss(Loss::warn("content", why)));
        }
    }

    /// Announces an item.
    pub(super) fn add(&mut self, body: ItemBody, extra: Extra, ends: &mut Ends<'_>) -> u32 {
        let index = self.items;
        self.items = index.saturating_add(1);
        let item = Box::new(Item { status: Some(ItemStatus::InProgress), extra, ..Item::new(body) });
        ends.out.push(Event::ItemAdded { index, choice: 0, item });
        index
    }

    /// The place of a new part of the message, which begins where there is none.
    pub(super) fn next_part(&mut self, ends: &mut Ends<'_>) -> (u32, u32) {
        if self.message.is_none() {
            let head = trilith_core::Message {
                role: trilith_core::Role::Assistant,
                parts: Vec::new(),
                phase: None,
                name: None,
            };
            let index = self.add(ItemBody::Message(head), Extra::EMPTY, ends);
            self.message = Some(Message { index, parts: 0 });
        }
        let Some(message) = &mut self.message else { return (0, 0) };
        let part = message.parts;
        message.parts = part.saturating_add(1);
        (message.index, part)
    }

    /// Whether the id is new to this answer.
    pub(super) fn is_new(&mut self, id: &str) -> bool {
        self.ids.insert(id.into())
    }

    fn start(&mut self, place: Option<i64>, raw: &RawValue, ends: &mut Ends<'_>) -> Result<(), Error> {
        self.begin(ends);
        let block = typed::from_str::<Block<'_>>(raw.get()).unwrap_or_default();
        // Calls may go on side by side; anything else ends what was said before it.
        let (ending, going): (Vec<_>, Vec<_>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(other, open)| !open.is_call() || (place.is_some() && *other == place));
        self.open = going;
        for (_, open) in ending {
            open.stop(self, ends);
        }
        self.settle(ItemStatus::Completed, ends);
        if block.kind.0.as_deref() != Some("text") {
            self.close_message(ItemStatus::Completed, ends);
        }
        let open = Open::start(block, raw, self, ends)?;
        self.open.push((place, open));
        Ok(())
    }

    /// A piece of a block.
    pub(super) fn delta(
        &mut self,
        place: Option<i64>,
        delta: Delta<'_>,
        ends: &mut Ends<'_>,
    ) -> Result<(), Error> {
        let found = match place {
            Some(_) => self.open.iter().rposition(|(other, _)| *other == place),
            None => self.open.len().checked_sub(1),
        };
        let Some(at) = found else {
            // Servers exist that leave out where a text begins.
            let begin = match delta.kind.0.as_deref() {
                Some("text_delta") => r#"{"type":"text"}"#,
                Some("thinking_delta") => r#"{"type":"thinking"}"#,
                _ => {
                    self.report(ends, "a piece of a block that never began is left out");
                    return Ok(());
                }
            };
            let raw: &RawValue = serde_json::from_str(begin)
                .map_err(|why| error::nonsense("a block that never began").with_source(why))?;
            self.start(place, raw, ends)?;
            return if self.open.is_empty() { Ok(()) } else { self.delta(place, delta, ends) };
        };
        let Some(mut open) = self.lift(at) else { return Ok(()) };
        let outcome = open.take(delta, self, ends);
        self.put_back(at, open);
        outcome
    }

    /// A piece of the usual kind, for the block at that place; whether it found one that takes it.
    pub(super) fn piece(
        &mut self,
        place: i64,
        piece: Piece,
        text: String,
        ends: &mut Ends<'_>,
    ) -> Result<(), Error> {
        let at = self.open.iter().rposition(|(other, _)| *other == Some(place));
        let Some((at, mut open)) = at.and_then(|at| Some((at, self.lift(at)?))) else {
            return self.delta(Some(place), piece.into_delta(text), ends);
        };
        let outcome = open.piece(piece, text, self, ends);
        self.put_back(at, open);
        outcome
    }

    /// Takes a block out, so that it can work on the rest of the state.
    fn lift(&mut self, at: usize) -> Option<Open> {
        self.open.get_mut(at).map(|(_, open)| std::mem::replace(open, Open::Nothing))
    }

    fn put_back(&mut self, at: usize, open: Open) {
        if let Some((_, slot)) = self.open.get_mut(at) {
            *slot = open;
        }
    }

    fn stop(&mut self, place: Option<i64>, ends: &mut Ends<'_>) {
        let found = match place {
            Some(_) => self.open.iter().rposition(|(other, _)| *other == place),
            None => self.open.len().checked_sub(1),
        };
        if let Some(at) = found {
            let (_, open) = self.open.remove(at);
            open.stop(self, ends);
        }
    }

    fn stop_last(&mut self, ends: &mut Ends<'_>) {
        if let Some((_, open)) = self.open.pop() {
            open.stop(self, ends);
        }
    }

    /// The item got all its content.
    pub(super) fn wait(&mut self, index: u32, carriers: Vec<Carrier>, whole: bool, ends: &mut Ends<'_>) {
        self.settle(ItemStatus::Completed, ends);
        self.waiting = Some(Waiting { index, carriers, whole });
    }

    /// A call got all its arguments.
    pub(super) fn called(&mut self, whole: bool) {
        self.calls += 1;
        self.cut_call = !whole;
    }

    fn settle(&mut self, status: ItemStatus, ends: &mut Ends<'_>) {
        if let Some(Waiting { index, carriers, whole }) = self.waiting.take() {
            let status = if whole { ItemStatus::Completed } else { status };
            done(ends, index, status, carriers);
        }
    }

    fn close_message(&mut self, status: ItemStatus, ends: &mut Ends<'_>) {
        if let Some(Message { index, .. }) = self.message.take() {
            done(ends, index, status, Vec::new());
        }
    }

    /// The connection was closed.
    pub(in crate::messages) fn closed(&mut self, names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        let told = self.finish.is_some();
        self.end_or_cut(told, &mut Ends { names, out })
    }

    /// An error came in the place of the rest: what is open stays a piece.
    pub(in crate::messages) fn cut(&mut self, names: &NameMap, out: &mut Vec<Event>) {
        if self.ended {
            return;
        }
        self.ended = true;
        let ends = &mut Ends { names, out };
        for (_, open) in std::mem::take(&mut self.open) {
            if !open.is_raw() {
                open.stop(self, ends);
                if let Some(waiting) = &mut self.waiting {
                    waiting.whole = false;
                }
                self.settle(ItemStatus::Incomplete, ends);
            }
        }
        self.settle(ItemStatus::Incomplete, ends);
        self.close_message(ItemStatus::Incomplete, ends);
        ends.out.extend(self.usage.take().map(Event::Usage));
    }

    fn end_or_cut(&mut self, whole: bool, ends: &mut Ends<'_>) -> Result<(), Error> {
        if self.ended {
            return Ok(());
        }
        if whole && self.begun {
            return self.end(ends);
        }
        self.cut(ends.names, ends.out);
        Err(Error::upstream("The upstream closed the stream before the answer was finished."))
    }

    /// The answer is over: closes what is open and says why it ended (translation contract §12).
    fn end(&mut self, ends: &mut Ends<'_>) -> Result<(), Error> {
        self.ended = true;
        for (_, open) in std::mem::take(&mut self.open) {
            open.stop(self, ends);
        }
        let told = self.finish.take().unwrap_or(FinishReason::Stop);
        let declined = matches!(told, FinishReason::Refusal);
        let cut = declined || matches!(told, FinishReason::Length | FinishReason::ContextWindow);
        if let FinishReason::Other(word) = &told {
            let why = format!("an unknown reason, '{word}', is taken for a stop");
            ends.out.push(Event::Loss(Loss::warn("stop_reason", why)));
        }
        let status = if cut { ItemStatus::Incomplete } else { ItemStatus::Completed };
        self.settle(status, ends);
        self.close_message(status, ends);
        ends.out.extend(self.usage.take().map(Event::Usage));
        let reason = match told {
            // What was declined half-way is not to be run.
            told if declined || (cut && self.cut_call) => told,
            _ if self.calls > 0 => FinishReason::ToolCalls,
            FinishReason::ToolCalls => FinishReason::Stop,
            told => told,
        };
        ends.out.push(Event::Finish(Finish { choice: 0, reason }));
        Ok(())
    }
}

/// The fields that say something.
fn told(own: Own<'_>) -> impl Iterator<Item = (&'static str, &RawValue)> {
    own.into_iter().filter_map(|(name, raw)| Some((name, raw?))).filter(|(_, raw)| raw.get() != "null")
}

fn done(ends: &mut Ends<'_>, index: u32, status: ItemStatus, carriers: Vec<Carrier>) {
    ends.out.push(Event::ItemDone { index, status, carriers, detail: None, extra: Extra::EMPTY });
}

/// The end of a part.
pub(super) fn part_done(ends: &mut Ends<'_>, index: u32, part: u32, space: PartSpace) {
    ends.out.push(Event::PartDone { index, part, space });
}
