//! What only a text completion can ask for.

use crate::{DialectId, Error, Item, ItemBody, Loss, PartKind, Turn};

/// What makes a turn a text completion: its items are prompts, which are continued as they stand and not
/// answered. A prompt is one user message; a part of it that only Completions understands holds token ids, and an
/// empty prompt is the start of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Completion {
    /// The prompts after the first, which is the turn's input. With `n` answers to each, answer `k` to prompt `p`
    /// has the number `p * n + k` (openai-checklist C9).
    pub more_prompts: Vec<Vec<Item>>,
    /// The text that comes after what is written.
    pub suffix: Option<String>,
    /// Whether an answer begins with its prompt.
    pub echo: bool,
    /// How many answers are drawn for each prompt, of which the best `n` are given (1 to 20).
    pub best_of: Option<u32>,
}

impl Turn {
    /// Checks whether a model that is spoken to in messages can serve the turn (translation contract §10), and
    /// gives what has to be reported then. Every turn that is no text completion passes without a report.
    ///
    /// # Errors
    /// The caller's request asks for what only a completion server can do; the error names the field.
    pub fn check_conversation(&self) -> Result<Option<Loss>, Error> {
        let Some(completion) = &self.completion else { return Ok(None) };
        let model = &self.settings.model;
        let refused = |field: &'static str, what: &str, instead: &str| {
            let text = format!(
                "'{field}' asks for {what}, which the upstream of the model '{model}' cannot do. {instead} or \
                 choose a model whose provider speaks Completions."
            );
            Err(Error::bad_request(field, text).with_code("unsupported_parameter"))
        };
        if completion.suffix.is_some() {
            return refused("suffix", "text before a given end", "Leave it out");
        }
        if completion.echo {
            return refused("echo", "an answer that begins with the prompt", "Leave it out");
        }
        if completion.best_of.is_some_and(|count| count > 1) {
            return refused("best_of", "the best of several answers", "Leave it out");
        }
        if self.settings.limits.max_output_tokens == Some(0) {
            return refused("max_tokens", "no answer at all", "Ask for at least one token");
        }
        if !completion.more_prompts.is_empty() {
            return refused("prompt", "answers to several prompts at once", "Send one prompt at a time");
        }
        if self.input.is_empty() {
            return refused("prompt", "a document without a beginning", "Send a text");
        }
        if self.input.iter().any(holds_tokens) {
            let what = "the continuation of token ids, which need the model's own tokenizer";
            return refused("prompt", what, "Send the text itself");
        }
        Ok(Some(Loss::emulate("prompt", "sent as one message of a user, which a model answers")))
    }
}

/// Whether a prompt is token ids.
fn holds_tokens(item: &Item) -> bool {
    let ItemBody::Message(message) = &item.body else { return false };
    let own = |kind: &PartKind| matches!(kind, PartKind::Opaque { dialect: DialectId::Completions, .. });
    message.parts.iter().any(|part| own(&part.kind))
}

#[cfg(test)]
mod tests;
