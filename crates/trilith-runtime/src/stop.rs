//! Stop strings for upstreams that have none: the text is cut at the first match, and the stop string itself
//! is never shown (translation contract §10).
//!
//! The first match is the one that begins first, and the longest of those that begin together, however the
//! text is cut into deltas. So text that may still become a stop string is held back until that is decided,
//! and never more of it than the longest stop string.

use std::collections::{BTreeMap, VecDeque};

use trilith_core::{Event, Logprob, PartSpace, Usage};

/// Watches the text of an answer and cuts it at a stop string.
#[derive(Debug)]
pub(crate) struct StopCutter {
    stops: Vec<Box<str>>,
    /// Whether a stop string begins with that byte.
    first: [bool; 256],
    held: BTreeMap<(u32, u32), Held>,
}

/// A stop string was found: nothing more of the answer is wanted.
#[derive(Debug, PartialEq)]
pub(crate) struct Stopped {
    /// The item whose text it ends.
    pub(crate) index: u32,
    /// The stop string.
    pub(crate) stop: Box<str>,
    /// The token counts that came with the rest of the answer.
    pub(crate) usage: Option<Usage>,
}

/// Text of a part that was not shown yet, with its tokens.
#[derive(Debug, Default)]
struct Held {
    text: String,
    tokens: VecDeque<Logprob>,
    /// Bytes of the first token that were shown.
    begun: usize,
}

enum Found {
    /// No stop string begins in the text.
    Nothing,
    /// One may begin here.
    Perhaps(usize),
    /// This one does.
    Stop(usize, Box<str>),
}

impl StopCutter {
    pub(crate) fn new(stops: &[Box<str>]) -> Self {
        let stops: Vec<Box<str>> = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        let mut first = [false; 256];
        for byte in stops.iter().filter_map(|stop| stop.bytes().next()) {
            first[usize::from(byte)] = true;
        }
        Self { stops, first, held: BTreeMap::new() }
    }

    /// Passes events on, up to a stop string.
    pub(crate) fn filter(&mut self, events: Vec<Event>, out: &mut Vec<Event>) -> Option<Stopped> {
        let mut events = events.into_iter();
        while let Some(event) = events.next() {
            let stopped = match event {
                Event::TextDelta { index, part, delta, logprobs } => {
                    let held = self.held.entry((index, part)).or_default();
                    held.text.push_str(&delta);
                    held.tokens.extend(logprobs);
                    self.let_go(index, part, false, out)
                }
                Event::PartDone { index, part, space: PartSpace::Content } => {
                    let stopped = self.let_go(index, part, true, out);
                    if stopped.is_none() {
                        out.push(event);
                    }
                    stopped
                }
                Event::ItemDone { index, .. } => {
                    let stopped = self.let_go_all((index, 0)..=(index, u32::MAX), out);
                    if stopped.is_none() {
                        out.push(event);
                    }
                    stopped
                }
                other => {
                    out.push(other);
                    None
                }
            };
            if let Some(stopped) = stopped {
                // What waits beside it was said before the end.
                self.finish(out);
                return Some(Stopped { usage: events.filter_map(usage_of).last(), ..stopped });
            }
        }
        None
    }

    /// The upstream says no more: what was held back is shown, unless it holds a stop string.
    pub(crate) fn finish(&mut self, out: &mut Vec<Event>) -> Option<Stopped> {
        self.let_go_all((0, 0)..=(u32::MAX, u32::MAX), out)
    }

    fn let_go_all(
        &mut self,
        range: std::ops::RangeInclusive<(u32, u32)>,
        out: &mut Vec<Event>,
    ) -> Option<Stopped> {
        let places: Vec<_> = self.held.range(range).map(|(place, _)| *place).collect();
        places.into_iter().fold(None, |stopped, (index, part)| {
            let found = self.let_go(index, part, true, out);
            stopped.or(found)
        })
    }

    /// Shows what is decided of a part's text; all of it, if it is the `last`.
    fn let_go(&mut self, index: u32, part: u32, last: bool, out: &mut Vec<Event>) -> Option<Stopped> {
        let mut held = self.held.remove(&(index, part))?;
        let found = self.search(&held.text, last);
        let (shown, stop) = match found {
            Found::Nothing => (held.text.len(), None),
            Found::Perhaps(at) => (at, None),
            Found::Stop(at, stop) => (at, Some(stop)),
        };
        let rest = held.text.split_off(shown);
        let delta = std::mem::replace(&mut held.text, rest);
        let whole = held.text.is_empty() && stop.is_none();
        let logprobs = if whole { held.tokens.drain(..).collect() } else { held.tokens_of(delta.len()) };
        if !delta.is_empty() || !logprobs.is_empty() {
            out.push(Event::TextDelta { index, part, delta, logprobs });
        }
        if let Some(stop) = stop {
            return Some(Stopped { index, stop, usage: None });
        }
        if !whole {
            self.held.insert((index, part), held);
        }
        None
    }

    fn search(&self, text: &str, last: bool) -> Found {
        // A first byte of a stop string is the first byte of a character.
        for at in
            text.bytes().enumerate().filter(|(_, byte)| self.first[usize::from(*byte)]).map(|(at, _)| at)
        {
            let rest = &text[at..];
            if !last && self.stops.iter().any(|stop| stop.len() > rest.len() && stop.starts_with(rest)) {
                return Found::Perhaps(at);
            }
            let here = self.stops.iter().filter(|stop| rest.starts_with(&***stop));
            if let Some(stop) = here.max_by_key(|stop| stop.len()) {
                return Found::Stop(at, stop.clone());
            }
        }
        Found::Nothing
    }
}

impl Held {
    /// The tokens that end within the next `shown` bytes. A token of which only a part was shown waits for the
    /// rest; one that a stop string cuts is never shown.
    fn tokens_of(&mut self, shown: usize) -> Vec<Logprob> {
        let mut tokens = Vec::new();
        let mut left = self.begun + shown;
        while let Some(token) = self.tokens.front() {
            let chosen = &token.chosen;
            let length = chosen.bytes.as_ref().map_or(chosen.token.len(), Vec::len);
            if length > left {
                break;
            }
            left -= length;
            tokens.extend(self.tokens.pop_front());
        }
        self.begun = left;
        tokens
    }
}

fn usage_of(event: Event) -> Option<Usage> {
    match event {
        Event::Usage(usage) => Some(usage),
        _ => None,
    }
}
