//! One thread writes, few threads read; SQLite is never called on a runtime thread.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use trilith_core::{Item, Response, StoreError};

use super::{Running, Sync, read::fail, write, write::WriteError};

/// The most writes that share a transaction.
const BATCH: usize = 256;

/// A question for a reader.
pub(super) type Question = Box<dyn FnOnce(&Connection) + Send>;

/// What the writer is asked to do.
pub(super) enum Write {
    Begin { tenant: Box<str>, response: Arc<Response>, input: Vec<Item> },
    Commit { tenant: Box<str>, response: Arc<Response>, done: oneshot::Sender<Result<(), StoreError>> },
    Delete { tenant: Box<str>, response: Box<str>, now: i64, done: oneshot::Sender<Result<bool, StoreError>> },
    /// A question answered by the writer's own connection: for databases in memory, and for flushing.
    Ask(Question),
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) sync: Sync,
    pub(super) retention_s: i64,
    pub(super) running: Running,
}

/// An answer that is given once its transaction is on disk.
type Ack = Box<dyn FnOnce(Option<StoreError>) + Send>;

impl Writer {
    /// Takes whatever is waiting, does it in one transaction, then answers. Ends when every sender is gone.
    pub(super) fn run(mut self, queue: &mpsc::Receiver<Write>) {
        while let Ok(first) = queue.recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH
                && let Ok(next) = queue.try_recv()
            {
                batch.push(next);
            }
            self.write(batch);
        }
    }

    fn write(&mut self, batch: Vec<Write>) {
        // A beginning alone may be lost with the power; an end may not.
        let durable = batch.iter().any(|write| !matches!(write, Write::Begin { .. } | Write::Ask(_)));
        let level = if durable && self.sync == Sync::Full { "FULL" } else { "NORMAL" };
        let mut acks: Vec<Ack> = Vec::with_capacity(batch.len());
        let mut questions = Vec::new();
        let written = self.transact(level, batch, &mut acks, &mut questions);
        if let Err(error) = &written {
            tracing::error!(%error, "writing responses failed");
        }
        let error = written.err().map(fail);
        acks.into_iter().for_each(|ack| ack(error.clone()));
        questions.into_iter().for_each(|question| question(&self.connection));
    }

    fn transact(
        &mut self,
        level: &str,
        batch: Vec<Write>,
        acks: &mut Vec<Ack>,
        questions: &mut Vec<Question>,
    ) -> rusqlite::Result<()> {
        let (retention, running) = (self.retention_s, Arc::clone(&self.running));
        let works = |write: &Write| !matches!(write, Write::Ask(_));
        if !batch.iter().any(works) {
            questions.extend(batch.into_iter().filter_map(|write| match write {
                Write::Ask(question) => Some(question),
                _ => None,
            }));
            return Ok(());
        }
        self.connection.pragma_update(None, "synchronous", level)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut failed = None;
        for write in batch {
            if let Err(error) = one(&transaction, write, retention, &running, acks, questions) {
                failed.get_or_insert(error);
            }
        }
        match failed {
            Some(error) => Err(error),
            None => transaction.commit(),
        }
    }
}

/// Does one write; a fault of SQLite fails the batch, anything else only this write.
fn one(
    connection: &Connection,
    write: Write,
    retention_s: i64,
    running: &Running,
    acks: &mut Vec<Ack>,
    questions: &mut Vec<Question>,
) -> rusqlite::Result<()> {
    match write {
        Write::Begin { tenant, response, input } => {
            match write::begin(connection, &tenant, &response, &input, retention_s) {
                Err(WriteError::Sqlite(error)) => return Err(error),
                Err(refused) => tracing::warn!(?refused, "a response could not begin"),
                Ok(()) => {}
            }
        }
        Write::Commit { tenant, response, done } => {
            let result = write::commit(connection, &tenant, &response);
            let running = Arc::clone(running);
            let (result, fault) = match result {
                Ok(()) => (Ok(()), None),
                Err(WriteError::Sqlite(error)) => (Ok(()), Some(error)),
                Err(_) => (Err(fail("the response is gone or never began")), None),
            };
            acks.push(Box::new(move |error| {
                forget(&running, &tenant, &response.id);
                done.send(error.map_or(result, Err)).ok();
            }));
            if let Some(error) = fault {
                return Err(error);
            }
        }
        Write::Delete { tenant, response, now, done } => {
            let result = write::delete(connection, &tenant, &response, now);
            let running = Arc::clone(running);
            let existed = *result.as_ref().unwrap_or(&false);
            acks.push(Box::new(move |error| {
                forget(&running, &tenant, &response);
                done.send(error.map_or(Ok(existed), Err)).ok();
            }));
            result?;
        }
        Write::Ask(question) => questions.push(question),
    }
    Ok(())
}

fn forget(running: &Running, tenant: &str, id: &str) {
    if let Ok(mut running) = running.lock() {
        running.remove(&(tenant.into(), id.into()));
    }
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
