//! The store on SQLite: a file, or memory alone.

mod migrate;
mod read;
mod thread;
mod write;

#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;
use trilith_core::{
    Begin, BoxFuture, Error, InputPage, Item, ItemPage, Response, Store, StoreError, StoredContext,
};

use crate::codec::{self, StoredResponse};
use read::fail;
use thread::{Question, Write, Writer};

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
            Self::Sqlite(error) => write!(f, "the database cannot be opened: {error}"),
            Self::File(path, error) => write!(f, "the database {}: {error}", path.display()),
            Self::Newer { found, known } => write!(
                f,
                "the database was made by a newer Trilith (version {found}, this one knows {known}); \
                 upgrade, or name another file"
            ),
        }
    }
}

impl std::error::Error for OpenError {}

/// Responses that have begun and not ended, so that they are seen at once, before the writer gets to them.
type Running = Arc<Mutex<HashMap<(Box<str>, Box<str>), Arc<Response>>>>;

const READERS: usize = 2;

/// The store on SQLite.
pub struct Sqlite {
    writes: mpsc::Sender<Write>,
    /// `None` for a database in memory, whose only connection is the writer's.
    reads: Option<mpsc::Sender<Question>>,
    running: Running,
    now: fn() -> i64,
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sqlite")
    }
}

impl Sqlite {
    /// Opens or makes the database in a file. `now` gives unix seconds, for tombstones.
    ///
    /// # Errors
    /// The file cannot be used, or a newer version made it.
    pub fn open(path: &Path, sync: Sync, retention_days: u32, now: fn() -> i64) -> Result<Self, OpenError> {
        let file = |error| OpenError::File(path.into(), error);
        create_private(path).map_err(file)?;
        let mut connection = connect(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        migrate::migrate(&mut connection)?;
        let (questions, queue) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..READERS {
            let reader = connect(path)?;
            reader.pragma_update(None, "query_only", true)?;
            thread::spawn_reader(reader, Arc::clone(&queue)).map_err(file)?;
        }
        Self::start(connection, Some(questions), sync, retention_days, now).map_err(file)
    }

    /// A store that lives as long as the process.
    ///
    /// # Errors
    /// SQLite refused.
    pub fn in_memory(retention_days: u32, now: fn() -> i64) -> Result<Self, OpenError> {
        let mut connection = Connection::open_in_memory()?;
        migrate::migrate(&mut connection)?;
        Self::start(connection, None, Sync::Normal, retention_days, now)
            .map_err(|error| OpenError::File(":memory:".into(), error))
    }

    fn start(
        connection: Connection,
        reads: Option<mpsc::Sender<Question>>,
        sync: Sync,
        retention_days: u32,
        now: fn() -> i64,
    ) -> std::io::Result<Self> {
        connection.set_prepared_statement_cache_capacity(64);
        let running = Running::default();
        let (writes, queue) = mpsc::channel();
        let retention_s = i64::from(retention_days) * 86_400;
        let writer = Writer { connection, sync, retention_s, running: Arc::clone(&running) };
        std::thread::Builder::new().name("trilith-write".into()).spawn(move || writer.run(&queue))?;
        Ok(Self { writes, reads, running, now })
    }

    fn is_running(&self, tenant: &str, response: &str) -> Option<Arc<Response>> {
        let running = self.running.lock().ok()?;
        running.get(&(tenant.into(), response.into())).cloned()
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
        if self.is_running(tenant, response).is_some() {
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
        if let Ok(mut running) = self.running.lock() {
            running.insert((tenant.clone(), response.id.clone()), Arc::clone(&response));
        }
        let sent = self.writes.send(Write::Begin { tenant, response, input });
        Box::pin(async move { sent.map_err(|_| stopped()) })
    }

    fn commit<'a>(
        &'a self,
        tenant: &'a str,
        response: Arc<Response>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (done, answered) = oneshot::channel();
        let sent = self.writes.send(Write::Commit { tenant: tenant.into(), response, done });
        Box::pin(async move {
            sent.map_err(|_| stopped())?;
            answered.await.unwrap_or_else(|_| Err(stopped()))
        })
    }

    fn get<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
    ) -> BoxFuture<'a, Result<Option<Response>, StoreError>> {
        if let Some(running) = self.is_running(tenant, response) {
            return Box::pin(async move { Ok(Some((*running).clone())) });
        }
        let (tenant, response): (Box<str>, Box<str>) = (tenant.into(), response.into());
        self.ask(move |connection| read::get(connection, &tenant, &response))
    }

    fn delete<'a>(&'a self, tenant: &'a str, response: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        let (done, answered) = oneshot::channel();
        let now = (self.now)();
        let sent = self.writes.send(Write::Delete { tenant: tenant.into(), response: response.into(), now, done });
        Box::pin(async move {
            sent.map_err(|_| stopped())?;
            answered.await.unwrap_or_else(|_| Err(stopped()))
        })
    }

    fn input_items<'a>(
        &'a self,
        tenant: &'a str,
        response: &'a str,
        page: InputPage,
    ) -> BoxFuture<'a, Result<Option<ItemPage>, StoreError>> {
        let (tenant, response): (Box<str>, Box<str>) = (tenant.into(), response.into());
        let question = move |connection: &Connection| read::input_items(connection, &tenant, &response, &page);
        // A response that has just begun may still wait for the writer: asking there keeps the order.
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |connection| {
            answer.send(question(connection)).ok();
        });
        let sent = self.writes.send(Write::Ask(question));
        Box::pin(async move {
            sent.map_err(|_| stopped())?;
            answered.await.unwrap_or_else(|_| Err(stopped()))
        })
    }

    fn recover(&self, now: i64) -> BoxFuture<'_, Result<u64, StoreError>> {
        let error = Error::internal("the server stopped before the response was whole").with_code("server_error");
        let body = codec::encode(&StoredResponse::lost(Begin::default(), &error));
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |connection| {
            answer.send(write::recover(connection, &body, now).map_err(fail)).ok();
        });
        let sent = self.writes.send(Write::Ask(question));
        Box::pin(async move {
            sent.map_err(|_| stopped())?;
            answered.await.unwrap_or_else(|_| Err(stopped()))
        })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.writes.send(Write::Ask(Box::new(move |_| {
            answer.send(()).ok();
        })));
        Box::pin(async move {
            sent.map_err(|_| stopped())?;
            answered.await.map_err(|_| stopped())
        })
    }
}

fn stopped() -> StoreError {
    StoreError("the store has stopped".into())
}

fn connect(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)?;
    Ok(connection)
}

/// Conversations are nobody else's business: the file is made readable by its owner alone.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path).map(drop)
}
