//! The answers of one call, each of which can be ended while the others go on.

use trilith_core::{Error, Event, Finish, FinishReason};

use super::{Flow, places::Places};
use crate::normalize::OpenItems;

/// How an answer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    /// The target ended it.
    Ended,
    /// It was ended here.
    Cut,
}

/// Keeps account of the answers of a call. Nothing is seen of an answer that was cut, so that the items of the
/// others move up.
#[derive(Debug)]
pub(super) struct Answers {
    places: Places,
    /// The answer of each item that is seen.
    of_item: Vec<u16>,
    open: OpenItems,
    states: Vec<State>,
}

impl Answers {
    /// So many answers, none of them begun.
    pub(super) fn new(answers: u16) -> Self {
        Self {
            places: Places::default(),
            of_item: Vec::new(),
            open: OpenItems::default(),
            states: vec![State::Running; usize::from(answers)],
        }
    }

    /// The answer that an item (by its new place) belongs to.
    pub(super) fn of(&self, index: u32) -> Option<u16> {
        self.of_item.get(usize::try_from(index).ok()?).copied()
    }

    /// Takes the beginning of an item: to be seen, at its new place, if it is `wanted` and its answer goes on.
    ///
    /// # Errors
    /// The target counts wrong.
    pub(super) fn begin(&mut self, event: &mut Event, wanted: bool) -> Result<bool, Error> {
        let Event::ItemAdded { index, choice, .. } = event else { return self.admit(event) };
        let mut next = u32::try_from(self.of_item.len()).unwrap_or(u32::MAX);
        if wanted && !self.is_cut(*choice) {
            self.places.add(*index, Some(&mut next))?;
            self.of_item.push(*choice);
        } else {
            self.places.add(*index, None)?;
        }
        self.places.follow(event)
    }

    /// Takes any event: whether it is to be seen, at its new place.
    ///
    /// # Errors
    /// It names an item that there is not.
    pub(super) fn admit(&mut self, event: &mut Event) -> Result<bool, Error> {
        match event {
            Event::ItemAdded { .. } => return self.begin(event, true),
            Event::Finish(finish) => match self.states.get_mut(usize::from(finish.choice)) {
                Some(State::Cut) => return Ok(false),
                Some(state) => *state = State::Ended,
                None => {}
            },
            _ => {}
        }
        if !self.places.follow(event)? {
            return Ok(false);
        }
        let answer = event.index().and_then(|index| self.of(index));
        Ok(!answer.is_some_and(|answer| self.is_cut(answer)))
    }

    /// Shows an event that was admitted.
    pub(super) fn show(&mut self, event: Event, out: &mut Vec<Event>) {
        self.open.record(&event);
        out.push(event);
    }

    /// Ends an answer for a reason: what is open of it is closed, as whole or as cut short.
    pub(super) fn cut(
        &mut self,
        answer: u16,
        whole: impl Fn(u32) -> bool,
        reason: FinishReason,
        out: &mut Vec<Event>,
    ) {
        let Self { of_item, open, states, .. } = self;
        let meant = |index: u32| of_item.get(index as usize) == Some(&answer);
        out.extend(open.close(meant, whole));
        out.push(Event::Finish(Finish { choice: answer, reason }));
        if let Some(state) = states.get_mut(usize::from(answer)) {
            *state = State::Cut;
        }
    }

    /// Whether an answer was ended here.
    pub(super) fn is_cut(&self, answer: u16) -> bool {
        self.states.get(usize::from(answer)) == Some(&State::Cut)
    }

    /// Whether the call is still wanted. The target goes on with an answer that was cut, so the last one that is
    /// wanted ends the call.
    pub(super) fn flow(&self) -> Flow {
        let over = self.states.contains(&State::Cut) && !self.states.contains(&State::Running);
        if over { Flow::Enough } else { Flow::More }
    }
}
