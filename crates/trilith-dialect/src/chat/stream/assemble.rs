//! Puts the chunks of this dialect together.

use trilith_core::{DialectId, Error, Event, Extra, Json};

use super::said::Said;
use crate::{
    NameMap, assemble,
    chat::response::wire::{Answer, Choice},
};

/// The state of one answer.
#[derive(Default)]
pub(in crate::chat) struct Assembler(assemble::Assembler<Said>);

impl Assembler {
    /// Fields of the answer as a whole, known before it begins.
    pub(in crate::chat) fn begin_extra(&mut self, extra: Extra) {
        self.0.begin.extra = extra;
    }

    /// Takes a chunk.
    pub(in crate::chat) fn take(
        &mut self,
        answer: Answer<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let counts = answer.counts();
        let moderation = answer.moderation.filter(|_| self.0.begin.extra.is_empty());
        if !self.0.has_begun() {
            answer.introduce(&mut self.0.begin);
        }
        let choices = answer.choices.unwrap_or_default();
        let alone = choices.is_empty();
        for choice in choices {
            self.choice(choice, names, out)?;
        }
        if let Some(moderation) = moderation {
            let json = Json::from_checked(format!("{{\"moderation\":{}}}", moderation.get()));
            out.push(Event::Detail { index: None, dialect: DialectId::Chat, json });
        }
        match counts {
            Some(counts) => self.0.count(counts.usage(), alone, names, out),
            None => Ok(()),
        }
    }

    /// Takes one choice of a chunk.
    pub(super) fn choice(
        &mut self,
        choice: Choice<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        self.0.choice(choice.index.0, choice, names, out)
    }

    /// The stream said that it is over, or was closed.
    pub(in crate::chat) fn end(&mut self, names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        self.0.end(names, out)
    }
}
