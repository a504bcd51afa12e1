//! The stream of an answer: a queue between the engine's thread and whoever reads.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use crate::GenerateError;

/// One step of an answer. After [`Step::Done`] or [`Step::Failed`] nothing follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// More of the answer's text.
    Text(String),
    /// More of the thinking that a reasoning model puts before its answer.
    Reasoning(String),
    /// A complete call of a tool.
    ToolCall {
        /// The function the model calls. It may be one that was not offered.
        name: String,
        /// Its arguments: well-formed JSON, except when the model wrote them as a string.
        arguments: String,
    },
    /// The end of a complete answer.
    Done {
        /// Why it ended.
        reason: FinishReason,
        /// The tokens of the prompt.
        prompt_tokens: u32,
        /// How many of them were already in the KV cache and were not computed again.
        cached_tokens: u32,
        /// The tokens written, without the token that ended the answer.
        output_tokens: u32,
    },
    /// The answer broke off, or never began.
    Failed(GenerateError),
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// The model ended it.
    Stop,
    /// This stop string of the request came up.
    StopString(String),
    /// `max_tokens` were written.
    Length,
    /// The context window is full.
    ContextFull,
}

/// An answer while it is being written. Dropping it stops the writing within one token (within one chunk
/// of the prompt while that is still being read).
#[derive(Debug)]
pub struct Generation {
    shared: Arc<Shared>,
    finished: bool,
}

/// The engine's end. Dropping it before the last step fails the answer as stopped.
#[derive(Debug)]
pub(crate) struct StepSender {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<Step>,
    waker: Option<Waker>,
    ended: bool,
    abandoned: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The two ends of one answer.
///
/// The engine never waits for a reader, since one slow reader would hold up everybody else's answer. What
/// a slow reader has not taken yet is merged, so that it is bounded by the text of one context window.
pub(crate) fn answer() -> (StepSender, Generation) {
    let shared = Arc::new(Shared::default());
    (StepSender { shared: Arc::clone(&shared) }, Generation { shared, finished: false })
}

impl StepSender {
    /// Hands a step to the reader. Steps after the last one are dropped.
    pub(crate) fn send(&self, step: Step) {
        let waker = {
            let mut state = self.shared.lock();
            if state.ended || state.abandoned {
                return;
            }
            state.ended = matches!(step, Step::Done { .. } | Step::Failed(_));
            match (state.steps.back_mut(), step) {
                (Some(Step::Text(last)), Step::Text(more)) => last.push_str(&more),
                (Some(Step::Reasoning(last)), Step::Reasoning(more)) => last.push_str(&more),
                (_, step) => state.steps.push_back(step),
            }
            state.waker.take()
        };
        self.shared.changed.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether nobody reads any more.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.shared.lock().abandoned
    }
}

impl Drop for StepSender {
    fn drop(&mut self) {
        self.send(Step::Failed(GenerateError::Stopped));
    }
}

impl Generation {
    /// Waits for the next step, blocking the thread; `None` after the last one. For programs without an
    /// async runtime.
    pub fn next_blocking(&mut self) -> Option<Step> {
        if self.finished {
            return None;
        }
        let mut state = self.shared.lock();
        loop {
            if let Some(step) = state.steps.pop_front() {
                self.finished = matches!(step, Step::Done { .. } | Step::Failed(_));
                return Some(step);
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Stream for Generation {
    type Item = Step;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Step>> {
        if self.finished {
            return Poll::Ready(None);
        }
        let step = {
            let mut state = self.shared.lock();
            let step = state.steps.pop_front();
            if step.is_none() {
                state.waker = Some(context.waker().clone());
            }
            step
        };
        match step {
            Some(step) => {
                self.finished = matches!(step, Step::Done { .. } | Step::Failed(_));
                Poll::Ready(Some(step))
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.abandoned = true;
        state.steps.clear();
        state.waker = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::StreamExt;

    #[test]
    fn steps_arrive_in_order_and_waiting_text_is_merged() {
        let (sender, mut answer) = answer();
        sender.send(Step::Text("a".into()));
        sender.send(Step::Text("b".into()));
        sender.send(Step::Reasoning("c".into()));
        assert_eq!(answer.next().now_or_never(), Some(Some(Step::Text("ab".into()))));
        assert_eq!(answer.next().now_or_never(), Some(Some(Step::Reasoning("c".into()))));
        assert_eq!(answer.next().now_or_never(), None);
    }

    #[test]
    fn an_engine_that_disappears_fails_the_answer() {
        let (sender, mut answer) = answer();
        drop(sender);
        assert_eq!(answer.next_blocking(), Some(Step::Failed(GenerateError::Stopped)));
        assert_eq!(answer.next_blocking(), None);
    }

    #[test]
    fn the_engine_sees_that_nobody_reads() {
        let (sender, answer) = answer();
        assert!(!sender.is_abandoned());
        drop(answer);
        assert!(sender.is_abandoned());
    }

    #[test]
    fn a_blocked_reader_wakes_up() {
        let (sender, mut answer) = answer();
        let reader = std::thread::spawn(move || answer.next_blocking());
        sender.send(Step::Text("late".into()));
        assert_eq!(reader.join().unwrap(), Some(Step::Text("late".into())));
    }
}
