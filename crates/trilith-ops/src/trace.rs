//! What recent requests lost in translation, for the caller who made them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trilith_core::Loss;

/// Losses kept of one request; a request with ten thousand tools may have as many.
const MOST_LOSSES: usize = 1000;

/// What a kept entry costs beyond its texts: map and queue slots, pointers, allocation headers.
const ENTRY_BYTES: usize = 256;

/// Cost of a loss beyond its texts.
const LOSS_BYTES: usize = size_of::<Loss>() + 32;

/// What one request lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LossReport {
    /// In the order they were met; at most a thousand.
    pub losses: Vec<Loss>,
    /// How many more there were.
    pub omitted: usize,
}

/// The reports of the newest requests, bounded in number and in bytes.
#[derive(Debug)]
pub struct Traces {
    most_entries: usize,
    most_bytes: usize,
    inner: Mutex<Ring>,
}

#[derive(Debug, Default)]
struct Ring {
    /// From the oldest to the newest. An entry whose report was replaced stays until its turn.
    order: VecDeque<Entry>,
    /// The newest report of each key, with the number of its entry.
    reports: HashMap<Arc<str>, (u64, Arc<LossReport>)>,
    bytes: usize,
    recorded: u64,
}

#[derive(Debug)]
struct Entry {
    key: Arc<str>,
    number: u64,
    bytes: usize,
}

impl Ring {
    fn push(&mut self, key: Arc<str>, report: Arc<LossReport>, bytes: usize) {
        let number = self.recorded;
        self.recorded += 1;
        self.bytes += bytes;
        self.reports.insert(Arc::clone(&key), (number, report));
        self.order.push_back(Entry { key, number, bytes });
    }

    /// Removes the oldest entry, and its report unless a newer one took its place; says whether there was one.
    fn pop(&mut self) -> bool {
        let Some(oldest) = self.order.pop_front() else { return false };
        self.bytes = self.bytes.saturating_sub(oldest.bytes);
        if self.reports.get(&oldest.key).is_some_and(|(number, _)| *number == oldest.number) {
            self.reports.remove(&oldest.key);
        }
        true
    }
}

impl Default for Traces {
    /// Ten thousand requests, sixteen MiB.
    fn default() -> Self {
        Self::new(10_000, 16 << 20)
    }
}

impl Traces {
    /// Keeps at most that many reports and about that many bytes.
    pub fn new(most_entries: usize, most_bytes: usize) -> Self {
        Self { most_entries, most_bytes, inner: Mutex::default() }
    }

    /// Keeps a request's losses; none is worth keeping too, for it says that there were none. The oldest reports
    /// make room. An id that is recorded again replaces its report.
    pub fn record(&self, tenant: &str, request_id: &str, mut losses: Vec<Loss>) {
        let omitted = losses.len().saturating_sub(MOST_LOSSES);
        losses.truncate(MOST_LOSSES);
        let key: Arc<str> = key(tenant, request_id).into();
        let texts: usize = losses.iter().map(|loss| loss.path.len() + loss.why.len() + LOSS_BYTES).sum();
        let bytes = texts + key.len() + ENTRY_BYTES;
        let report = Arc::new(LossReport { losses, omitted });
        let mut ring = self.ring();
        ring.push(key, report, bytes);
        while (ring.order.len() > self.most_entries || ring.bytes > self.most_bytes) && ring.pop() {}
    }

    /// A request's losses; `None` when it is not known, too old, or another tenant's.
    pub fn get(&self, tenant: &str, request_id: &str) -> Option<Arc<LossReport>> {
        let ring = self.ring();
        ring.reports.get(key(tenant, request_id).as_str()).map(|(_, report)| Arc::clone(report))
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        // Nothing in the critical sections leaves the ring half changed that a later call would mind.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tenants' names hold no NUL, so no two pairs give one key.
fn key(tenant: &str, request_id: &str) -> String {
    format!("{tenant}\0{request_id}")
}

#[cfg(test)]
mod tests;
