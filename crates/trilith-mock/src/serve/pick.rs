//! Which answer a request gets.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use crate::{
    http::Request,
    script::{Answer, AtEnd, Script, When},
};

/// Keeps account of the answers that were given.
#[derive(Debug)]
pub(super) struct Picker {
    requests: AtomicU64,
    /// How often each answer was given.
    given: Mutex<Vec<u32>>,
}

impl Picker {
    pub(super) fn new(script: &Script) -> Self {
        Self { requests: AtomicU64::new(0), given: Mutex::new(vec![0; script.answers.len()]) }
    }

    /// The number of the request that has just come, from 1.
    pub(super) fn count(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The first conditional answer that fits, else the next in line.
    pub(super) fn pick<'a>(&self, script: &'a Script, request: &Request) -> Option<&'a Answer> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let conditional = script.answers.iter().enumerate().find(|(index, answer)| {
            let left = answer.times.is_none_or(|times| given.get(*index).is_some_and(|count| *count < times));
            !answer.when.is_empty() && left && answer.when.iter().all(|when| fits(when, request))
        });
        let (index, answer) = conditional.or_else(|| in_line(script, &mut given))?;
        if let Some(count) = given.get_mut(index) {
            *count += 1;
        }
        Some(answer)
    }
}

fn in_line<'a>(script: &'a Script, given: &mut [u32]) -> Option<(usize, &'a Answer)> {
    let line = || script.answers.iter().enumerate().filter(|(_, answer)| answer.when.is_empty());
    let fresh = |given: &[u32]| {
        line()
            .find(|(index, answer)| given.get(*index).is_some_and(|count| *count < answer.times.unwrap_or(1)))
    };
    if let Some(found) = fresh(given) {
        return Some(found);
    }
    match script.at_end {
        AtEnd::Repeat => line().next_back(),
        AtEnd::Refuse => None,
        AtEnd::Loop => {
            for (index, _) in line() {
                if let Some(count) = given.get_mut(index) {
                    *count = 0;
                }
            }
            fresh(given)
        }
    }
}

fn fits(when: &When, request: &Request) -> bool {
    match when {
        When::Path(text) => request.path.contains(text.as_str()),
        When::Body(text) => {
            let raw = String::from_utf8_lossy(&request.body);
            // The same text may be written with escapes; one more look at the plain spelling.
            raw.contains(text.as_str())
                || raw.contains('\\')
                    && serde_json::from_slice::<serde_json::Value>(&request.body)
                        .is_ok_and(|body| has_text(&body, text))
        }
    }
}

fn has_text(value: &serde_json::Value, text: &str) -> bool {
    use serde_json::Value;
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(list) => list.iter().any(|value| has_text(value, text)),
        Value::Object(map) => map.values().any(|value| has_text(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
