//! A circuit for each target: after failures in a row it is left alone for a while.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// When a target is left alone, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct HealthPolicy {
    /// Failures in a row that open the circuit; at least 1.
    pub failures: u32,
    /// First pause, milliseconds; it doubles with each further failure.
    pub cool_down_ms: u64,
    /// Longest pause, milliseconds.
    pub longest_ms: u64,
}

impl Default for HealthPolicy {
    fn default() -> Self {
        Self { failures: 5, cool_down_ms: 5_000, longest_ms: 60_000 }
    }
}

/// The circuits of all targets. Times are milliseconds of a clock that never goes back.
#[derive(Debug)]
pub struct Health {
    policy: HealthPolicy,
    circuits: Box<[Circuit]>,
}

#[derive(Debug, Default)]
struct Circuit {
    failures: AtomicU32,
    /// 0: closed. Otherwise nothing is sent before this time, and one request is at it.
    open_until: AtomicU64,
}

impl Health {
    /// Closed circuits for `targets` targets.
    pub fn new(targets: usize, policy: HealthPolicy) -> Self {
        Self { policy, circuits: (0..targets).map(|_| Circuit::default()).collect() }
    }

    /// Whether a request may go to the target now. When a pause is over one request is let through as a trial,
    /// and the pause begins anew: a trial whose caller leaves without an outcome delays the next one by a pause
    /// and blocks nothing for good.
    pub fn admit(&self, target: usize, now_ms: u64) -> bool {
        let Some(circuit) = self.circuits.get(target) else { return true };
        let until = circuit.open_until.load(Ordering::Acquire);
        if until == 0 {
            return true;
        }
        if now_ms < until {
            return false;
        }
        let next = now_ms.saturating_add(self.policy.cool_down_ms).max(1);
        circuit.open_until.compare_exchange(until, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The target answered.
    pub fn success(&self, target: usize) {
        let Some(circuit) = self.circuits.get(target) else { return };
        // Most answers come from targets without a failure: those only read.
        if circuit.failures.load(Ordering::Relaxed) != 0 {
            circuit.failures.store(0, Ordering::Relaxed);
        }
        if circuit.open_until.load(Ordering::Relaxed) != 0 {
            circuit.open_until.store(0, Ordering::Release);
        }
    }

    /// The target failed in a way that [`crate::hurts_target`] counts.
    pub fn failure(&self, target: usize, now_ms: u64) {
        let Some(circuit) = self.circuits.get(target) else { return };
        let more = |failures: u32| Some(failures.saturating_add(1));
        let before =
            circuit.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).unwrap_or(u32::MAX);
        let failures = before.saturating_add(1);
        let Some(beyond) = failures.checked_sub(self.policy.failures.max(1)) else { return };
        let pause = self.policy.cool_down_ms.saturating_mul(1 << beyond.min(20)).min(self.policy.longest_ms);
        circuit.open_until.store(now_ms.saturating_add(pause).max(1), Ordering::Release);
    }

    /// Whether the target is in use: its circuit is closed.
    pub fn is_closed(&self, target: usize) -> bool {
        self.circuits.get(target).is_none_or(|circuit| circuit.open_until.load(Ordering::Relaxed) == 0)
    }
}

#[cfg(test)]
mod tests;
