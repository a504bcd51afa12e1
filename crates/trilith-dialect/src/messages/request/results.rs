//! Results, found by the id of the call they answer.

use std::collections::{HashMap, VecDeque};

use trilith_core::{Call, CallKind, CallResult, Item, ItemBody};

/// A call's id on the wire, and the result that answers it.
pub(super) struct Claim {
    pub(super) id: Box<str>,
    /// The result's place among the items.
    pub(super) place: usize,
    /// The place of the first result that came for the call.
    pub(super) first: usize,
    /// How many earlier results it replaces.
    pub(super) replaced: usize,
}

/// The results of a context, found by the id of their call.
pub(super) struct Results<'t> {
    by_id: HashMap<&'t str, VecDeque<usize>>,
    calls_left: HashMap<&'t str, usize>,
    used: Vec<bool>,
    /// How often an id was sent already: a later pair of the same id is renamed.
    sent: HashMap<&'t str, usize>,
}

/// Whether it is of a kind this wire has.
pub(super) const fn sayable(kind: CallKind) -> bool {
    matches!(kind, CallKind::Function | CallKind::Custom)
}

impl<'t> Results<'t> {
    pub(super) fn of(items: &[&'t Item]) -> Self {
        let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
        let mut calls_left: HashMap<&str, usize> = HashMap::new();
        for (place, item) in items.iter().enumerate() {
            match &item.body {
                ItemBody::Result(CallResult { kind, call_id: Some(id), .. }) if sayable(*kind) => {
                    by_id.entry(id).or_default().push_back(place);
                }
                ItemBody::Call(Call { kind, call_id: Some(id), .. }) if sayable(*kind) => {
                    *calls_left.entry(id).or_default() += 1;
                }
                _ => {}
            }
        }
        Self { by_id, calls_left, used: vec![false; items.len()], sent: HashMap::new() }
    }

    /// The result for the call at `call`; `None` where none comes after it.
    pub(super) fn claim(&mut self, id: &'t str, call: usize) -> Option<Claim> {
        let left = self.calls_left.get_mut(id)?;
        *left = left.saturating_sub(1);
        let queue = self.by_id.get_mut(id)?;
        // The last call of this id takes all that is left, and the newest of them counts.
        let take = if *left == 0 { queue.len() } else { usize::from(!queue.is_empty()) };
        let taken: Vec<usize> = queue.drain(..take).collect();
        if taken.first().is_some_and(|first| *first < call) {
            return None;
        }
        for place in &taken {
            if let Some(used) = self.used.get_mut(*place) {
                *used = true;
            }
        }
        let (first, place) = (*taken.first()?, *taken.last()?);
        let times = self.sent.entry(id).or_default();
        *times += 1;
        let id = if *times == 1 { id.into() } else { format!("{id}_{times}").into() };
        Some(Claim { id, place, first, replaced: taken.len() - 1 })
    }

    /// Whether the result at that place answers a call that was written.
    pub(super) fn is_claimed(&self, place: usize) -> bool {
        self.used.get(place).copied().unwrap_or(false)
    }
}
