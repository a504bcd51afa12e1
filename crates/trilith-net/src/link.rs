//! The wake-up path between a connection and whichever task uses it at the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Rounds of [`Link::run`] before the task is handed back to its scheduler. The runtime
/// answers "woken, but not ready" while a task has used up its turn, so a loop without an
/// end would never leave.
const MAX_ROUNDS: usize = 4;

/// Wakes the task that waits on a connection, and counts the bytes that cross it.
///
/// The two halves of the HTTP engine wake each other for every body frame. As both are
/// polled by one task, such a wake-up only has to repeat the poll that is under way; sent
/// to the scheduler, it would run the whole task once more. The waker stays the same for
/// the life of the connection, so the socket's registration is never renewed when the
/// connection moves to another task.
#[derive(Default)]
pub(crate) struct Link {
    task: AtomicWaker,
    polling: AtomicBool,
    woken: AtomicBool,
    read: AtomicU64,
    written: AtomicU64,
}

impl Wake for Link {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        if !self.polling.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

impl Link {
    /// Polls `step` for the task of `cx`, again while the step woke itself.
    ///
    /// A wake-up during the step leaves only `woken` behind. It cannot be lost: the waker
    /// sets `woken` before it reads `polling`, this side clears `polling` before it reads
    /// `woken`, and all four are sequentially consistent.
    pub(crate) fn run<T>(
        &self,
        cx: &mut Context<'_>,
        waker: &Waker,
        mut step: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        self.task.register(cx.waker());
        let mut inner = Context::from_waker(waker);
        for _ in 0..MAX_ROUNDS {
            self.polling.store(true, Ordering::SeqCst);
            self.woken.store(false, Ordering::SeqCst);
            let outcome = step(&mut inner);
            self.polling.store(false, Ordering::SeqCst);
            if outcome.is_ready() || !self.woken.load(Ordering::SeqCst) {
                return outcome;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Forgets the task and past wake-ups, before the last poll of a connection that goes
    /// idle.
    pub(crate) fn detach(&self) {
        self.task.take();
        self.woken.store(false, Ordering::SeqCst);
    }

    /// Whether anything happened since the last poll of an idle connection.
    pub(crate) fn was_woken(&self) -> bool {
        self.woken.load(Ordering::SeqCst)
    }

    /// Starts the byte counts of a new exchange.
    pub(crate) fn reset_counts(&self) {
        self.read.store(0, Ordering::Relaxed);
        self.written.store(0, Ordering::Relaxed);
    }

    // One task polls a connection at a time, so a plain load and store is enough.
    pub(crate) fn add_read(&self, bytes: usize) {
        let sum = self.read.load(Ordering::Relaxed).wrapping_add(bytes as u64);
        self.read.store(sum, Ordering::Relaxed);
    }

    pub(crate) fn add_written(&self, bytes: usize) {
        let sum = self.written.load(Ordering::Relaxed).wrapping_add(bytes as u64);
        self.written.store(sum, Ordering::Relaxed);
    }

    /// Whether nothing was sent or nothing came back since [`Link::reset_counts`].
    pub(crate) fn unanswered(&self) -> bool {
        self.read.load(Ordering::Relaxed) == 0 || self.written.load(Ordering::Relaxed) == 0
    }
}
