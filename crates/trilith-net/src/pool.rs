//! Idle connections by origin.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) scheme: Scheme,
    pub(crate) authority: Authority,
}

impl Hash for Key {
    /// By words, not byte by byte as an authority hashes itself. Authorities compare
    /// without regard to case, so that bit stays out.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.scheme.hash(state);
        for word in self.authority.as_str().as_bytes().chunks(8) {
            let word = word.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(byte | 0x20));
            state.write_u64(word);
        }
    }
}

struct Idle {
    wire: Box<Wire>,
    since: Instant,
}

/// One origin's idle connections, oldest first. An exchange holds its origin, so that its
/// connection finds the way back without a look-up.
pub(crate) struct Origin {
    key: Key,
    idle: Mutex<Vec<Idle>>,
}

impl Origin {
    fn new(key: Key) -> Self {
        Self { key, idle: Mutex::default() }
    }

    /// Host and port, for texts.
    pub(crate) fn name(&self) -> &str {
        self.key.authority.as_str()
    }
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

/// The idle connections of one client.
pub(crate) struct Pool {
    limits: PoolLimits,
    origins: Mutex<HashMap<Key, Arc<Origin>>>,
    swept: Mutex<Option<Instant>>,
    idle: AtomicUsize,
    opened: AtomicU64,
    reused: AtomicU64,
    resent: AtomicU64,
}

// Nothing is left half-done by a panic under one of these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    pub(crate) fn new(limits: PoolLimits) -> Self {
        Self {
            limits,
            origins: Mutex::default(),
            swept: Mutex::default(),
            idle: AtomicUsize::new(0),
            opened: AtomicU64::new(0),
            reused: AtomicU64::new(0),
            resent: AtomicU64::new(0),
        }
    }

    /// The origin of `key`.
    pub(crate) fn origin(&self, key: Key) -> Arc<Origin> {
        let mut origins = lock(&self.origins);
        if let Some(origin) = origins.get(&key) {
            return Arc::clone(origin);
        }
        let origin = Arc::new(Origin::new(key.clone()));
        origins.insert(key, Arc::clone(&origin));
        origin
    }

    /// The most recently used connection that is still open, one that this thread opened before others; the
    /// ones found closed or too old on the way are dropped.
    pub(crate) fn take(&self, origin: &Origin, now: Instant) -> Option<Box<Wire>> {
        let here = thread::current().id();
        loop {
            let Some((mut idle, older)) = self.take_one(origin, here, now) else {
                self.sweep_if_due(now);
                return None;
            };
            self.idle.fetch_sub(1 + older.len(), Ordering::Relaxed);
            if self.is_young(&idle, now) && idle.wire.is_usable() {
                self.reused.fetch_add(1, Ordering::Relaxed);
                return Some(idle.wire);
            }
        }
    }

    /// Takes a connection out of its list, and with one that is too old those before it: the list is ordered by
    /// age.
    fn take_one(&self, origin: &Origin, here: ThreadId, now: Instant) -> Option<(Idle, Vec<Idle>)> {
        let mut list = lock(&origin.idle);
        let own = list.iter().rposition(|idle| idle.wire.home == here);
        let place = own.or_else(|| list.len().checked_sub(1))?;
        let idle = list.remove(place);
        let older = if self.is_young(&idle, now) { Vec::new() } else { list.drain(..place).collect() };
        Some((idle, older))
    }

    fn is_young(&self, idle: &Idle, now: Instant) -> bool {
        now.saturating_duration_since(idle.since) < self.limits.max_idle_age
    }

    /// Keeps a connection, or drops one when the limits say so.
    pub(crate) fn put(&self, origin: &Origin, wire: Box<Wire>, now: Instant) {
        if self.idle.load(Ordering::Relaxed) < self.limits.max_idle {
            // Counted first: another task may take it as soon as it is in the list.
            self.idle.fetch_add(1, Ordering::Relaxed);
            let evicted = {
                let mut list = lock(&origin.idle);
                list.push(Idle { wire, since: now });
                (list.len() > self.limits.max_idle_per_origin).then(|| list.remove(0))
            };
            if evicted.is_some() {
                self.idle.fetch_sub(1, Ordering::Relaxed);
            }
            // Closing a socket is a system call, so it happens here, outside the lock.
            drop(evicted);
        }
        self.sweep_if_due(now);
    }

    /// Looks through the whole pool now and then, so that origins out of use keep neither
    /// their sockets nor their place.
    fn sweep_if_due(&self, now: Instant) {
        let full = self.idle.load(Ordering::Relaxed) >= self.limits.max_idle;
        let pause =
            if full { SWEEP_WHEN_FULL.min(self.limits.max_idle_age) } else { self.limits.max_idle_age };
        {
            let mut swept = lock(&self.swept);
            let last = *swept.get_or_insert(now);
            if now.saturating_duration_since(last) < pause {
                return;
            }
            *swept = Some(now);
        }
        self.sweep(now);
    }

    /// Drops every connection that is too old or was closed by its server.
    pub(crate) fn sweep(&self, now: Instant) {
        let mut dropped = Vec::new();
        let mut origins = lock(&self.origins);
        for origin in origins.values() {
            let mut list = lock(&origin.idle);
            for mut idle in std::mem::take(&mut *list) {
                if self.is_young(&idle, now) && idle.wire.is_usable() {
                    list.push(idle);
                } else {
                    dropped.push(idle);
                }
            }
        }
        // An origin that an exchange holds must stay: its connection will come back to it.
        // New holders need the lock that is held here.
        origins.retain(|_, origin| Arc::strong_count(origin) > 1 || !lock(&origin.idle).is_empty());
        drop(origins);
        self.idle.fetch_sub(dropped.len(), Ordering::Relaxed);
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
            idle: self.idle.load(Ordering::Relaxed),
        }
    }
}
