//! Tool names on a wire that allows fewer than the caller's: a reversible map per request
//! (translation contract §5).

use std::collections::{HashMap, HashSet};

use trilith_core::CallKind;

use crate::{custom, schema};

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
    /// Names that are the same on both sides, so that no changed one becomes equal to them.
    plain: HashSet<Box<str>>,
    /// Wire names of functions whose arguments are not what the caller's tool takes.
    wrapped: HashMap<Box<str>, Wrap>,
}

/// The longest name that the OpenAI-shaped wires take (dialects §10).
const LONGEST: usize = 64;

impl NameMap {
    /// The wire name for a tool; remembers it when it differs from the caller's. The same tool always gets
    /// the same wire name, whatever was mapped before.
    pub fn outward(&mut self, namespace: Option<&str>, name: &str) -> Box<str> {
        if namespace.is_none() && is_legal(name) && !self.back.contains_key(name) {
            if !self.plain.contains(name) {
                self.plain.insert(name.into());
            }
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
        let taken = self.back.contains_key(wire.as_str()) || self.plain.contains(wire.as_str());
        if wire != joined || wire.len() > LONGEST || wire.is_empty() || taken {
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
        self.back.is_empty() && self.wrapped.is_empty()
    }

    /// Remembers what the arguments of the function of that wire name are inside of.
    pub(crate) fn wrap(&mut self, wire: &str, wrap: Wrap) {
        self.wrapped.insert(wire.into(), wrap);
    }

    /// What the arguments of the function of that wire name are inside of.
    pub(crate) fn wrapping(&self, wire: &str) -> Option<Wrap> {
        self.wrapped.get(wire).copied()
    }
}

/// What the arguments of a function on the wire are inside of, so that it can stand for the caller's tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrap {
    /// The one text of a custom tool.
    Custom,
    /// The one property of an object, where the tool takes something else.
    Value,
}

impl Wrap {
    /// The kind of the call that the caller sees.
    pub(crate) const fn kind(self) -> CallKind {
        match self {
            Self::Custom => CallKind::Custom,
            Self::Value => CallKind::Function,
        }
    }

    /// Arguments for the wire.
    pub(crate) fn put_around(self, args: &str) -> String {
        match self {
            Self::Custom => custom::wrap(args),
            Self::Value => schema::wrap(args),
        }
    }

    /// Arguments for the caller.
    pub(crate) fn take_off(self, args: String) -> String {
        match self {
            Self::Custom => custom::unwrap(args),
            Self::Value => schema::unwrap(args),
        }
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

#[cfg(test)]
mod tests {
    use super::NameMap;

    #[test]
    fn a_joined_name_never_equals_a_plain_one() {
        let mut names = NameMap::default();
        assert_eq!(&*names.outward(None, "crm__find"), "crm__find");
        let joined = names.outward(Some("crm"), "find");
        assert_ne!(&*joined, "crm__find");
        assert_eq!(joined, names.outward(Some("crm"), "find"));
        assert_eq!(names.inward("crm__find").namespace, None);
        assert_eq!(names.inward(&joined).namespace.as_deref(), Some("crm"));

        let mut names = NameMap::default();
        assert_eq!(&*names.outward(Some("crm"), "find"), "crm__find");
        let plain = names.outward(None, "crm__find");
        assert_ne!(&*plain, "crm__find");
        assert_eq!(names.inward(&plain).namespace, None);
        assert_eq!(&*names.inward(&plain).name, "crm__find");
    }
}
