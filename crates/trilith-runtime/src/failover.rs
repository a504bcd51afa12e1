//! Which upstream is tried next. The policy lives with whoever routes; the loop lives here.

use std::{sync::Arc, time::Duration};

use trilith_core::{Error, Upstream};

/// A place that may serve the request.
#[derive(Clone)]
pub struct Candidate {
    /// The place.
    pub upstream: Arc<dyn Upstream>,
    /// Its name for the model.
    pub model: Box<str>,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Try the same target again after this pause.
    Again(Duration),
    /// Try the next target.
    Next,
    /// Tell the caller.
    GiveUp,
}

/// The policy: only ever asked before the first byte of an answer went out.
pub trait Failover: Send + Sync {
    /// Whether the target may be tried now.
    fn admits(&self, candidate: &Candidate) -> bool;

    /// What to do after attempt number `attempt` (from 0, over all targets) at `candidate` failed.
    fn decide(&self, candidate: &Candidate, attempt: u32, error: &Error) -> Decision;

    /// An attempt at `candidate` was answered.
    fn succeeded(&self, candidate: &Candidate);

    /// Waits before another attempt.
    fn pause(&self, time: Duration) -> trilith_core::BoxFuture<'static, ()>;
}
