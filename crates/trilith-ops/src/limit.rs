//! How many requests are in work at a time, in all and for each key.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::keys::Principal;

/// A number of places. Clones share them.
#[derive(Clone, Debug)]
pub struct Slots {
    most: usize,
    taken: Arc<AtomicUsize>,
}

impl Slots {
    /// That many places; `None`: as many as wanted.
    pub fn new(most: Option<usize>) -> Self {
        Self { most: most.unwrap_or(usize::MAX), taken: Arc::default() }
    }

    /// Takes a place if one is free. Nobody waits: a caller who is told no can choose.
    pub fn try_take(&self) -> Option<Slot> {
        let more = |taken: usize| (taken < self.most).then_some(taken + 1);
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more).ok()?;
        Some(Slot { taken: Arc::clone(&self.taken) })
    }

    /// Places in use.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

/// A place, given back when dropped.
#[derive(Debug)]
pub struct Slot {
    taken: Arc<AtomicUsize>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Both places of a request in work; dropping it gives them back.
#[derive(Debug)]
pub struct Admission {
    _all: Slot,
    _key: Slot,
}

/// Which places are all taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Those of the process: an overload, answered with 503.
    Process,
    /// Those of the caller's key: a rate limit, answered with 429.
    Key,
}

/// Takes a place of the process and one of the caller's key.
///
/// # Errors
/// One of them has none left; neither is taken then.
pub fn admit(all: &Slots, principal: &Principal) -> Result<Admission, Refusal> {
    let key = principal.slots.try_take().ok_or(Refusal::Key)?;
    let all = all.try_take().ok_or(Refusal::Process)?;
    Ok(Admission { _all: all, _key: key })
}

#[cfg(test)]
mod tests;
