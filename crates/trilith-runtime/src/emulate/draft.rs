//! A request on its way to one target.

use std::{cell::OnceCell, sync::Arc};

use trilith_core::{Abilities, Hold, Item, Loss, Schemas, Settings, Turn};

use super::{Filter, Filters, Promise, fan_out::Part};
use crate::failover::Candidate;

/// A request as one target will get it: what emulations rewrite.
pub(crate) struct Draft<'a> {
    target: &'a Candidate,
    abilities: OnceCell<Abilities>,
    pub(super) schemas: &'a dyn Schemas,
    /// What is asked for besides the items. Shared with the response until somebody writes to it.
    pub(crate) settings: Arc<Settings>,
    /// The whole context, oldest first.
    pub(crate) input: Vec<Item>,
    /// What was emulated, and what was lost on the way.
    pub(crate) losses: Vec<Loss>,
    /// The most answers that are asked for by calls of their own.
    pub(crate) max_choices: u16,
    /// The calls to make, where one will not do.
    pub(super) parts: Vec<Part>,
    filters: Filters,
    /// What was promised of the text and has to be looked at.
    pub(crate) promise: Option<Promise>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        target: &'a Candidate,
        schemas: &'a dyn Schemas,
        settings: Arc<Settings>,
        input: Vec<Item>,
        max_choices: u16,
    ) -> Self {
        Self {
            target,
            abilities: OnceCell::new(),
            schemas,
            settings,
            input,
            losses: Vec::new(),
            max_choices,
            parts: Vec::new(),
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

    /// The settings, to be written to. The response keeps those that the caller wrote.
    pub(crate) fn settings_mut(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    /// Leaves a filter for the answer: `make` gives a fresh one for each call.
    pub(crate) fn filter(&mut self, make: impl Fn() -> Box<dyn Filter> + Send + Sync + 'static) {
        self.filters.push(make);
    }

    /// The turn to send, the calls to make of it (one, where there are none), and the filters of each answer.
    pub(crate) fn finish(self, turn: Turn) -> (Turn, Vec<Part>, Filters) {
        let Self { settings, input, parts, filters, .. } = self;
        (Turn { settings, input, ..turn }, parts, filters)
    }
}
