//! Stop strings for targets that take none, or not so many: the text is cut at the first match, and the stop
//! string itself is never shown (translation contract §10).
//!
//! The first match is the one that begins first, and the longest of those that begin together, however the
//! text is cut into deltas. So text that may still become a stop string is held back until that is decided,
//! and never more of it than the longest stop string.

use std::collections::{BTreeMap, VecDeque};

use trilith_core::{Error, Event, FinishReason, Logprob, Loss, PartSpace};

use super::{Draft, Filter, Flow, answers::Answers};

/// Takes stop strings away from a target that would refuse or overlook them. An empty one stops nothing.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    let asked = &draft.settings.sampling.stop;
    if asked.is_empty() {
        return Ok(());
    }
    let stops: Vec<Box<str>> = asked.iter().filter(|stop| !stop.is_empty()).cloned().collect();
    let can = draft.can();
    let blank = !can.blank_stop_strings && stops.iter().any(|stop| stop.trim().is_empty());
    let unnamed = draft.terms.shows.stop_string && !can.names_stop_string && !stops.is_empty();
    let why = match can.stop_strings {
        most if stops.len() <= most && !blank && !unnamed => {
            draft.settings_mut().sampling.stop = stops;
            return Ok(());
        }
        0 => "the upstream has no stop strings; Trilith cuts the text itself".to_owned(),
        _ if blank => {
            "the upstream takes no white space for a stop string; Trilith cuts the text itself".to_owned()
        }
        most if stops.len() <= most => {
            "the upstream does not say which stop string it met; Trilith cuts the text itself".to_owned()
        }
        most => format!("the upstream takes {most} stop strings at most; Trilith cuts the text itself"),
    };
    draft.settings_mut().sampling.stop.clear();
    draft.losses.push(Loss::emulate("stop", why));
    let answers = draft.answers();
    draft.filter(move || Box::new(StopCutter::new(&stops, answers)));
    Ok(())
}

/// Watches the text of an answer and cuts it at a stop string.
#[derive(Debug)]
pub(crate) struct StopCutter {
    stops: Vec<Box<str>>,
    /// Whether a stop string begins with that byte.
    first: [bool; 256],
    held: BTreeMap<(u32, u32), Held>,
    answers: Answers,
}

/// A stop string in the text of an item.
struct Match {
    index: u32,
    stop: Box<str>,
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
    /// Cuts each of so many answers of one call.
    pub(crate) fn new(stops: &[Box<str>], answers: u16) -> Self {
        let mut first = [false; 256];
        for byte in stops.iter().filter_map(|stop| stop.bytes().next()) {
            first[usize::from(byte)] = true;
        }
        Self { stops: stops.to_vec(), first, held: BTreeMap::new(), answers: Answers::new(answers) }
    }

    /// Shows an event, text as far as it is decided.
    fn pass(&mut self, event: Event, out: &mut Vec<Event>) -> Option<Match> {
        let found = match event {
            Event::TextDelta { index, part, delta, logprobs } => {
                let held = self.held.entry((index, part)).or_default();
                held.text.push_str(&delta);
                held.tokens.extend(logprobs);
                return self.let_go(index, part, false, out);
            }
            Event::PartDone { index, part, space: PartSpace::Content } => self.let_go(index, part, true, out),
            Event::ItemDone { index, .. } => self.let_go_all((index, 0)..=(index, u32::MAX), out),
            _ => None,
        };
        if found.is_none() {
            self.answers.show(event, out);
        }
        found
    }

    /// Ends the answer that an item belongs to: the item is whole, what was open beside it (a call in the
    /// making) is cut short.
    fn cut(&mut self, found: Match, out: &mut Vec<Event>) {
        let Match { index, stop } = found;
        let Some(answer) = self.answers.of(index) else { return };
        // What waits beside it was said before the end.
        let held = self.held.keys().copied();
        let beside: Vec<_> = held.filter(|(at, _)| self.answers.of(*at) == Some(answer)).collect();
        for (index, part) in beside {
            self.let_go(index, part, true, out);
        }
        self.answers.cut(answer, |at| at == index, FinishReason::StopString(Some(stop)), out);
    }

    fn let_go_all(
        &mut self,
        range: std::ops::RangeInclusive<(u32, u32)>,
        out: &mut Vec<Event>,
    ) -> Option<Match> {
        let places: Vec<_> = self.held.range(range).map(|(place, _)| *place).collect();
        places.into_iter().fold(None, |found, (index, part)| {
            let here = self.let_go(index, part, true, out);
            found.or(here)
        })
    }

    /// Shows what is decided of a part's text; all of it, if it is the `last`.
    fn let_go(&mut self, index: u32, part: u32, last: bool, out: &mut Vec<Event>) -> Option<Match> {
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
            return Some(Match { index, stop });
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

impl Filter for StopCutter {
    fn take(&mut self, batch: Vec<Event>, out: &mut Vec<Event>) -> Result<Flow, Error> {
        for mut event in batch {
            if !self.answers.admit(&mut event)? {
                continue;
            }
            if let Some(found) = self.pass(event, out) {
                self.cut(found, out);
            }
            if self.answers.flow() == Flow::Enough {
                return Ok(Flow::Enough);
            }
        }
        Ok(Flow::More)
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        while let Some((&(index, part), _)) = self.held.first_key_value() {
            if let Some(found) = self.let_go(index, part, true, out) {
                self.cut(found, out);
            }
        }
        Ok(())
    }
}
