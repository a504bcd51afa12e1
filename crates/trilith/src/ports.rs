//! The time, randomness and tasks that the runtime asks for.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use tokio::sync::Notify;
use trilith_core::{BoxFuture, Clock, Ids, Spawn};

/// The system's clock.
#[derive(Debug)]
pub(crate) struct SystemClock(Instant);

impl SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that others ask")]
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }
}

/// Seconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "this is the clock that others ask")]
pub(crate) fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.ok().and_then(|since| i64::try_from(since.as_secs()).ok()).unwrap_or(0)
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that others ask")]
    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.ok().and_then(|since| u64::try_from(since.as_millis()).ok()).unwrap_or(0)
    }

    fn monotonic_us(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// Randomness from the operating system, fetched for many ids at once: asking costs more than an id.
#[derive(Default)]
pub(crate) struct SystemIds(Mutex<Vec<[u8; 10]>>);

/// How many ids are provided for at once.
const IDS_AT_ONCE: usize = 256;

impl std::fmt::Debug for SystemIds {
    /// What ids are to come is nobody's to know.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SystemIds")
    }
}

impl Ids for SystemIds {
    fn random(&self) -> [u8; 10] {
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.is_empty() {
            let mut fresh = [[0; 10]; IDS_AT_ONCE];
            // Without randomness ids would still differ by their time; a gateway must not die of it.
            getrandom::fill(fresh.as_flattened_mut()).ok();
            ready.extend(fresh);
        }
        ready.pop().unwrap_or_default()
    }
}

/// Tasks on the runtime, counted so that the end of the process can wait for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    running: AtomicUsize,
    idle: Notify,
}

impl Spawn for Tasks {
    #[expect(clippy::disallowed_methods, reason = "this is the port that others start tasks through")]
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) {
        self.0.running.fetch_add(1, Ordering::AcqRel);
        let counted = Running(Arc::clone(&self.0));
        tokio::spawn(async move {
            tracing::trace!(name, "task started");
            task.await;
            drop(counted);
        });
    }
}

/// Counts itself off, also when its task panics.
struct Running(Arc<Counted>);

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

impl Tasks {
    /// Waits until no task runs, at most this long. Says whether none does.
    pub(crate) async fn drained(&self, most: Duration) -> bool {
        let wait = async {
            loop {
                let idle = self.0.idle.notified();
                if self.0.running.load(Ordering::Acquire) == 0 {
                    return;
                }
                idle.await;
            }
        };
        tokio::time::timeout(most, wait).await.is_ok()
    }
}
