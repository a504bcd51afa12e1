//! A request on its way to one target.

use std::{cell::OnceCell, sync::Arc};

use trilith_core::{Abilities, Completion, Hold, Item, Loss, Schemas, Settings, Shows, Turn};

use super::{Filter, Filters, Promise, fan_out::Part};
use crate::failover::Candidate;

/// The terms on which a request is served, whoever its target is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// What the client can be shown.
    pub(crate) shows: Shows,
    /// Whether the caller agreed that a forced tool choice is left to a model that cannot be forced.
    pub(crate) forced_choice_may_go: bool,
    /// The most answers that are asked for by calls of their own.
    pub(crate) max_choices: u16,
}

/// A request as one target will get it: what emulations rewrite.
pub(crate) struct Draft<'a> {
    target: &'a Candidate,
    abilities: OnceCell<Abilities>,
    pub(super) schemas: &'a dyn Schemas,
    pub(crate) terms: Terms,
    /// What is asked for besides the items. Shared with the response until somebody writes to it.
    pub(crate) settings: Arc<Settings>,
    /// The whole context, oldest first.
    pub(crate) input: Vec<Item>,
    /// What makes it a text completion.
    pub(crate) completion: Option<Completion>,
    /// What was emulated, and what was lost on the way.
    pub(crate) losses: Vec<Loss>,
    /// The calls to make, where one will not do.
    pub(super) parts: Vec<Part>,
    /// Whether the answer is empty without a call.
    pub(super) empty: bool,
    /// Whether the oldest turns may be left out of a conversation that is too long.
    pub(super) shortens: bool,
    filters: Filters,
    /// What was promised of the text and has to be looked at.
    pub(crate) promise: Option<Promise>,
}

/// A request with everything emulated.
pub(crate) struct Finished {
    /// What to send.
    pub(crate) turn: Turn,
    /// The calls to make of it; one, where there are none.
    pub(crate) parts: Vec<Part>,
    /// Whether no call is made, as the answer is empty.
    pub(crate) empty: bool,
    /// Whether the oldest turns may be left out of a conversation that is too long.
    pub(crate) shortens: bool,
    /// The filters of each call's answer.
    pub(crate) filters: Filters,
    /// What was emulated, and what was lost on the way.
    pub(crate) losses: Vec<Loss>,
    /// What was promised of the text and has to be looked at.
    pub(crate) promise: Option<Promise>,
}

impl<'a> Draft<'a> {
    /// A turn as it would go to a target that does everything; `input` is what this one can read of its context.
    pub(crate) fn new(
        target: &'a Candidate,
        schemas: &'a dyn Schemas,
        terms: Terms,
        turn: &Turn,
        input: Vec<Item>,
    ) -> Self {
        Self {
            target,
            abilities: OnceCell::new(),
            schemas,
            terms,
            settings: Arc::clone(&turn.settings),
            input,
            completion: turn.completion.clone(),
            losses: Vec::new(),
            parts: Vec::new(),
            empty: false,
            shortens: false,
            filters: Filters::NONE,
            promise: None,
        }
    }

    /// What the target does by itself.
    pub(crate) fn can(&self) -> Abilities {
        *self.abilities.get_or_init(|| self.target.upstream.abilities(&self.target.model))
    }

    /// How the target can be held to the form of the text.
    pub(super) fn hold(&self) -> Hold {
        self.target.upstream.holds(&self.target.model, &self.settings)
    }

    /// How many answers one call is to give.
    pub(crate) fn answers(&self) -> u16 {
        super::answers(&self.settings, self.completion.as_ref())
    }

    /// The settings, to be written to. The response keeps those that the caller wrote.
    pub(crate) fn settings_mut(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    /// Leaves a filter for the answer: `make` gives a fresh one for each call.
    pub(crate) fn filter(&mut self, make: impl Fn() -> Box<dyn Filter> + Send + Sync + 'static) {
        self.filters.push(make);
    }

    /// Ends the rewriting; `turn` has what no emulation touches.
    pub(crate) fn finish(self, turn: Turn) -> Finished {
        let Self { settings, input, completion, parts, empty, shortens, filters, losses, promise, .. } = self;
        Finished {
            turn: Turn { settings, input, completion, ..turn },
            parts,
            empty,
            shortens,
            filters,
            losses,
            promise,
        }
    }
}
