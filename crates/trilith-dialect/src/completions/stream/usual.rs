//! The chunks that most of a stream consists of: a piece of one text, and nothing else that is new.

use crate::{
    completions::response::wire::{Answer, Choice},
    loose::{Number, Text},
    typed,
    usual::{self, STAND_IN},
};

/// The form of the last chunk that was nothing but a piece of text, with the index of its choice.
#[derive(Debug, Default)]
pub(super) struct Usual(usual::Usual<Number>);

impl Usual {
    /// What a chunk of the usual form says.
    pub(super) fn read(&mut self, data: &str) -> Option<Choice<'static>> {
        let (index, text) = self.0.read(data)?;
        Some(Choice { index, text: Text(Some(text)), ..Choice::default() })
    }

    /// Remembers the form of a chunk that was read, if it is of the usual kind.
    pub(super) fn learn(&mut self, data: &str) {
        self.0.learn(data, &["\"text\":"], |trial| lone_text(&typed::from_str::<Answer<'_>>(trial).ok()?));
    }
}

/// The index of the choice, when the stand-in is all that the answer says.
fn lone_text(answer: &Answer<'_>) -> Option<Number> {
    let Answer { choices, usage: None, error: None, .. } = answer else { return None };
    let [Choice { index, text, logprobs: None, finish_reason, stop_reason }] = choices.as_deref()? else {
        return None;
    };
    let alone = finish_reason.0.is_none() && stop_reason.0.is_none() && text.0.as_deref() == Some(STAND_IN);
    alone.then_some(*index)
}
