//! From the bytes of tokens to the steps of an answer. Pure: no model, no thread.

mod split;
mod stop;
mod utf8;

#[cfg(test)]
mod tests;

use crate::stream::Step;
pub(crate) use split::{Splitter, TAGS};
use stop::StopMatcher;
use utf8::Utf8Assembler;

/// Reads the bytes of one answer, in order.
#[derive(Debug)]
pub(crate) struct OutputReader {
    utf8: Utf8Assembler,
    stop: StopMatcher,
    splitter: Option<Splitter>,
}

impl OutputReader {
    /// A reader that ends at one of `stop` and, for a chat, separates thinking and tool calls with
    /// `splitter`.
    pub(crate) fn new(stop: Vec<String>, splitter: Option<Splitter>) -> Self {
        Self { utf8: Utf8Assembler::default(), stop: StopMatcher::new(stop), splitter }
    }

    /// Reads the bytes of one token and appends what is certain to `steps`. Returns the stop string when
    /// the answer has reached one.
    pub(crate) fn push(&mut self, bytes: &[u8], steps: &mut Vec<Step>) -> Option<String> {
        let text = self.utf8.push(bytes);
        let found = self.stop.push(&text);
        self.forward(&found.text, steps);
        found.stop
    }

    /// Ends the answer and appends what was still held back to `steps`. Bytes of a character that never
    /// became complete are dropped.
    pub(crate) fn finish(mut self, steps: &mut Vec<Step>) {
        let held = self.stop.finish();
        self.forward(&held, steps);
        if let Some(mut splitter) = self.splitter {
            splitter.finish(steps);
        }
    }

    fn forward(&mut self, text: &str, steps: &mut Vec<Step>) {
        if text.is_empty() {
            return;
        }
        match &mut self.splitter {
            Some(splitter) => splitter.push(text, steps),
            None => steps.push(Step::Text(text.to_owned())),
        }
    }
}

/// How many bytes at the end of `text` are the beginning of `pattern` without being all of it. The longest
/// such end counts, and zero means that `pattern` has not begun.
fn begun(text: &str, pattern: &str) -> usize {
    let longest = pattern.len().saturating_sub(1).min(text.len());
    (1..=longest)
        .rev()
        .find(|&length| {
            pattern.as_bytes().get(..length).is_some_and(|start| text.as_bytes().ends_with(start))
        })
        .unwrap_or(0)
}
