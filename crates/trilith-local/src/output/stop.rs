//! Stop strings, wherever the borders of tokens fall.

use super::begun;

/// Looks for stop strings in text that arrives in pieces, and holds back text that might become one.
#[derive(Debug)]
pub(crate) struct StopMatcher {
    stops: Vec<String>,
    held: String,
}

/// What is certain after one more piece of text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Text that belongs to the answer.
    pub(crate) text: String,
    /// The stop string that came up right after it.
    pub(crate) stop: Option<String>,
}

impl StopMatcher {
    /// A matcher for non-empty `stops`.
    pub(crate) fn new(stops: Vec<String>) -> Self {
        Self { stops, held: String::new() }
    }

    /// Takes the next piece. The stop string that is complete first wins, and of several complete at the
    /// same character the longest: that way the answer does not depend on how the text was cut in pieces.
    pub(crate) fn push(&mut self, text: &str) -> Found {
        self.held.push_str(text);
        let first = self
            .stops
            .iter()
            .filter_map(|stop| self.held.find(stop.as_str()).map(|start| (start + stop.len(), start, stop)))
            .min_by_key(|&(end, start, _)| (end, start));
        if let Some((_, start, stop)) = first {
            let stop = Some(stop.clone());
            let mut text = std::mem::take(&mut self.held);
            text.truncate(start);
            return Found { text, stop };
        }
        let keep = self.stops.iter().map(|stop| begun(&self.held, stop)).max().unwrap_or(0);
        // The kept end begins like a stop string, so it begins at the border of a character.
        let kept = self.held.split_off(self.held.len() - keep);
        Found { text: std::mem::replace(&mut self.held, kept), stop: None }
    }

    /// The text that was held back and became no stop string.
    pub(crate) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}
