//! The chunks that most of a stream consists of: a piece of one text, and nothing else that is new.

use crate::{
    chat::response::wire::{Answer, Choice, Content, Delta, Number, Text},
    typed,
    usual::{self, STAND_IN},
};

/// What the text of a chunk stands behind.
const KEYS: [&str; 2] = ["\"reasoning_content\":", "\"content\":"];

/// The form of the last chunk that was nothing but a piece of text: the index of its choice, and whether the text
/// is thought.
#[derive(Debug, Default)]
pub(super) struct Usual(usual::Usual<(Number, bool)>);

impl Usual {
    /// What a chunk of the usual form says.
    pub(super) fn read(&mut self, data: &str) -> Option<Choice<'static>> {
        let ((index, thinks), text) = self.0.read(data)?;
        let delta = if thinks {
            Delta { reasoning_content: Text(Some(text)), ..Delta::default() }
        } else {
            Delta { content: Some(Content::Text(text)), ..Delta::default() }
        };
        Some(Choice { index, delta: Some(delta), ..Choice::default() })
    }

    /// Remembers the form of a chunk that was read, if it is of the usual kind.
    pub(super) fn learn(&mut self, data: &str) {
        self.0.learn(data, &KEYS, |trial| lone_text(&typed::from_str::<Answer<'_>>(trial).ok()?));
    }
}

/// The index of the choice, and whether it is thought, when the stand-in is all that the answer says.
fn lone_text(answer: &Answer<'_>) -> Option<(Number, bool)> {
    let Answer { choices, usage, x_groq, moderation, error, .. } = answer;
    let beside = [usage, x_groq, moderation, error].into_iter().any(Option::is_some);
    let [choice] = choices.as_deref()? else { return None };
    let Choice { index, delta, message, logprobs, finish_reason, stop_reason } = choice;
    let more = message.is_some()
        || logprobs.is_some()
        || finish_reason.0.is_some()
        || stop_reason.0.is_some()
        || !delta.as_ref()?.is_text_alone();
    if beside || more {
        return None;
    }
    let delta = delta.as_ref()?;
    let stand_in = Some(STAND_IN);
    let content = match &delta.content {
        Some(Content::Text(text)) => Some(text.as_str()),
        Some(Content::Chunks(_)) => return None,
        None => None,
    };
    match (content, delta.reasoning_content.0.as_deref()) {
        (said, None | Some("")) if said == stand_in => Some((*index, false)),
        (None | Some(""), thought) if thought == stand_in => Some((*index, true)),
        _ => None,
    }
}
