//! How large a schema is once its references are written out, found without doing so.

use std::collections::HashMap;

use serde_json::Value;

/// The longest way along references that is followed.
const DEEPEST: usize = 500;

/// What a schema weighs.
pub(crate) struct Weight {
    /// How many parts it has, written out in full; parts that contain themselves count once.
    pub(crate) parts: u64,
    /// Whether a part contains itself.
    pub(crate) recursive: bool,
}

impl Weight {
    pub(crate) fn of(root: &Value) -> Self {
        let mut scale = Scale { root, known: HashMap::new(), depth: 0, recursive: false };
        let parts = scale.weigh(root);
        Self { parts, recursive: scale.recursive }
    }
}

struct Scale<'r> {
    root: &'r Value,
    /// What references lead to; `None` while that is being weighed.
    known: HashMap<&'r str, Option<u64>>,
    depth: usize,
    recursive: bool,
}

impl<'r> Scale<'r> {
    /// Everything counts, data too: it is no less than what there is to look at.
    fn weigh(&mut self, value: &'r Value) -> u64 {
        if self.depth > DEEPEST {
            return u64::MAX;
        }
        self.depth += 1;
        let parts = match value {
            Value::Object(members) => {
                let own = members.values().fold(1_u64, |sum, value| sum.saturating_add(self.weigh(value)));
                let reference = ["$ref", "$dynamicRef", "$recursiveRef"];
                let named = reference.iter().filter_map(|word| members.get(*word)?.as_str());
                named.fold(own, |sum, reference| sum.saturating_add(self.follow(reference)))
            }
            Value::Array(list) => list.iter().fold(1_u64, |sum, value| sum.saturating_add(self.weigh(value))),
            _ => 1,
        };
        self.depth -= 1;
        parts
    }

    fn follow(&mut self, reference: &'r str) -> u64 {
        match self.known.get(reference) {
            Some(Some(parts)) => return *parts,
            Some(None) => {
                self.recursive = true;
                return 1;
            }
            None => {}
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        // What is found by a name or by an address of its own may be anything.
        let Some(target) = target else { return if reference.starts_with("#/") { 1 } else { u64::MAX } };
        self.known.insert(reference, None);
        let parts = self.weigh(target);
        self.known.insert(reference, Some(parts));
        parts
    }
}
