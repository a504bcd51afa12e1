//! Idle connections by origin.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::uri::Authority;
use tokio::time::Instant;

use crate::config::PoolLimits;
use crate::wire::Wire;

/// Least time between two looks through a full pool.
const SWEEP_WHEN_FULL: Duration = Duration::from_secs(1);

/// How an origin is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    Http,
    Https,
    /// A plain proxy: one connection serves every `http` origin behind it.
    Forward,
}

/// What connections are interchangeable for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
}

struct Idle {
    wire: Box<Wire>,
    since: Instant,
}

/// Counts since the client was made, and the present number of idle connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Connections opened.
    pub opened: u64,
    /// Requests that used a pooled connection.
    pub reused: u64,
    /// Requests sent again because a pooled connection turned out to be closed.
    pub resent: u64,
    /// Connections idle now.
    pub idle: usize,
}

#[derive(Default)]
struct Shelf {
    origins: HashMap<Key, Vec<Idle>>,
    count: usize,
    swept: Option<Instant>,
}

/// The idle connections of one client.
pub(crate) struct Pool {
    limits: PoolLimits,
    shelf: Mutex<Shelf>,
    opened: AtomicU64,
    reused: AtomicU64,
    resent: AtomicU64,
}

impl Pool {
    pub(crate) fn new(limits: PoolLimits) -> Self {
        Self {
            limits,
            shelf: Mutex::default(),
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
            resent: AtomicU64::new(0),
        }
    }

    // A panic while the lock is held can at worst leave the count off by one.
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most recently used connection that is still open; the ones found closed or too
    /// old on the way are dropped.
    pub(crate) fn take(&self, key: &Key, now: Instant) -> Option<Box<Wire>> {
        loop {
            let mut idle = {
                let mut shelf = self.shelf();
                let idle = shelf.origins.get_mut(key)?.pop()?;
                shelf.count = shelf.count.saturating_sub(1);
                idle
            };
            if now.saturating_duration_since(idle.since) >= self.limits.max_idle_age {
                // The list is ordered by age: everything below is older still.
                self.forget(key);
                return None;
            }
            if idle.wire.is_usable() {
                self.reused.fetch_add(1, Ordering::Relaxed);
                return Some(idle.wire);
            }
        }
    }

    /// Keeps a connection, or drops one when the limits say so. Now and then this also
    /// looks through the whole pool, so that origins out of use do not keep their sockets.
    pub(crate) fn put(&self, key: Key, wire: Box<Wire>, now: Instant) {
        let mut evicted = None;
        let due = {
            let mut shelf = self.shelf();
            let full = shelf.count >= self.limits.max_idle;
            if full {
                evicted = Some(wire);
            } else {
                let list = shelf.origins.entry(key).or_default();
                list.push(Idle { wire, since: now });
                if list.len() > self.limits.max_idle_per_origin {
                    evicted = Some(list.remove(0).wire);
                } else {
                    shelf.count += 1;
                }
            }
            let pause =
                if full { SWEEP_WHEN_FULL.min(self.limits.max_idle_age) } else { self.limits.max_idle_age };
            let swept = *shelf.swept.get_or_insert(now);
            now.saturating_duration_since(swept) >= pause
        };
        // Closing a socket is a system call: not under the lock.
        drop(evicted);
        if due {
            self.sweep(now);
        }
    }

    fn forget(&self, key: &Key) {
        let dropped = {
            let mut shelf = self.shelf();
            let dropped = shelf.origins.remove(key).unwrap_or_default();
            shelf.count = shelf.count.saturating_sub(dropped.len());
            dropped
        };
        drop(dropped);
    }

    /// Drops every connection that is too old or was closed by its server.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut dropped = Vec::new();
        {
            let mut shelf = self.shelf();
            shelf.swept = Some(now);
            for list in shelf.origins.values_mut() {
                for mut idle in std::mem::take(list) {
                    let young = now.saturating_duration_since(idle.since) < self.limits.max_idle_age;
                    if young && idle.wire.is_usable() {
                        list.push(idle);
                    } else {
                        dropped.push(idle);
                    }
                }
            }
            shelf.origins.retain(|_, list| !list.is_empty());
            shelf.count = shelf.count.saturating_sub(dropped.len());
        }
        drop(dropped);
    }

    pub(crate) fn count_opened(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_resent(&self) {
        self.resent.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> PoolStats {
        PoolStats {
            opened: self.opened.load(Ordering::Relaxed),
            reused: self.reused.load(Ordering::Relaxed),
            resent: self.resent.load(Ordering::Relaxed),
            idle: self.shelf().count,
        }
    }
}
