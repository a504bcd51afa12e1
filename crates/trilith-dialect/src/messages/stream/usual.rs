//! The events that most of a stream consists of: a piece of one block's text, and nothing else that is new.

use super::blocks::Piece;
use crate::{
    messages::response::wire::{Delta, Frame},
    mould::{Mould, Open},
    scan::find_text,
    typed,
};

/// How often a form may turn out to be of no use before no other is looked for. Finding one costs as much as
/// reading an event.
const TRIES: u8 = 8;

/// A text that no stream is expected to hold; it stands in where an event's own text was.
const STAND_IN: &str = "\"trilith\"";

/// The form of the last event that was nothing but a piece of text.
#[derive(Debug, Default)]
pub(super) struct Usual {
    mould: Mould,
    index: i64,
    piece: Piece,
    /// Forms found since one was of use.
    tries: u8,
}

impl Usual {
    /// What an event of the usual form says.
    pub(super) fn read(&mut self, data: &str) -> Option<(i64, Piece, String)> {
        let text = self.mould.fill(data)?.into_owned();
        self.tries = 0;
        Some((self.index, self.piece, text))
    }

    /// Remembers the form of an event that was read, if it is of the usual kind. The place of the text is a
    /// guess, so it is tried: with a stand-in there, the event must say the stand-in and nothing else.
    pub(super) fn learn(&mut self, data: &str) {
        if self.tries == TRIES {
            return;
        }
        let found = Piece::ALL.into_iter().find_map(|piece| Some((piece, string_of(data, piece.words().1)?)));
        let Some((piece, place)) = found else { return };
        self.tries += 1;
        let trial = [data.get(..place.start), Some(STAND_IN), data.get(place.end..)];
        let Some(trial) = trial.into_iter().collect::<Option<String>>() else { return };
        let Ok(frame) = typed::from_str::<Frame<'_>>(&trial) else { return };
        let Some(index) = lone_piece(&frame, piece) else { return };
        (self.index, self.piece) = (index, piece);
        self.mould.set(data, &mut [(place, Open::Wanted)]);
    }
}

/// The place of the string behind the first such key.
fn string_of(data: &str, key: &str) -> Option<std::ops::Range<usize>> {
    let key = format!("\"{key}\":");
    let mut at = memchr::memmem::find(data.as_bytes(), key.as_bytes())? + key.len();
    while data.as_bytes().get(at) == Some(&b' ') {
        at += 1;
    }
    if data.as_bytes().get(at) != Some(&b'"') {
        return None;
    }
    Some(at..find_text(data, at)?.end)
}

/// The place of the block, when the stand-in is all that the event says.
fn lone_piece(frame: &Frame<'_>, piece: Piece) -> Option<i64> {
    let delta = frame.delta.as_ref()?;
    let Delta { kind, text, thinking, partial_json, .. } = delta;
    let (word, _) = piece.words();
    let more = frame.kind.0.as_deref() != Some("content_block_delta")
        || kind.0.as_deref() != Some(word)
        || frame.error.is_some();
    let said = match piece {
        Piece::Text => text,
        Piece::Thinking => thinking,
        Piece::Input => partial_json,
    };
    if more || said.0.as_deref() != Some(STAND_IN.trim_matches('"')) {
        return None;
    }
    frame.index.0
}
