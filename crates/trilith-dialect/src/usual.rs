//! The payloads that most of a stream consists of: a piece of one text, and nothing else that is new.

use std::ops::Range;

use crate::{
    mould::{Mould, Open},
    scan::find_text,
};

/// How often a form may turn out to be of no use before no other is looked for. Finding one costs as much as
/// reading a payload.
const TRIES: u8 = 8;

/// A text that no stream is expected to hold; it stands in where a payload's own text was.
pub(crate) const STAND_IN: &str = "trilith";

/// The form of the last payload that was nothing but a piece of text, and what else it says.
#[derive(Debug, Default)]
pub(crate) struct Usual<K> {
    mould: Mould,
    says: K,
    /// Forms found since one was of use.
    tries: u8,
}

impl<K: Copy> Usual<K> {
    /// What a payload of the usual form says, and its text.
    pub(crate) fn read(&mut self, data: &str) -> Option<(K, String)> {
        let text = self.mould.fill(data)?.into_owned();
        self.tries = 0;
        Some((self.says, text))
    }

    /// Remembers the form of a payload that was read, if it is of the usual kind. The place of the text (behind
    /// the first of `keys` that there is) is a guess, so it is tried: `lone` gets the payload with a stand-in
    /// there, and gives what it says when the stand-in is all that is said.
    pub(crate) fn learn(&mut self, data: &str, keys: &[&str], lone: impl FnOnce(&str) -> Option<K>) {
        if self.tries == TRIES {
            return;
        }
        let place = keys.iter().find_map(|key| string_of(data, key));
        // The first payload of a stream may be of a form of its own, and without text.
        let Some(place) = place.filter(|place| place.len() > "\"\"".len()) else { return };
        self.tries += 1;
        let trial = [data.get(..place.start), Some("\""), Some(STAND_IN), Some("\""), data.get(place.end..)];
        let trial: Option<String> = trial.into_iter().collect();
        let Some(says) = trial.as_deref().and_then(lone) else { return };
        self.says = says;
        // Padding against reading the length of encrypted packets; nothing reads it.
        let padding = string_of(data, "\"obfuscation\":");
        let mut open = vec![(place, Open::Wanted)];
        open.extend(padding.map(|place| (place, Open::String)));
        self.mould.set(data, &mut open);
    }
}

/// The place of the string behind the first such key.
fn string_of(data: &str, key: &str) -> Option<Range<usize>> {
    let mut at = memchr::memmem::find(data.as_bytes(), key.as_bytes())? + key.len();
    while data.as_bytes().get(at) == Some(&b' ') {
        at += 1;
    }
    if data.as_bytes().get(at) != Some(&b'"') {
        return None;
    }
    Some(at..find_text(data, at)?.end)
}
