//! The chunks that most of a stream consists of: a piece of one text, and nothing else that is new.

use crate::{
    chat::response::wire::{Answer, Choice, Content, Delta, Number, Text},
    mould::{Mould, Open},
    scan::find_text,
    typed,
};

/// How often a form may turn out to be of no use before no other is looked for. Finding one costs as much as
/// reading a chunk.
const TRIES: u8 = 8;

/// A text that no stream is expected to hold; it stands in where a chunk's own text was.
const STAND_IN: &str = "\"trilith\"";

/// The form of the last chunk that was nothing but a piece of text.
#[derive(Debug, Default)]
pub(super) struct Usual {
    mould: Mould,
    index: Number,
    thinks: bool,
    /// Forms found since one was of use.
    tries: u8,
}

impl Usual {
    /// What a chunk of the usual form says.
    pub(super) fn read(&mut self, data: &str) -> Option<Choice<'static>> {
        let text = self.mould.fill(data)?.into_owned();
        self.tries = 0;
        let delta = if self.thinks {
            Delta { reasoning_content: Text(Some(text)), ..Delta::default() }
        } else {
            Delta { content: Some(Content::Text(text)), ..Delta::default() }
        };
        Some(Choice { index: self.index, delta: Some(delta), ..Choice::default() })
    }

    /// Remembers the form of a chunk that was read, if it is of the usual kind. The place of the text is a
    /// guess, so it is tried: with a stand-in there, the chunk must say the stand-in and nothing else.
    pub(super) fn learn(&mut self, data: &str) {
        if self.tries == TRIES {
            return;
        }
        let place = string_of(data, "\"reasoning_content\":").or_else(|| string_of(data, "\"content\":"));
        // The first chunk of a stream is of a form of its own: it tells the role, and no text.
        let Some(place) = place.filter(|place| place.len() > "\"\"".len()) else { return };
        self.tries += 1;
        let trial = [data.get(..place.start), Some(STAND_IN), data.get(place.end..)];
        let trial: Option<String> = trial.into_iter().collect();
        let Some(trial) = trial else { return };
        let Ok(answer) = typed::from_str::<Answer<'_>>(&trial) else { return };
        let Some((index, thinks)) = lone_text(&answer) else { return };
        (self.index, self.thinks) = (index, thinks);
        // Padding against reading the length of encrypted packets; nothing reads it.
        let padding = string_of(data, "\"obfuscation\":");
        let mut open = vec![(place, Open::Wanted)];
        open.extend(padding.map(|place| (place, Open::String)));
        self.mould.set(data, &mut open);
    }
}

/// The place of the string behind the first such key.
fn string_of(data: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let mut at = memchr::memmem::find(data.as_bytes(), key.as_bytes())? + key.len();
    while data.as_bytes().get(at) == Some(&b' ') {
        at += 1;
    }
    if data.as_bytes().get(at) != Some(&b'"') {
        return None;
    }
    Some(at..find_text(data, at)?.end)
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
    let stand_in = Some(STAND_IN.trim_matches('"'));
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
