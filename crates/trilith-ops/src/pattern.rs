//! Sets of model names and of patterns in which each `*` stands for any text.

use std::collections::HashSet;

use trilith_core::Pattern;

/// A set of names and patterns.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: HashSet<Box<str>>,
    patterns: Vec<Pattern>,
}

impl Names {
    /// Compiles a set.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut set = Self::default();
        for text in texts {
            let pattern = Pattern::new(text);
            if pattern.is_name() {
                set.names.insert(text.into());
            } else {
                set.patterns.push(pattern);
            }
        }
        set
    }

    /// Whether the name is in the set.
    pub fn contains(&self, name: &str) -> bool {
        self.names.contains(name) || self.patterns.iter().any(|pattern| pattern.matches(name))
    }
}

#[cfg(test)]
mod tests;
