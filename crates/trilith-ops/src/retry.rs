//! Which failures of an upstream may be tried again, and where (translation contract §17).

use std::time::Duration;

use trilith_core::{Error, ErrorKind, ErrorOrigin, Retry};

/// What may follow a failure before the first byte to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: any target would say the same.
    Final,
    /// Another provider: this one's account or key is the cause.
    OtherProvider,
    /// Another target.
    Elsewhere,
    /// The same target too, not before the time if one is given.
    Again(Option<Duration>),
}

/// How often and how long a request may be tried again.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// First pause before a further round; it doubles with each.
    pub base: Duration,
    /// Longest pause that Trilith chooses itself.
    pub cap: Duration,
    /// All pauses of one request together; a longer `retry-after` is not waited for.
    pub budget: Duration,
}

impl Default for RetryPolicy {
    /// The pauses that the official SDKs choose, and a budget below the time that people wait for a first token.
    fn default() -> Self {
        Self {
            base: Duration::from_millis(500),
            cap: Duration::from_secs(8),
            budget: Duration::from_secs(20),
        }
    }
}

impl RetryPolicy {
    /// The pause before round `round` (1: the first repetition): between half and the whole of the doubled base,
    /// by a uniformly random number.
    pub fn pause(&self, round: u32, random: u64) -> Duration {
        let doubled = self.base.saturating_mul(1 << round.saturating_sub(1).min(20)).min(self.cap);
        let half = doubled / 2;
        let steps = u64::try_from(half.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        half.saturating_add(Duration::from_millis(random % steps)).min(doubled)
    }
}

/// Codes and types by which upstreams say that money ran out, with whatever status.
const MONEY: &[&str] = &[
    "insufficient_quota",
    "credit_balance_exhausted",
    "billing_error",
    "billing_hard_limit_reached",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
];

/// What may follow a failure. The upstream's status decides where there is one, never its text; the class of
/// the error otherwise. A time in [`Retry::Same`] is respected in every case.
pub fn verdict(error: &Error) -> Verdict {
    if error.origin == ErrorOrigin::Caller {
        return Verdict::Final;
    }
    let after = match error.retry {
        Retry::Same(after) => after,
        Retry::Never | Retry::Elsewhere => None,
    };
    if is_money(error) {
        return Verdict::OtherProvider;
    }
    let by_class = match error.upstream.as_ref().and_then(|fault| fault.status) {
        Some(status) => by_status(status, after),
        None => by_kind(error.kind, after),
    };
    match (by_class, error.retry) {
        (Verdict::Final | Verdict::OtherProvider | Verdict::Elsewhere, Retry::Same(after)) => {
            Verdict::Again(after)
        }
        (Verdict::Final, Retry::Elsewhere) => Verdict::Elsewhere,
        (verdict, _) => verdict,
    }
}

/// Whether a failure says that the target is unwell, for [`crate::Health::failure`]. A request that only this
/// caller would make fail says nothing about it.
pub fn hurts_target(error: &Error) -> bool {
    let missing = error.kind == ErrorKind::NotFound;
    let busy = error.kind == ErrorKind::Conflict;
    verdict(error) != Verdict::Final && error.origin == ErrorOrigin::Upstream && !missing && !busy
}

fn is_money(error: &Error) -> bool {
    let said = |word: &Option<Box<str>>| word.as_deref().is_some_and(|word| MONEY.contains(&word));
    error.kind == ErrorKind::QuotaExhausted
        || error.upstream.as_ref().is_some_and(|fault| said(&fault.code) || said(&fault.kind))
}

fn by_status(status: u16, after: Option<Duration>) -> Verdict {
    match status {
        401..=403 => Verdict::OtherProvider,
        404 => Verdict::Elsewhere,
        408 | 409 | 425 | 429 => Verdict::Again(after),
        501 | 505 => Verdict::Elsewhere,
        500..=599 => Verdict::Again(after),
        // A failure came with a status that promises success, or none that HTTP knows.
        ..400 | 600.. => Verdict::Elsewhere,
        400..=499 => Verdict::Final,
    }
}

fn by_kind(kind: ErrorKind, after: Option<Duration>) -> Verdict {
    match kind {
        ErrorKind::Unauthorized | ErrorKind::Forbidden | ErrorKind::QuotaExhausted => Verdict::OtherProvider,
        ErrorKind::RateLimited | ErrorKind::Overloaded | ErrorKind::Conflict | ErrorKind::UpstreamBroken => {
            Verdict::Again(after)
        }
        // The same target would keep the caller waiting as long once more.
        ErrorKind::Timeout | ErrorKind::NotFound => Verdict::Elsewhere,
        ErrorKind::BadRequest
        | ErrorKind::MethodNotAllowed
        | ErrorKind::TooLarge
        | ErrorKind::UnsupportedMediaType
        | ErrorKind::ContextTooLong
        | ErrorKind::Internal
        | ErrorKind::UpgradeRequired => Verdict::Final,
    }
}

#[cfg(test)]
mod tests;
