//! The models that providers say they have, asked for now and then.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex as ShortMutex, PoisonError},
    time::Duration,
};

use tokio::sync::Mutex;
use trilith_core::Upstream;

/// How long a list is good for, and how long a provider that gave none is left alone.
const GOOD_FOR: Duration = Duration::from_secs(60);
const ASK_AGAIN: Duration = Duration::from_secs(10);
/// The longest time for an answer: a client waits for the list.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most names of one provider, and the longest name in bytes.
const MOST: usize = 5_000;
const LONGEST: usize = 256;

/// What one provider offered.
#[derive(Default)]
struct Known {
    names: Arc<[Box<str>]>,
    /// Microseconds of the monotonic clock until which nobody asks again.
    until_us: u64,
}

/// The lists of all providers.
#[derive(Default)]
pub struct Offered(ShortMutex<HashMap<Box<str>, Arc<Mutex<Known>>>>);

impl Offered {
    /// The names that a provider lists; those of its last list if it gives none now. Whoever comes while it is
    /// being asked waits for the same answer.
    pub(crate) async fn of(&self, upstream: &dyn Upstream, now_us: u64) -> Arc<[Box<str>]> {
        let known = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(upstream.name().into()).or_default())
        };
        let mut known = known.lock().await;
        if now_us >= known.until_us {
            let answer = tokio::time::timeout(PATIENCE, upstream.models()).await;
            let good_for = match answer {
                Ok(Ok(names)) => {
                    known.names = names.into_iter().filter(|name| is_name(name)).take(MOST).collect();
                    GOOD_FOR
                }
                Ok(Err(error)) => {
                    tracing::debug!(provider = upstream.name(), %error, "no list of models");
                    ASK_AGAIN
                }
                Err(_) => {
                    tracing::debug!(provider = upstream.name(), "no list of models in time");
                    ASK_AGAIN
                }
            };
            known.until_us = now_us.saturating_add(u64::try_from(good_for.as_micros()).unwrap_or(u64::MAX));
        }
        Arc::clone(&known.names)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && !name.chars().any(|c| c.is_control() || c.is_whitespace())
}
