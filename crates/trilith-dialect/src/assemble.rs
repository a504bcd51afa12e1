//! Puts chunks of choices together into events; a whole answer is one chunk. Chat Completions and Completions
//! share this.
//!
//! What a choice ends with is decided when the stream ends, not when `finish_reason` comes: servers repeat
//! it, correct it (Azure's late filter) and send more after it. The end is `[DONE]`, the close of the
//! connection, or a chunk of nothing but usage once every choice is finished.

use trilith_core::{
    Begin, Carrier, Error, Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus, Loss, Usage,
};

use crate::{NameMap, openai_error};

/// One of the answers, as it comes.
pub(crate) trait Said: Send {
    /// A choice of a chunk.
    type Choice<'a>;

    /// The most answers that a server gives.
    const MOST: u16;

    fn new(number: u16) -> Self;

    fn is_finished(&self) -> bool;

    /// Takes what a chunk says of it.
    fn take(&mut self, choice: Self::Choice<'_>, ends: &mut Ends<'_>) -> Result<(), Error>;

    /// The answer was cut: closes what is open as incomplete.
    fn cut(&mut self, ends: &mut Ends<'_>);

    /// The answer is over: closes what is open and says why it ended (translation contract §12).
    fn close(&mut self, ends: &mut Ends<'_>) -> Result<FinishReason, Error>;
}

/// The state of one answer.
pub(crate) struct Assembler<S> {
    /// What the answer says about itself, told with its first choice.
    pub(crate) begin: Begin,
    begun: bool,
    choices: Vec<S>,
    usage: Option<Usage>,
    ended: bool,
    /// Items so far.
    items: u32,
    reported_late: bool,
}

impl<S> Default for Assembler<S> {
    fn default() -> Self {
        Self {
            begin: Begin::default(),
            begun: false,
            choices: Vec::new(),
            usage: None,
            ended: false,
            items: 0,
            reported_late: false,
        }
    }
}

impl<S: Said> Assembler<S> {
    /// Whether what the answer says about itself is told, so that nothing more has to be learned.
    pub(crate) const fn has_begun(&self) -> bool {
        self.begun
    }

    /// Takes the counts of a chunk; `alone` says that it had no choices.
    pub(crate) fn count(
        &mut self,
        usage: Usage,
        alone: bool,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        if self.ended && self.usage.as_ref() != Some(&usage) {
            out.push(Event::Usage(usage.clone()));
        }
        self.usage = Some(usage);
        if alone && !self.ended && self.is_whole() {
            self.close(names, out)?;
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        !self.choices.is_empty() && self.choices.iter().all(Said::is_finished)
    }

    /// Takes one choice of a chunk; a place that is not told is the first.
    pub(crate) fn choice(
        &mut self,
        place: Option<i64>,
        choice: S::Choice<'_>,
        names: &NameMap,
        out: &mut Vec<Event>,
    ) -> Result<(), Error> {
        let place = u16::try_from(place.unwrap_or(0)).ok().filter(|place| *place < S::MOST);
        let place = place.ok_or_else(|| openai_error::nonsense("a choice whose index is out of range"))?;
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
        let slot = usize::from(place);
        while self.choices.len() <= slot {
            let number = u16::try_from(self.choices.len()).unwrap_or_default();
            self.choices.push(S::new(number));
        }
        if let Some(said) = self.choices.get_mut(slot) {
            said.take(choice, &mut Ends { names, items: &mut self.items, out })?;
        }
        Ok(())
    }

    /// The stream said that it is over, or was closed.
    pub(crate) fn end(&mut self, names: &NameMap, out: &mut Vec<Event>) -> Result<(), Error> {
        if self.ended {
            return Ok(());
        }
        if !self.is_whole() {
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
pub(crate) struct Ends<'e> {
    pub(crate) names: &'e NameMap,
    items: &'e mut u32,
    pub(crate) out: &'e mut Vec<Event>,
}

impl Ends<'_> {
    /// The index of a new item.
    pub(crate) fn next_item(&mut self) -> u32 {
        let index = *self.items;
        *self.items = index.saturating_add(1);
        index
    }

    /// Begins an item of a choice and gives its index.
    pub(crate) fn add(&mut self, choice: u16, body: ItemBody) -> u32 {
        let index = self.next_item();
        let item = Box::new(Item { status: Some(ItemStatus::InProgress), ..Item::new(body) });
        self.out.push(Event::ItemAdded { index, choice, item });
        index
    }

    /// Ends an item.
    pub(crate) fn done(&mut self, index: u32, status: ItemStatus, carriers: Vec<Carrier>) {
        self.out.push(Event::ItemDone { index, status, carriers, detail: None, extra: Extra::EMPTY });
    }

    /// Reports a reason to end that is taken for a stop because nobody knows it.
    pub(crate) fn report_unknown(&mut self, choice: u16, reason: &FinishReason) {
        if let FinishReason::Other(word) = reason {
            let why = format!("an unknown reason, '{word}', is taken for a stop");
            let path = format!("choices[{choice}].finish_reason");
            self.out.push(Event::Loss(Loss::warn(path, why)));
        }
    }
}
