//! Stop strings for upstreams that have none: the text is cut at the first match, and the stop string itself
//! is never shown (translation contract §10).

use std::collections::BTreeMap;

use trilith_core::{Event, Extra, Finish, FinishReason, ItemStatus, PartSpace};

/// Watches the text of every answer and cuts it at a stop string. Text that may still become a stop string is
/// held back, never more than the longest of them.
#[derive(Debug)]
pub(crate) struct StopCutter {
    stops: Vec<Box<str>>,
    held: BTreeMap<(u32, u32), String>,
}

impl StopCutter {
    pub(crate) fn new(stops: &[Box<str>]) -> Self {
        let stops = stops.iter().filter(|stop| !stop.is_empty()).cloned().collect();
        Self { stops, held: BTreeMap::new() }
    }

    /// Passes events on; says whether a stop string was found, after which nothing more is wanted. The events
    /// then already close the item and finish the answer.
    pub(crate) fn filter(&mut self, events: Vec<Event>, out: &mut Vec<Event>) -> bool {
        for event in events {
            match event {
                Event::TextDelta { index, part, delta, logprobs } => {
                    let mut text = self.held.remove(&(index, part)).unwrap_or_default();
                    text.push_str(&delta);
                    if let Some((at, stop)) = self.find(&text) {
                        text.truncate(at);
                        push_text(out, index, part, text, Vec::new());
                        close(out, index, part, stop);
                        return true;
                    }
                    let keep = self.hold_back(&text);
                    let held = text.split_off(text.len() - keep);
                    push_text(out, index, part, text, logprobs);
                    if !held.is_empty() {
                        self.held.insert((index, part), held);
                    }
                }
                Event::PartDone { index, part, space: PartSpace::Content } => {
                    if let Some(rest) = self.held.remove(&(index, part)) {
                        push_text(out, index, part, rest, Vec::new());
                    }
                    out.push(event);
                }
                other => out.push(other),
            }
        }
        false
    }

    fn find(&self, text: &str) -> Option<(usize, Box<str>)> {
        let found = self.stops.iter().filter_map(|stop| Some((text.find(&**stop)?, stop.clone())));
        found.min_by_key(|(at, stop)| (*at, usize::MAX - stop.len()))
    }

    /// How many bytes at the end could begin a stop string.
    fn hold_back(&self, text: &str) -> usize {
        let longest = |stop: &str| {
            (1..stop.len().min(text.len() + 1))
                .rev()
                .find(|&length| stop.is_char_boundary(length) && text.ends_with(&stop[..length]))
                .unwrap_or(0)
        };
        self.stops.iter().map(|stop| longest(stop)).max().unwrap_or(0)
    }
}

fn push_text(
    out: &mut Vec<Event>,
    index: u32,
    part: u32,
    delta: String,
    logprobs: Vec<trilith_core::Logprob>,
) {
    if !delta.is_empty() || !logprobs.is_empty() {
        out.push(Event::TextDelta { index, part, delta, logprobs });
    }
}

fn close(out: &mut Vec<Event>, index: u32, part: u32, stop: Box<str>) {
    out.push(Event::PartDone { index, part, space: PartSpace::Content });
    out.push(Event::ItemDone {
        index,
        status: ItemStatus::Completed,
        carriers: Vec::new(),
        detail: None,
        extra: Extra::EMPTY,
    });
    out.push(Event::Finish(Finish { choice: 0, reason: FinishReason::StopString(Some(stop)) }));
}
