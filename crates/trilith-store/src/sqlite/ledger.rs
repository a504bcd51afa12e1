//! What the writer has not written yet, or could not write, and whether it can write at all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use trilith_core::{Item, Response, StoreError};

/// The most ends that wait for the storage to work again. New responses are refused meanwhile, so that only
/// those come here that ran when it failed.
const MOST_OWED: usize = 1_024;

/// A response whose beginning could not be written, with its input.
#[derive(Clone)]
pub(super) struct Unbegun {
    pub(super) response: Arc<Response>,
    pub(super) input: Arc<Vec<Item>>,
    pub(super) why: StoreError,
}

struct Entry {
    /// As it began; once its end is owed, as it ended.
    response: Arc<Response>,
    unbegun: Option<Unbegun>,
    owed: bool,
    /// Deleted before its end came: nobody sees it any more, and its end is not kept.
    deleted: bool,
}

type Key = (Box<str>, Box<str>);

#[derive(Default)]
struct State {
    entries: HashMap<Key, Entry>,
    owed: usize,
    /// What the storage could not do the last time.
    fault: Option<StoreError>,
    /// Unix seconds at which a write is known to have succeeded.
    written_at: i64,
    /// Why the file is not there any more, as of the last look.
    gone: Option<StoreError>,
    /// Unix seconds of that look.
    probed_at: i64,
}

/// Seconds for which a write that succeeded is proof that the next one will.
const FRESH: i64 = 1;
/// Seconds after which the file itself is looked at again.
const LOOK_AGAIN: i64 = 10;

/// Shared by the writer and whoever asks. Responses that have begun and not ended are in it, so that they are
/// seen at once, before the writer gets to them.
#[derive(Clone, Default)]
pub(super) struct Ledger(Arc<Mutex<State>>);

impl Ledger {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, tenant: &str, response: &Arc<Response>) {
        let entry = Entry { response: Arc::clone(response), unbegun: None, owed: false, deleted: false };
        self.lock().entries.insert((tenant.into(), response.id.clone()), entry);
    }

    /// A response that has not ended on disk.
    pub(super) fn get(&self, tenant: &str, id: &str) -> Option<Arc<Response>> {
        let state = self.lock();
        let entry = state.entries.get(&(tenant.into(), id.into())).filter(|entry| !entry.deleted)?;
        Some(Arc::clone(&entry.response))
    }

    /// The beginning of a response could not be written. Nothing if it was deleted meanwhile.
    pub(super) fn not_begun(&self, tenant: &str, unbegun: Unbegun) {
        if let Some(entry) = self.lock().entries.get_mut(&(tenant.into(), unbegun.response.id.clone())) {
            entry.unbegun = (!entry.deleted).then_some(unbegun);
        }
    }

    pub(super) fn unbegun(&self, tenant: &str, id: &str) -> Option<Unbegun> {
        self.lock().entries.get(&(tenant.into(), id.into()))?.unbegun.clone()
    }

    /// A response is not running any more.
    pub(super) fn forget(&self, tenant: &str, id: &str) {
        let mut state = self.lock();
        let entry = state.entries.remove(&(tenant.into(), id.into()));
        state.owed -= usize::from(entry.is_some_and(|entry| entry.owed));
    }

    /// A response was deleted; says whether it was seen here before.
    pub(super) fn delete(&self, tenant: &str, id: &str) -> bool {
        let mut state = self.lock();
        let State { entries, owed, .. } = &mut *state;
        let key = (Box::from(tenant), Box::from(id));
        let Some(entry) = entries.get_mut(&key).filter(|entry| !entry.deleted) else { return false };
        if entry.owed {
            *owed -= 1;
            entries.remove(&key);
        } else {
            entry.deleted = true;
            entry.unbegun = None;
        }
        true
    }

    pub(super) fn was_deleted(&self, tenant: &str, id: &str) -> bool {
        let state = self.lock();
        state.entries.get(&(tenant.into(), id.into())).is_some_and(|entry| entry.deleted)
    }

    /// Keeps an end that could not be written. Nothing if the response was deleted meanwhile; says whether there
    /// was room for it.
    pub(super) fn owe(&self, tenant: &str, response: Arc<Response>) -> bool {
        let mut state = self.lock();
        let State { entries, owed, .. } = &mut *state;
        let key = (Box::from(tenant), response.id.clone());
        let Some(entry) = entries.get_mut(&key).filter(|entry| !entry.deleted) else {
            entries.remove(&key);
            return true;
        };
        if *owed >= MOST_OWED {
            entries.remove(&key);
            return false;
        }
        *owed += usize::from(!entry.owed);
        entry.owed = true;
        entry.response = response;
        true
    }

    /// The ends that could not be written.
    pub(super) fn owed(&self) -> Vec<(Box<str>, Arc<Response>)> {
        let state = self.lock();
        if state.owed == 0 {
            return Vec::new();
        }
        let owed = state.entries.iter().filter(|(_, entry)| entry.owed);
        owed.map(|((tenant, _), entry)| (tenant.clone(), Arc::clone(&entry.response))).collect()
    }

    /// What a transaction came to; `at` (unix seconds) as far as its writes knew the time.
    pub(super) fn wrote(&self, fault: Option<StoreError>, at: i64) {
        let mut state = self.lock();
        if fault.is_none() {
            state.written_at = state.written_at.max(at);
        }
        state.fault = fault;
    }

    /// What a look at the file told.
    pub(super) fn probed(&self, gone: Option<StoreError>, at: i64) {
        let mut state = self.lock();
        state.gone = gone;
        state.probed_at = at;
    }

    /// Why what is written now would not last.
    pub(super) fn failing(&self) -> Option<StoreError> {
        let state = self.lock();
        state.fault.clone().or_else(|| state.gone.clone())
    }

    /// Whether a write succeeded so lately that another would say nothing new.
    pub(super) fn is_fresh(&self, now: i64) -> bool {
        let state = self.lock();
        state.fault.is_none()
            && state.gone.is_none()
            && now.saturating_sub(state.written_at) <= FRESH
            && now.saturating_sub(state.probed_at) <= LOOK_AGAIN
    }
}
