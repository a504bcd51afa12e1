//! Puts chunks together into events; a whole answer is one chunk.
//!
//! What a choice ends with is decided when the stream ends, not when `finish_reason` comes: servers repeat
//! it, correct it (Azure's late filter) and send more after it. The end is `[DONE]`, the close of the
//! connection, or a chunk of nothing but usage once every choice is finished.

use trilith_core::{Begin, DialectId, Error, Event, Extra, Finish, FinishReason, Json, Loss, Usage};

use super::said::Said;
use crate::{
    NameMap,
    chat::response::wire::{Answer, Choice},
    openai_error,
};

/// More answers than any server gives.
const MAX_CHOICES: i64 = 128;

/// The state of one answer.
#[derive(Default)]
pub(in crate::chat) struct Assembler {
    begin: Begin,
    begun: bool,
    choices: Vec<Said>,
    usage: Option<Usage>,
    ended: bool,
    /// Items so far.
    items: u32,
    reported_late: bool,
}

impl Assembler {
    /// Fields of the answer as a whole, known before it begins.
    pub(in crate::chat) fn begin_extra(&mut self, extra: Extra) {
        self.begin.extra = extra;
    }

    /// Takes a chunk.
    pub(in crate::chat) fn take(
        &mut self,
        answer: Answer<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let counts = answer.counts();
        let moderation = answer.moderation.filter(|_| self.begin.extra.is_empty());
        if !self.begun {
            answer.introduce(&mut self.begin);
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
        if let Some(counts) = counts {
            self.count(counts.usage(), out);
            let all = !self.choices.is_empty() && self.choices.iter().all(Said::is_finished);
            if alone && all {
                self.close(names, out)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, usage: Usage, out: &mut Vec<Event>) {
        if self.ended && self.usage.as_ref() != Some(&usage) {
            out.push(Event::Usage(usage.clone()));
        }
        self.usage = Some(usage);
    }

    /// Takes one choice of a chunk.
    pub(super) fn choice(
        &mut self,
        choice: Choice<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let place = choice.index.0.unwrap_or(0);
        if !(0..MAX_CHOICES).contains(&place) {
            return Err(openai_error::nonsense("a choice whose index is out of range"));
        }
        if self.ended {
            if !self.reported_late {
                self.reported_late = true;
                out.push(Event::Loss(Loss::warn("choices", "content that came after the end is left out")));
            }
            return Ok(());
        }
        if !self.begun {
            self.begun = true;
            out.push(Event::Begin(Box::new(self.begin.clone())));
        }
        let place = usize::try_from(place).unwrap_or_default();
        while self.choices.len() <= place {
            let number = u16::try_from(self.choices.len()).unwrap_or_default();
            self.choices.push(Said::new(number));
        }
        if let Some(said) = self.choices.get_mut(place) {
            said.take(choice, &mut Ends { names, items: &mut self.items, out })?;
        }
        Ok(())
    }

    /// The stream said that it is over, or was closed.
    pub(in crate::chat) fn end(&mut self, names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        if self.ended {
            return Ok(());
        }
        let whole = !self.choices.is_empty() && self.choices.iter().all(Said::is_finished);
        if !whole {
            for said in &mut self.choices {
                said.cut(&mut Ends { names, items: &mut self.items, out });
            }
            out.extend(self.usage.take().map(Event::Usage));
            return Err(Error::upstream("The upstream closed the stream before the answer was finished."));
        }
        self.close(names, out)
    }

    fn close(&mut self, names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        self.ended = true;
        let mut finishes = Vec::with_capacity(self.choices.len());
        for (number, said) in self.choices.iter_mut().enumerate() {
            let reason: FinishReason = said.close(&mut Ends { names, items: &mut self.items, out })?;
            finishes.push(Finish { choice: u16::try_from(number).unwrap_or_default(), reason });
        }
        out.extend(self.usage.clone().map(Event::Usage));
        out.extend(finishes.into_iter().map(Event::Finish));
        Ok(())
    }
}

/// Where events go, and what making them needs.
pub(super) struct Ends<'e> {
    pub(super) names: &'e NameMap,
    items: &'e mut u32,
    pub(super) out: &'e mut Vec<Event>,
}

impl Ends<'_> {
    /// The index of a new item.
    pub(super) fn next_item(&mut self) -> u32 {
        let index = *self.items;
        *self.items = index.saturating_add(1);
        index
    }
}
