//! One thread writes, few threads read; SQLite is never called on a runtime thread.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use trilith_core::{Error, Item, Response, StoreError};

use super::{Expired, Running, Sync, read::fail, reclaim, write, write::WriteError};

/// The most writes that share a transaction.
const BATCH: usize = 256;

/// A question for a reader.
pub(super) type Question = Box<dyn FnOnce(&Connection) + Send>;
/// Where the outcome of a write goes.
pub(super) type Done<T> = oneshot::Sender<Result<T, StoreError>>;

/// What the writer is asked to do.
pub(super) enum Write {
    Begin {
        tenant: Box<str>,
        response: Arc<Response>,
        input: Vec<Item>,
    },
    Commit {
        tenant: Box<str>,
        response: Arc<Response>,
        done: Done<()>,
    },
    Delete {
        tenant: Box<str>,
        response: Box<str>,
        done: Done<bool>,
    },
    Expire {
        now: i64,
        done: Done<Expired>,
    },
    Recover {
        error: Box<Error>,
        now: i64,
        done: Done<u64>,
    },
    /// A question answered by the writer's own connection, after everything that was asked before it: for
    /// databases in memory, and for flushing.
    Ask(Question),
}

impl Write {
    /// A beginning or a sweep may be lost with the power; an end or a deletion may not.
    const fn must_last(&self) -> bool {
        matches!(self, Self::Commit { .. } | Self::Delete { .. })
    }
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) sync: Sync,
    pub(super) retention_s: i64,
    pub(super) running: Running,
}

/// An answer that is given once its transaction is on disk; an error takes the place of a success.
type Answer = Box<dyn FnOnce(Option<StoreError>)>;

impl Writer {
    /// Takes whatever is waiting, does it in one transaction, then answers. Ends when every sender is gone.
    pub(super) fn run(mut self, queue: &mpsc::Receiver<Write>) {
        while let Ok(first) = queue.recv() {
            let (mut writes, mut questions) = (Vec::new(), Vec::new());
            let waiting = std::iter::once(first).chain(std::iter::from_fn(|| queue.try_recv().ok()));
            for write in waiting.take(BATCH) {
                match write {
                    Write::Ask(question) => questions.push(question),
                    write => writes.push(write),
                }
            }
            if !writes.is_empty() {
                self.write(writes);
            }
            questions.into_iter().for_each(|question| question(&self.connection));
        }
    }

    fn write(&mut self, writes: Vec<Write>) {
        let mut answers = Vec::with_capacity(writes.len());
        let written = self.transact(writes, &mut answers);
        if let Err(error) = &written {
            tracing::error!(%error, "writing responses failed");
        }
        let error = written.err();
        answers.into_iter().for_each(|answer| answer(error.clone()));
    }

    fn transact(&mut self, writes: Vec<Write>, answers: &mut Vec<Answer>) -> Result<(), StoreError> {
        let durable = self.sync == Sync::Full && writes.iter().any(Write::must_last);
        let level = if durable { "FULL" } else { "NORMAL" };
        let (retention_s, running) = (self.retention_s, &self.running);
        let opened = self
            .connection
            .pragma_update(None, "synchronous", level)
            .and_then(|()| self.connection.transaction_with_behavior(TransactionBehavior::Immediate))
            .map_err(fail);
        let mut state = opened.as_deref().map_err(Clone::clone);
        for write in writes {
            answers.push(perform(&mut state, write, retention_s, running));
        }
        state.map(drop)?;
        opened?.commit().map_err(fail)
    }
}

/// The open transaction, or why there is none (any more).
type Open<'a> = Result<&'a Connection, StoreError>;

/// Does one write; gives its answer.
fn perform(open: &mut Open<'_>, write: Write, retention_s: i64, running: &Running) -> Answer {
    match write {
        Write::Begin { tenant, response, input } => {
            let begun =
                alone(open, |connection| write::begin(connection, &tenant, &response, &input, retention_s));
            if let Err(error) = begun {
                tracing::warn!(%error, response = &*response.id, "a response could not begin");
            }
            Box::new(|_| ())
        }
        Write::Commit { tenant, response, done } => {
            let result = alone(open, |connection| write::commit(connection, &tenant, &response));
            let running = Arc::clone(running);
            Box::new(move |error| {
                forget(&running, &tenant, &response.id);
                done.send(error.map_or(result, Err)).ok();
            })
        }
        Write::Delete { tenant, response, done } => {
            let result = alone(open, |connection| Ok(reclaim::delete(connection, &tenant, &response)?));
            let running = Arc::clone(running);
            Box::new(move |error| {
                let result = error.map_or(result, Err);
                // What could not begin was visible too, but lives in memory alone.
                let result = result.map(|existed| forget(&running, &tenant, &response) || existed);
                done.send(result).ok();
            })
        }
        Write::Expire { now, done } => {
            answer(alone(open, |connection| Ok(reclaim::expire(connection, now)?)), done)
        }
        Write::Recover { error, now, done } => {
            answer(alone(open, |connection| write::recover(connection, &error, now)), done)
        }
        Write::Ask(question) => {
            if let Ok(connection) = open {
                question(connection);
            }
            Box::new(|_| ())
        }
    }
}

fn answer<T: 'static>(result: Result<T, StoreError>, done: Done<T>) -> Answer {
    Box::new(move |error| {
        done.send(error.map_or(result, Err)).ok();
    })
}

/// Does one write of a batch so that its failure leaves the others alone.
fn alone<T>(
    open: &mut Open<'_>,
    work: impl FnOnce(&Connection) -> Result<T, WriteError>,
) -> Result<T, StoreError> {
    let connection = open.clone()?;
    let step = |sql| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
    step("SAVEPOINT one").map_err(fail)?;
    let result = work(connection);
    let undone = match &result {
        Ok(_) => Ok(0),
        Err(_) => step("ROLLBACK TO one"),
    };
    // A full disk ends the whole transaction: what came before in it is undone as well.
    if let Err(error) = undone.and_then(|_| step("RELEASE one")) {
        *open = Err(fail(error));
    }
    open.clone().and(result.map_err(fail))
}

fn forget(running: &Running, tenant: &str, id: &str) -> bool {
    running.lock().is_ok_and(|mut running| running.remove(&(tenant.into(), id.into())).is_some())
}

/// Starts a reader that takes questions from a shared queue.
pub(super) fn spawn_reader(
    connection: Connection,
    queue: Arc<Mutex<mpsc::Receiver<Question>>>,
) -> std::io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("trilith-read".into()).spawn(move || {
        loop {
            let Ok(guard) = queue.lock() else { return };
            let Ok(question) = guard.recv() else { return };
            drop(guard);
            question(&connection);
        }
    })
}
