//! Tool names on a wire that allows fewer than the caller's: a reversible map per request
//! (translation contract §5).

use std::collections::HashMap;

/// A tool's full name: its namespace, if any, and its own name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FullName {
    /// The namespace.
    pub namespace: Option<Box<str>>,
    /// The name.
    pub name: Box<str>,
}

/// Which names changed on the way out. Names that are not in the map are the same on both sides.
#[derive(Clone, Debug, Default)]
pub struct NameMap {
    out: HashMap<FullName, Box<str>>,
    back: HashMap<Box<str>, FullName>,
}

/// The longest name that the OpenAI-shaped wires take (dialects §10).
const LONGEST: usize = 64;

impl NameMap {
    /// The wire name for a tool; remembers it when it differs from the caller's. The same tool always gets
    /// the same wire name, whatever was mapped before.
    pub fn outward(&mut self, namespace: Option<&str>, name: &str) -> Box<str> {
        if namespace.is_none() && is_legal(name) && !self.back.contains_key(name) {
            return name.into();
        }
        let full = FullName { namespace: namespace.map(Into::into), name: name.into() };
        if let Some(known) = self.out.get(&full) {
            return known.clone();
        }
        let joined = match namespace {
            Some(namespace) => format!("{namespace}__{name}"),
            None => name.to_owned(),
        };
        let mut wire: String = joined.chars().map(|c| if is_legal_char(c) { c } else { '_' }).collect();
        if wire != joined || wire.len() > LONGEST || wire.is_empty() || self.back.contains_key(wire.as_str())
        {
            wire.truncate(LONGEST - 9);
            wire = format!("{wire}_{:08x}", fingerprint(namespace, name));
        }
        let wire: Box<str> = wire.into();
        self.out.insert(full.clone(), wire.clone());
        self.back.insert(wire.clone(), full);
        wire
    }

    /// The caller's name for a wire name.
    pub fn inward(&self, wire: &str) -> FullName {
        self.back.get(wire).cloned().unwrap_or_else(|| FullName { namespace: None, name: wire.into() })
    }

    /// Whether every name is the same on both sides.
    pub fn is_empty(&self) -> bool {
        self.back.is_empty()
    }
}

/// Whether the OpenAI-shaped wires take the name as it is.
pub fn is_legal(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(is_legal_char)
}

const fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// FNV-1a over both halves: short, stable across runs and versions, and no secret.
fn fingerprint(namespace: Option<&str>, name: &str) -> u32 {
    let halves = [namespace.unwrap_or("").as_bytes(), b"\0", name.as_bytes()];
    halves
        .into_iter()
        .flatten()
        .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}
