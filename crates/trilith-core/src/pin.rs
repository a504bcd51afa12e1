//! Data that may go to local targets only, and the rule that says so.

use std::fmt;

/// What a `local_only` rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PinRule {
    /// Everything said and made under a caller's key.
    Key,
    /// Everything said and made under a model's name.
    Model,
    /// What a tool answered, and what a model made of it.
    Tool,
}

impl PinRule {
    /// The word for it in the configuration and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }
}

/// The rule that holds data to targets marked local.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pin {
    /// What it is about.
    pub rule: PinRule,
    /// The name or pattern that the configuration gives it; never a credential.
    pub name: Box<str>,
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}'", self.rule.name(), self.name)
    }
}
