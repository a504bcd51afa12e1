//! The store on SQLite: a file, or memory alone.

mod file;
mod ledger;
mod migrate;
mod read;
mod reclaim;
mod thread;
mod write;

#[cfg(test)]
mod tests;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
};

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;
use trilith_core::{BoxFuture, Error, InputPage, Item, ItemPage, Response, Store, StoreError, StoredContext};

use file::DatabaseFile;
use ledger::Ledger;
pub use reclaim::Expired;
use thread::{Done, Question, Write, Writer};

/// What an end of a response must survive before its last event is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// The loss of power: one flush of the disk for each group of ends.
    Full,
    /// The death of the process; the last moments before a loss of power may be gone.
    Normal,
}

/// Why a store could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// SQLite refused.
    Sqlite(rusqlite::Error),
    /// The file or its folder cannot be used.
    File(PathBuf, std::io::Error),
    /// The file is another program's database.
    Foreign,
    /// Another process serves from the file.
    InUse,
    /// A newer Trilith made the file.
    Newer {
        /// The file's version.
        found: usize,
        /// The newest version that this Trilith knows.
        known: usize,
    },
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => {
                f.write_str(match error.sqlite_error_code() {
                    Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                        "the database is damaged, or the file is none; put back a copy of it, or name another file: "
                    }
                    Some(ErrorCode::DiskFull) => "there is no room for the database; free some: ",
                    Some(ErrorCode::ReadOnly) => "the database may only be read; let this user write to it: ",
                    _ => "the database cannot be opened: ",
                })?;
                error.fmt(f)
            }
            Self::File(path, error) => write!(f, "the database {}: {error}", path.display()),
            Self::Foreign => f.write_str("the database belongs to another program; name another file"),
            Self::InUse => f.write_str(
                "another Trilith serves from this database; stop that one first, or name another file",
            ),
            Self::Newer { found, known } => write!(
                f,
                "the database was made by a newer Trilith (version {found}, this one knows {known}); \
                 upgrade, or name another file"
            ),
        }
    }
}

impl std::error::Error for OpenError {}

const READERS: usize = 2;
/// Bytes that the write-ahead log keeps between checkpoints; a burst may make it longer for a while.
const JOURNAL_LIMIT: u32 = 64 << 20;

/// The threads of a store. They end when nobody can ask any more.
struct Threads(Vec<std::thread::JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// The store on SQLite. Dropping it waits until everything handed over is written.
pub struct Sqlite {
    writes: mpsc::Sender<Write>,
    /// `None` for a database in memory, whose only connection is the writer's.
    reads: Option<mpsc::Sender<Question>>,
    ledger: Ledger,
    /// Behind the queues, which must be gone before the threads are waited for.
    _threads: Threads,
    /// Says that this process serves from the file; the last to go. `None` for a database in memory.
    _claim: Option<fs::File>,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sqlite")
    }
}

impl Sqlite {
    /// Opens or makes the database in a file. Responses expire `retention_days` after they were made.
    ///
    /// # Errors
    /// The file cannot be used, is another program's, a newer version made it, or another process serves from
    /// it.
    pub fn open(path: &Path, sync: Sync, retention_days: u32) -> Result<Self, OpenError> {
        let file = |error| OpenError::File(path.into(), error);
        file::create_private(path).map_err(file)?;
        let claim = file::claim(path)?;
        let mut connection = file::connect(path)?;
        // Before anything is written: an existing database does not change its kind any more.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "journal_size_limit", JOURNAL_LIMIT)?;
        migrate::migrate(&mut connection)?;
        let mut threads = Threads(Vec::new());
        let (questions, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..READERS {
            let reader = file::connect(path)?;
            reader.pragma_update(None, "query_only", true)?;
            threads.0.push(thread::spawn_reader(reader, Arc::clone(&queue)).map_err(file)?);
        }
        let writer =
            Self::writer(connection, Some(DatabaseFile::of(path).map_err(file)?), sync, retention_days);
        let mut store = Self::start(writer, Some(questions), threads).map_err(file)?;
        store._claim = Some(claim);
        Ok(store)
    }

    /// A store that lives as long as the process.
    ///
    /// # Errors
    /// SQLite refused.
    pub fn in_memory(retention_days: u32) -> Result<Self, OpenError> {
        let mut connection = Connection::open_in_memory()?;
        connection.pragma_update(None, "foreign_keys", true)?;
        migrate::migrate(&mut connection)?;
        let writer = Self::writer(connection, None, Sync::Normal, retention_days);
        Self::start(writer, None, Threads(Vec::new()))
            .map_err(|error| OpenError::File(":memory:".into(), error))
    }

    fn writer(connection: Connection, file: Option<DatabaseFile>, sync: Sync, retention_days: u32) -> Writer {
        connection.set_prepared_statement_cache_capacity(64);
        let retention_s = i64::from(retention_days) * 86_400;
        Writer { connection, sync, retention_s, ledger: Ledger::default(), file }
    }

    fn start(
        writer: Writer,
        reads: Option<mpsc::Sender<Question>>,
        mut threads: Threads,
    ) -> std::io::Result<Self> {
        let ledger = writer.ledger.clone();
        let (writes, queue) = mpsc::channel();
        let thread = std::thread::Builder::new().name("trilith-write".into());
        threads.0.push(thread.spawn(move || writer.run(&queue))?);
        Ok(Self { writes, reads, ledger, _threads: threads, _claim: None })
    }

    /// Takes away responses whose time is over at `now` (unix seconds), as far as they have ended, and the
    /// space that nothing needs any more: about 1,000 rows a call, so that no commit waits long behind it.
    /// Later responses keep their context. For a task that runs now and then, and again while there is more.
    ///
    /// # Errors
    /// The storage failed.
    pub fn expire(&self, now: i64) -> BoxFuture<'_, Result<Expired, StoreError>> {
        self.write(|done| Write::Expire { now, done })
    }

    fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(Done<T>) -> Write,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let (done, answered) = oneshot::channel();
        let sent = self.writes.send(write(done)).is_ok();
        Box::pin(async move {
            if !sent {
                return Err(stopped());
            }
            answered.await.unwrap_or_else(|_| Err(stopped()))
        })
    }

    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, StoreError>> {
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |connection| {
            answer.send(question(connection)).ok();
        });
        let sent = match &self.reads {
            Some(reads) => reads.send(question).is_ok(),
            None => self.writes.send(Write::Ask(question)).is_ok(),
        };
        Box::pin(async move {
            if !sent {
                return Err(stopped());
            }
            answered.await.unwrap_or_else(|_| Err(stopped()))
        })
    }
}

impl Store for Sqlite {
    fn context<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredContext>, StoreError>> {
        if self.ledger.get(tenant, response).is_some() {
            return Box::pin(async { Ok(None) });
        }
        let (tenant, response): (Box<str>, Box<str>) = (tenant.into(), response.into());
        self.ask(move |connection| read::context(connection, &tenant, &response))
    }

    fn begin<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
        input: Vec<Item>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let tenant: Box<str> = tenant.into();
        self.ledger.begin(&tenant, &response);
        let sent = self.writes.send(Write::Begin { tenant, response, input });
        Box::pin(async move { sent.map_err(|_| stopped()) })
    }

    fn begun<'a>(&'a self, tenant: &'a str, response: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.flush().await?;
            let Some(unbegun) = self.ledger.unbegun(tenant, response) else { return Ok(()) };
            self.ledger.forget(tenant, response);
            Err(unbegun.why)
        })
    }

    fn commit<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.write(|done| Write::Commit { tenant: tenant.into(), response, done })
    }

    fn end_later(&self, tenant: &str, response: Arc<Response>) {
        let id = response.id.clone();
        if !self.ledger.owe(tenant, response) {
            tracing::error!(response = &*id, "too many ends wait to be written; this one is lost");
        }
    }

    fn get<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
    ) -> BoxFuture<'a, Result<Option<Response>, StoreError>> {
        if let Some(running) = self.ledger.get(tenant, response) {
            return Box::pin(async move { Ok(Some((*running).clone())) });
        }
        let (tenant, response): (Box<str>, Box<str>) = (tenant.into(), response.into());
        self.ask(move |connection| read::get(connection, &tenant, &response))
    }

    fn delete<'a>(&'a self, tenant: &'a str, response: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.write(|done| Write::Delete { tenant: tenant.into(), response: response.into(), done })
    }

    fn input_items<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
        page: InputPage,
    ) -> BoxFuture<'a, Result<Option<ItemPage>, StoreError>> {
        // A response that has just begun may still wait for the writer.
        let running = self.ledger.get(tenant, response).is_some();
        Box::pin(async move {
            if running {
                self.flush().await?;
                if let Some(unbegun) = self.ledger.unbegun(tenant, response) {
                    return Err(unbegun.why);
                }
            }
            let (tenant, response): (Box<str>, Box<str>) = (tenant.into(), response.into());
            self.ask(move |connection| read::input_items(connection, &tenant, &response, &page)).await
        })
    }

    fn items<'a>(
        &'a self,
        tenant: &'a str,
        ids: Vec<Box<str>>,
    ) -> BoxFuture<'a, Result<Vec<Option<Item>>, StoreError>> {
        let tenant: Box<str> = tenant.into();
        self.ask(move |connection| ids.iter().map(|id| read::item(connection, &tenant, id)).collect())
    }

    fn check(&self, now: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        if self.ledger.is_fresh(now) {
            return Box::pin(async { Ok(()) });
        }
        self.write(|done| Write::Probe { now, done: Some(done) })
    }

    fn recover(&self, now: i64) -> BoxFuture<'_, Result<u64, StoreError>> {
        let error =
            Error::internal("the server stopped before the response was whole").with_code("server_error");
        self.write(|done| Write::Recover { error: Box::new(error), now, done })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.write(|done| {
            Write::Ask(Box::new(|_| {
                done.send(Ok(())).ok();
            }))
        })
    }
}

fn stopped() -> StoreError {
    StoreError("the store has stopped".into())
}
