//! Model names and patterns in which each `*` stands for any text.

/// A name or pattern, split at its `*` once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The text before the first `*`; the whole text of a name.
    start: Box<str>,
    /// The texts between two `*`, in order; empty ones are left out.
    middle: Box<[Box<str>]>,
    /// The text after the last `*`; `None` for a name.
    end: Option<Box<str>>,
}

impl Pattern {
    /// Compiles a pattern. Every text is one; only `*` has a meaning.
    pub fn new(text: &str) -> Self {
        let mut parts = text.split('*');
        let start = parts.next().unwrap_or_default().into();
        let end = parts.next_back().map(Box::from);
        let middle = parts.filter(|part| !part.is_empty()).map(Box::from).collect();
        Self { start, middle, end }
    }

    /// Whether it is a name: it holds no `*`.
    pub fn is_name(&self) -> bool {
        self.end.is_none()
    }

    /// Whether a model's name is meant. The time is linear in the name for each part of the pattern.
    pub fn matches(&self, name: &str) -> bool {
        let Some(end) = &self.end else { return *self.start == *name };
        let inner = name.strip_prefix(&*self.start).and_then(|rest| rest.strip_suffix(&**end));
        let Some(mut rest) = inner else { return false };
        // Taking each part at its first place leaves the most room for the parts after it.
        for part in &self.middle {
            let Some((_, after)) = rest.split_once(&**part) else { return false };
            rest = after;
        }
        true
    }
}
