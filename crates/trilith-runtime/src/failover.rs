//! Which upstream is tried next. The policy lives with whoever routes; the loop lives here.

use std::{collections::HashSet, sync::Arc, time::Duration};

use trilith_core::{BoxFuture, Error, Upstream};

/// A place that may serve the request.
#[derive(Clone)]
pub struct Candidate {
    /// The place.
    pub upstream: Arc<dyn Upstream>,
    /// Its name for the model.
    pub model: Box<str>,
    /// Whether it may have data that is local only.
    pub local: bool,
}

/// The policy for one request: only ever asked before the first byte of an answer went out. Candidates are
/// named by their place in the request's list.
pub trait Failover: Send {
    /// Leaves only these to be tried, none of which may be missing. Called before the first try.
    fn only(&mut self, candidates: &HashSet<usize>);

    /// The candidate to try first; `None` if there is none at all.
    fn first(&mut self) -> Option<usize>;

    /// The candidate that answered.
    fn answered(&mut self, candidate: usize);

    /// What to try after a candidate failed, and after which pause; `None` to tell the caller.
    fn failed(&mut self, candidate: usize, error: &Error) -> Option<(usize, Duration)>;

    /// Waits.
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()>;
}

/// The tries of one request, under a policy.
pub(crate) struct Tries<'a> {
    failover: &'a mut dyn Failover,
    candidate: usize,
}

impl<'a> Tries<'a> {
    /// # Errors
    /// There is no candidate at all.
    pub(crate) fn new(failover: &'a mut dyn Failover) -> Result<Self, Error> {
        let candidate = failover.first().ok_or_else(nobody)?;
        Ok(Self { failover, candidate })
    }

    /// The candidate to try now, and its place.
    pub(crate) fn candidate<'c>(&self, all: &'c [Candidate]) -> Result<(usize, &'c Candidate), Error> {
        let candidate = all.get(self.candidate).ok_or_else(|| Error::internal("a route names no target"))?;
        Ok((self.candidate, candidate))
    }

    /// It answered.
    pub(crate) fn answered(&mut self) {
        self.failover.answered(self.candidate);
    }

    /// It failed: goes to the next one, after the pause that the policy wants.
    ///
    /// # Errors
    /// The failure itself, when the policy gives up.
    pub(crate) async fn failed(&mut self, error: Error) -> Result<(), Error> {
        let Some((next, pause)) = self.failover.failed(self.candidate, &error) else { return Err(error) };
        if !pause.is_zero() {
            self.failover.pause(pause).await;
        }
        self.candidate = next;
        Ok(())
    }
}

fn nobody() -> Error {
    Error::new(
        trilith_core::ErrorKind::Overloaded,
        trilith_core::ErrorOrigin::Upstream,
        "no upstream for this model can take requests now; try again later",
    )
}
