//! Puts the chunks of this dialect together: every choice is one message of one text.

use trilith_core::{Error, Event, FinishReason, ItemBody, ItemStatus, Message, PartSpace, PartStart, Role};

use crate::{
    NameMap,
    assemble::{self, Ends},
    choices::finish_reason,
    completions::response::{
        logprobs,
        wire::{Answer, Choice},
    },
};

/// The state of one answer.
#[derive(Default)]
pub(in crate::completions) struct Assembler {
    inner: assemble::Assembler<Said>,
    /// There are no tools, and so no names.
    names: NameMap,
}

impl Assembler {
    /// Takes a chunk.
    pub(in crate::completions) fn take(
        &mut self,
        answer: Answer<'_>,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let counts = answer.counts();
        if !self.inner.has_begun() {
            answer.introduce(&mut self.inner.begin);
        }
        let choices = answer.choices.unwrap_or_default();
        let alone = choices.is_empty();
        for choice in choices {
            self.choice(choice, out)?;
        }
        match counts {
            Some(counts) => self.inner.count(counts.usage(), alone, &self.names, out),
            None => Ok(()),
        }
    }

    /// Takes one choice of a chunk.
    pub(super) fn choice(&mut self, choice: Choice<'_>, out: &mut Vec<Event>) -> Result<(), Error> {
        self.inner.choice(choice.index.0, choice, &self.names, out)
    }

    /// The stream said that it is over, or was closed.
    pub(in crate::completions) fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        self.inner.end(&self.names, out)
    }
}

/// The state of one choice.
struct Said {
    number: u16,
    /// Its message.
    item: Option<u32>,
    finish: Option<FinishReason>,
}

impl Said {
    /// The message, begun where there is none.
    fn item(&mut self, ends: &mut Ends<'_>) -> u32 {
        let number = self.number;
        *self.item.get_or_insert_with(|| {
            let head = Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None };
            let index = ends.add(number, ItemBody::Message(head));
            ends.out.push(Event::PartAdded { index, part: 0, start: PartStart::Text });
            index
        })
    }

    fn end_item(index: u32, status: ItemStatus, ends: &mut Ends<'_>) {
        ends.out.push(Event::PartDone { index, part: 0, space: PartSpace::Content });
        ends.done(index, status, Vec::new());
    }
}

impl assemble::Said for Said {
    type Choice<'a> = Choice<'a>;

    const MOST: u16 = 2048;

    fn new(number: u16) -> Self {
        Self { number, item: None, finish: None }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn take(&mut self, choice: Choice<'_>, ends: &mut Ends<'_>) -> Result<(), Error> {
        let logprobs = choice.logprobs.map(logprobs::read).unwrap_or_default();
        let delta = choice.text.0.unwrap_or_default();
        if !delta.is_empty() || !logprobs.is_empty() {
            let index = self.item(ends);
            ends.out.push(Event::TextDelta { index, part: 0, delta, logprobs });
        }
        if let Some(word) = choice.finish_reason.filled() {
            self.finish = Some(finish_reason(&word, choice.stop_reason.filled())?);
        }
        Ok(())
    }

    fn cut(&mut self, ends: &mut Ends<'_>) {
        if let Some(index) = self.item.take() {
            Self::end_item(index, ItemStatus::Incomplete, ends);
        }
    }

    fn close(&mut self, ends: &mut Ends<'_>) -> Result<FinishReason, Error> {
        let told = self.finish.clone().unwrap_or(FinishReason::Stop);
        ends.report_unknown(self.number, &told);
        let cut =
            matches!(told, FinishReason::Length | FinishReason::ContextWindow | FinishReason::ContentFilter);
        let index = self.item(ends);
        Self::end_item(index, if cut { ItemStatus::Incomplete } else { ItemStatus::Completed }, ends);
        Ok(if told == FinishReason::ToolCalls { FinishReason::Stop } else { told })
    }
}
