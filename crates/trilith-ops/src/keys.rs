//! Callers' keys: who presents one, and which models it may call.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use trilith_core::{Pin, PinRule};

use crate::limit::Slots;
use crate::pattern::Names;

/// The tenant of callers when no key is configured.
pub const DEFAULT_TENANT: &str = "default";

/// A presented credential longer than this many bytes is not a key and is not hashed.
const LONGEST_KEY: usize = 4096;

/// One configured key.
#[derive(Clone, Debug)]
pub struct KeyEntry {
    /// Name for logs; never the key.
    pub name: String,
    /// Whose data the key reads and writes.
    pub tenant: String,
    /// The key.
    pub secret: KeySecret,
    /// Names and patterns of models it may call; `None`: all.
    pub models: Option<Vec<String>>,
    /// Most requests in work at a time; `None`: no limit of its own.
    pub max_requests: Option<usize>,
    /// Whether what is said and made under the key may go to local targets only.
    pub local_only: bool,
}

/// How a key is configured.
#[derive(Clone)]
pub enum KeySecret {
    /// The SHA-256 of the key.
    Digest([u8; 32]),
    /// The key itself; only its digest is kept.
    Plain(String),
}

impl fmt::Debug for KeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Who calls.
#[derive(Debug)]
pub struct Principal {
    /// The key's name; `anonymous` when no key is configured.
    pub key_name: Arc<str>,
    /// Whose data is read and written.
    pub tenant: Arc<str>,
    /// The rule by which the key's requests may go to local targets only.
    pub pin: Option<Arc<Pin>>,
    models: Option<Names>,
    pub(crate) slots: Slots,
}

impl Principal {
    /// Whether the caller may use a model, by the name that the caller gives it.
    pub fn may_call(&self, model: &str) -> bool {
        self.models.as_ref().is_none_or(|models| models.contains(model))
    }
}

/// Two entries with the same key: a caller would be one of both by chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyClash {
    /// Name of the first entry.
    pub first: String,
    /// Name of the second entry.
    pub second: String,
}

impl fmt::Display for KeyClash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the keys named {} and {} are the same", self.first, self.second)
    }
}

impl std::error::Error for KeyClash {}

/// All configured keys.
#[derive(Debug)]
pub struct Keys {
    by_digest: HashMap<[u8; 32], Arc<Principal>>,
    anonymous: Option<Arc<Principal>>,
}

impl Keys {
    /// Takes the configured keys.
    ///
    /// # Errors
    /// Two of them are the same.
    pub fn new(entries: impl IntoIterator<Item = KeyEntry>) -> Result<Self, KeyClash> {
        let mut by_digest: HashMap<[u8; 32], Arc<Principal>> = HashMap::new();
        for entry in entries {
            let digest = match entry.secret {
                KeySecret::Digest(digest) => digest,
                KeySecret::Plain(plain) => digest_of(&plain),
            };
            match by_digest.entry(digest) {
                Entry::Occupied(other) => {
                    let first = other.get().key_name.to_string();
                    return Err(KeyClash { first, second: entry.name });
                }
                Entry::Vacant(place) => {
                    let models = entry.models;
                    let name: Box<str> = entry.name.as_str().into();
                    let pin = entry.local_only.then(|| Arc::new(Pin { rule: PinRule::Key, name }));
                    place.insert(Arc::new(Principal {
                        pin,
                        key_name: entry.name.into(),
                        tenant: entry.tenant.into(),
                        models: models.map(|models| Names::new(models.iter().map(String::as_str))),
                        slots: Slots::new(entry.max_requests),
                    }));
                }
            }
        }
        let anonymous = by_digest.is_empty().then(|| {
            Arc::new(Principal {
                key_name: "anonymous".into(),
                tenant: DEFAULT_TENANT.into(),
                pin: None,
                models: None,
                slots: Slots::new(None),
            })
        });
        Ok(Self { by_digest, anonymous })
    }

    /// The caller who presents this credential. The credential itself is compared with nothing: its digest is
    /// looked up, and the time of a look-up tells an attacker about digests of guesses only.
    pub fn authenticate(&self, presented: &str) -> Option<Arc<Principal>> {
        if presented.is_empty() || presented.len() > LONGEST_KEY {
            return None;
        }
        self.by_digest.get(&digest_of(presented)).cloned()
    }

    /// Who everybody is while no key is configured; `None` once there is one.
    pub fn anonymous(&self) -> Option<Arc<Principal>> {
        self.anonymous.clone()
    }
}

fn digest_of(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests;
