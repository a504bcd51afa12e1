//! Known places, as data.

use super::model::{Dialect, MaxTokensField, Quirks, ReasoningField, SystemRole};

/// A known place.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) name: &'static str,
    pub(crate) dialect: Dialect,
    pub(crate) base_url: &'static str,
    max_tokens_field: MaxTokensField,
    reasoning_field: Option<ReasoningField>,
    system_role: SystemRole,
    /// Fields of its dialect that it refuses or overlooks.
    without: &'static [&'static str],
}

impl Preset {
    /// All known places.
    pub(crate) const ALL: &[Self] = &[
        Self::new("openai", "https://api.openai.com/v1").speaking(Dialect::Responses).newest(),
        Self::new("openai-chat", "https://api.openai.com/v1").newest(),
        Self::new("anthropic", "https://api.anthropic.com/v1").speaking(Dialect::Messages),
        Self::new("openrouter", "https://openrouter.ai/api/v1")
            .reasoning(ReasoningField::Reasoning)
            .one_answer(),
        Self::new("groq", "https://api.groq.com/openai/v1").reasoning(ReasoningField::Reasoning).one_answer(),
        Self::new("deepseek", "https://api.deepseek.com/v1")
            .reasoning(ReasoningField::ReasoningContent)
            .one_answer(),
        Self::new("mistral", "https://api.mistral.ai/v1"),
        Self::new("ollama", "http://127.0.0.1:11434/v1").reasoning(ReasoningField::Reasoning).one_answer(),
        Self::new("vllm", "http://127.0.0.1:8000/v1").reasoning(ReasoningField::Reasoning),
    ];

    /// The place of a name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|preset| preset.name == name)
    }

    /// Where the place differs from its dialect.
    pub(crate) fn quirks(&self) -> Quirks {
        Quirks {
            max_tokens_field: Some(self.max_tokens_field),
            reasoning_field: self.reasoning_field,
            system_role: Some(self.system_role),
            drop_fields: self.without.iter().map(|field| (*field).to_owned()).collect(),
        }
    }

    /// What compatible servers have in common: Chat Completions as it was when they copied it.
    const fn new(name: &'static str, base_url: &'static str) -> Self {
        Self {
            name,
            dialect: Dialect::Chat,
            base_url,
            max_tokens_field: MaxTokensField::MaxTokens,
            reasoning_field: None,
            system_role: SystemRole::System,
            without: &[],
        }
    }

    const fn speaking(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Chat Completions as it is today.
    const fn newest(mut self) -> Self {
        self.max_tokens_field = MaxTokensField::MaxCompletionTokens;
        self.system_role = SystemRole::Developer;
        self
    }

    /// One answer to a call: `n` is refused or overlooked.
    const fn one_answer(mut self) -> Self {
        self.without = &["n"];
        self
    }

    const fn reasoning(mut self, field: ReasoningField) -> Self {
        self.reasoning_field = Some(field);
        self
    }
}
