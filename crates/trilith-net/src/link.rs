//! The wake-up path between a connection and whichever task uses it at the moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use futures_util::task::AtomicWaker;

/// Wakes the task that waits on a connection.
///
/// The waker made of it stays the same for the life of the connection, so the
/// registrations of socket and timer are never renewed when the connection moves to
/// another task, and an idle connection holds on to no task.
#[derive(Default)]
pub(crate) struct Link {
    task: AtomicWaker,
    woken: AtomicBool,
}

impl Wake for Link {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

impl Link {
    /// Passes wake-ups on to the task of `waker` from here on.
    pub(crate) fn attach(&self, waker: &Waker) {
        self.task.register(waker);
    }

    /// Forgets the task and past wake-ups, before the last poll of a connection that goes
    /// idle.
    pub(crate) fn detach(&self) {
        self.task.take();
        self.woken.store(false, Ordering::Release);
    }

    /// Whether anything happened since the last poll of an idle connection.
    pub(crate) fn was_woken(&self) -> bool {
        self.woken.load(Ordering::Acquire)
    }
}
