//! One thread writes, few threads read; SQLite is never called on a runtime thread.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use trilith_core::{Error, Item, Response, StoreError};

use super::{
    Expired, Sync,
    file::DatabaseFile,
    ledger::{Ledger, Unbegun},
    read::fail,
    reclaim, write,
    write::WriteError,
};

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
    /// An end whose commit failed earlier.
    Owed {
        tenant: Box<str>,
        response: Arc<Response>,
    },
    Delete {
        tenant: Box<str>,
        response: Box<str>,
        done: Done<bool>,
    },
    /// Something small, to know whether anything can be written.
    Probe {
        now: i64,
        /// Taken out before the transaction: the answer comes last.
        done: Option<Done<()>>,
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
        matches!(self, Self::Commit { .. } | Self::Owed { .. } | Self::Delete { .. })
    }

    const fn take_check(&mut self) -> Option<Done<()>> {
        match self {
            Self::Probe { done, .. } => done.take(),
            _ => None,
        }
    }

    /// Unix seconds, as far as it knows the time.
    fn at(&self) -> i64 {
        match self {
            Self::Begin { response, .. } => response.created_at,
            Self::Commit { response, .. } => response.ended_at.unwrap_or(0),
            Self::Probe { now, .. } => *now,
            _ => 0,
        }
    }
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) sync: Sync,
    pub(super) retention_s: i64,
    pub(super) ledger: Ledger,
    /// `None` for a database in memory.
    pub(super) file: Option<DatabaseFile>,
}

/// An answer that is given once its transaction is on disk; an error takes the place of a success.
type Answer = Box<dyn FnOnce(Option<StoreError>)>;

/// What a batch of writes came to.
struct Outcome {
    answers: Vec<Answer>,
    /// Why all of it was undone.
    undone: Option<StoreError>,
    /// Why the storage could not take all of it.
    fault: Option<StoreError>,
}

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
        self.settle();
    }

    fn write(&mut self, mut writes: Vec<Write>) {
        let at = writes.iter().map(Write::at).max().unwrap_or(0);
        let checks: Vec<Done<()>> = writes.iter_mut().filter_map(Write::take_check).collect();
        let Outcome { answers, undone, fault } = self.attempt(writes);
        answers.into_iter().for_each(|answer| answer(undone.clone()));
        // What works again owes the ends of the time when it did not.
        let fault = fault.or_else(|| self.settle());
        self.ledger.wrote(fault, at);
        if !checks.is_empty() {
            let gone = self.file.as_ref().and_then(|file| file.check().err());
            self.ledger.probed(gone, at);
        }
        for done in checks {
            done.send(self.ledger.failing().map_or(Ok(()), Err)).ok();
        }
    }

    /// Writes the ends that could not be written when they came; says what still stands in the way.
    fn settle(&mut self) -> Option<StoreError> {
        let owed = self.ledger.owed();
        if owed.is_empty() {
            return None;
        }
        let writes = owed.into_iter().map(|(tenant, response)| Write::Owed { tenant, response });
        let Outcome { answers, undone, fault } = self.attempt(writes.collect());
        answers.into_iter().for_each(|answer| answer(undone.clone()));
        fault
    }

    /// Does all of the writes in one transaction.
    fn attempt(&mut self, writes: Vec<Write>) -> Outcome {
        let durable = self.sync == Sync::Full && writes.iter().any(Write::must_last);
        let level = if durable { "FULL" } else { "NORMAL" };
        let opened = self
            .connection
            .pragma_update(None, "synchronous", level)
            .and_then(|()| self.connection.transaction_with_behavior(TransactionBehavior::Immediate))
            .map_err(fail);
        let mut batch = Batch {
            open: opened.as_deref().map_err(Clone::clone),
            fault: None,
            retention_s: self.retention_s,
            ledger: &self.ledger,
        };
        let answers = writes.into_iter().map(|write| batch.perform(write)).collect();
        let Batch { open, fault, .. } = batch;
        let done = match open {
            Ok(_) => opened.and_then(|transaction| transaction.commit().map_err(fail)),
            Err(error) => Err(error),
        };
        if let Err(error) = &done {
            tracing::error!(%error, "writing responses failed");
        }
        let undone = done.err();
        Outcome { answers, fault: undone.clone().or(fault), undone }
    }
}

/// The writes that share a transaction.
struct Batch<'a> {
    /// The open transaction, or why there is none (any more).
    open: Result<&'a Connection, StoreError>,
    /// The first thing that the storage could not do.
    fault: Option<StoreError>,
    retention_s: i64,
    ledger: &'a Ledger,
}

impl Batch<'_> {
    /// Does one write; gives its answer.
    fn perform(&mut self, write: Write) -> Answer {
        let ledger = self.ledger.clone();
        match write {
            Write::Begin { tenant, response, input } => self.begin(tenant, response, input),
            Write::Commit { tenant, response, done } => {
                let result = self.end(&tenant, &response);
                Box::new(move |error| {
                    // What fails for another reason than the storage fails for ever.
                    let over = error.is_none() && !matches!(&result, Err(why) if why.is_of_storage());
                    let result = match (error, result) {
                        (Some(error), _) => Err(error),
                        // Deleted meanwhile, and so it stays.
                        (None, Err(WriteError::ResponseGone))
                            if ledger.was_deleted(&tenant, &response.id) =>
                        {
                            Ok(())
                        }
                        (None, result) => result.map_err(fail),
                    };
                    if over {
                        ledger.forget(&tenant, &response.id);
                    }
                    done.send(result).ok();
                })
            }
            Write::Owed { tenant, response } => {
                let result = self.end(&tenant, &response);
                Box::new(move |error| {
                    if let (None, Err(why)) = (&error, &result) {
                        tracing::warn!(%why, response = &*response.id, "the end of a response is not kept");
                    }
                    if error.is_none() && !result.is_err_and(|why| why.is_of_storage()) {
                        ledger.forget(&tenant, &response.id);
                    }
                })
            }
            Write::Delete { tenant, response, done } => {
                let result = self
                    .alone(|connection| Ok(reclaim::delete(connection, &tenant, &response)?))
                    .map_err(fail);
                Box::new(move |error| {
                    let result = error.map_or(result, Err);
                    // What could not begin was visible too, but lives in memory alone.
                    let result = result.map(|existed| ledger.delete(&tenant, &response) || existed);
                    done.send(result).ok();
                })
            }
            Write::Probe { .. } => {
                // What became of it is told by the fault that it leaves.
                self.alone(|connection| Ok(write::probe(connection)?)).ok();
                Box::new(|_| ())
            }
            Write::Expire { now, done } => {
                answer(self.alone(|connection| Ok(reclaim::expire(connection, now)?)), done)
            }
            Write::Recover { error, now, done } => {
                answer(self.alone(|connection| write::recover(connection, &error, now)), done)
            }
            Write::Ask(question) => {
                if let Ok(connection) = self.open {
                    question(connection);
                }
                Box::new(|_| ())
            }
        }
    }

    fn begin(&mut self, tenant: Box<str>, response: Arc<Response>, input: Vec<Item>) -> Answer {
        let retention_s = self.retention_s;
        let result =
            self.alone(|connection| write::begin(connection, &tenant, &response, &input, retention_s));
        let (ledger, input) = (self.ledger.clone(), Arc::new(input));
        let failed = move |why: StoreError| {
            tracing::warn!(error = %why, response = &*response.id, "a response could not begin");
            ledger.not_begun(&tenant, Unbegun { response, input, why });
        };
        match result {
            Ok(()) => Box::new(move |error| {
                error.map(failed);
            }),
            // Its end may wait in the same batch.
            Err(error) => {
                failed(fail(error));
                Box::new(|_| ())
            }
        }
    }

    /// Records an end, and first the beginning if that could not be done before.
    fn end(&mut self, tenant: &str, response: &Response) -> Result<(), WriteError> {
        let (retention_s, unbegun) = (self.retention_s, self.ledger.unbegun(tenant, &response.id));
        self.alone(|connection| {
            if let Some(Unbegun { response, input, .. }) = &unbegun {
                write::begin(connection, tenant, response, input, retention_s)?;
            }
            write::commit(connection, tenant, response)
        })
    }

    /// Does one write so that its failure leaves the others alone.
    fn alone<T>(&mut self, work: impl FnOnce(&Connection) -> Result<T, WriteError>) -> Result<T, WriteError> {
        let connection = self.open.clone().map_err(WriteError::Closed)?;
        let step = |sql| connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        step("SAVEPOINT one")?;
        let result = work(connection);
        if let Err(error) = &result
            && error.is_of_storage()
        {
            self.fault.get_or_insert_with(|| fail(error));
        }
        let undone = match &result {
            Ok(_) => Ok(0),
            Err(_) => step("ROLLBACK TO one"),
        };
        // A full disk ends the whole transaction: what came before in it is undone as well.
        if let Err(error) = undone.and_then(|_| step("RELEASE one")) {
            self.open = Err(fail(error));
        }
        self.open.clone().map_err(WriteError::Closed).and(result)
    }
}

fn answer<T: 'static>(result: Result<T, WriteError>, done: Done<T>) -> Answer {
    Box::new(move |error| {
        done.send(error.map_or(result.map_err(fail), Err)).ok();
    })
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
