//! Where the items of a call stand in the output, when some are left out or stand among those of other calls.

use trilith_core::{Error, Event};

/// The place of each item of a call in the output; `None` for one that is left out.
#[derive(Debug, Default)]
pub(super) struct Places(Vec<Option<u32>>);

impl Places {
    /// Gives the next item of the call its place; an item for which `next` is `None` is left out.
    ///
    /// # Errors
    /// `index` is not the one that follows: the target counts wrong.
    pub(super) fn add(&mut self, index: u32, next: Option<&mut u32>) -> Result<(), Error> {
        if usize::try_from(index) != Ok(self.0.len()) {
            return Err(no_sense());
        }
        self.0.push(next.map(|next| {
            let place = *next;
            *next = next.saturating_add(1);
            place
        }));
        Ok(())
    }

    /// Moves an event to the place of its item; `false` if that is left out. Events without an item stay.
    ///
    /// # Errors
    /// There is no such item.
    pub(super) fn follow(&self, event: &mut Event) -> Result<bool, Error> {
        let Some(index) = event.index_mut() else { return Ok(true) };
        let known = usize::try_from(*index).ok().and_then(|index| self.0.get(index));
        match known.ok_or_else(no_sense)? {
            Some(place) => *index = *place,
            None => return Ok(false),
        }
        Ok(true)
    }
}

/// What is said of a target whose events cannot be.
pub(crate) fn no_sense() -> Error {
    Error::upstream("the upstream answered in an order that makes no sense; try again")
}
