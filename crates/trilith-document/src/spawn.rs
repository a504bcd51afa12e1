//! Worker processes, from the side of who waits for them.

use std::{
    ffi::OsString,
    path::PathBuf,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    sync::Semaphore,
    time::timeout,
};
use trilith_core::{BoxFuture, DocumentText, Error, ErrorKind, ErrorOrigin};

use crate::{verdict::Verdict, worker::MOST_TEXT_BYTES};

/// The largest document that is read, in bytes.
pub(crate) const MOST_DOCUMENT_BYTES: usize = 32 << 20;

/// How many workers there may be, and how long each may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Workers at a time.
    pub workers: usize,
    /// Wall-clock time of one document, and the most that one waits for its turn.
    pub time: Duration,
}

impl Default for Limits {
    /// Two workers, ten seconds.
    fn default() -> Self {
        Self { workers: 2, time: Duration::from_secs(10) }
    }
}

/// Starts a worker for each document.
#[derive(Debug)]
pub struct PdfWorkers {
    program: PathBuf,
    arguments: Vec<OsString>,
    limits: Limits,
    room: Semaphore,
}

impl PdfWorkers {
    /// Workers are `program` with `arguments`, which has to come to [`crate::worker::pdf_text`].
    pub fn new(program: PathBuf, arguments: Vec<OsString>, limits: Limits) -> Self {
        Self { program, arguments, limits, room: Semaphore::new(limits.workers) }
    }

    async fn read(&self, document: &[u8]) -> Result<String, Error> {
        if document.len() > MOST_DOCUMENT_BYTES {
            let most = MOST_DOCUMENT_BYTES >> 20;
            return Err(unreadable(format!(
                "has more than the {most} MiB that are read of one; send less of it"
            )));
        }
        let waited = timeout(self.limits.time, self.room.acquire()).await;
        let Ok(Ok(_turn)) = waited else { return Err(busy()) };
        match timeout(self.limits.time, self.run(document)).await {
            Ok(read) => read,
            // The worker ends with the future that waited for it.
            Err(_) => Err(unreadable(TOO_SLOW)),
        }
    }

    async fn run(&self, document: &[u8]) -> Result<String, Error> {
        let mut worker = self.start().map_err(|error| {
            Error::internal("the document could not be read here; try again").with_source(error)
        })?;
        let (Some(mut input), Some(output)) = (worker.stdin.take(), worker.stdout.take()) else {
            return Err(Error::internal("the document could not be read here; try again"));
        };
        let feed = async {
            // A worker that has seen enough closes its input.
            input.write_all(document).await.ok();
            drop(input);
        };
        let mut text = Vec::new();
        let drain = async {
            // One byte more than a worker writes, so that a strange one is seen.
            output.take(MOST_TEXT_BYTES as u64 + 1).read_to_end(&mut text).await.ok();
        };
        tokio::join!(feed, drain);
        let ended = worker.wait().await.map_err(|error| {
            Error::internal("the document could not be read here; try again").with_source(error)
        })?;
        judge(ended, text)
    }

    fn start(&self) -> std::io::Result<Child> {
        Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
    }
}

impl DocumentText for PdfWorkers {
    fn pdf(&self, document: Bytes) -> BoxFuture<'_, Result<String, Error>> {
        Box::pin(async move { self.read(&document).await })
    }
}

const TOO_SLOW: &str = "takes too long to be read; send its text, or fewer pages of it";

fn judge(ended: ExitStatus, text: Vec<u8>) -> Result<String, Error> {
    let verdict = ended.code().and_then(Verdict::of);
    let text = match verdict {
        Some(Verdict::Read) if text.len() <= MOST_TEXT_BYTES => String::from_utf8(text).ok(),
        Some(Verdict::Locked) => return Err(unreadable("is locked with a password; send it without one")),
        Some(Verdict::Read | Verdict::TooMuchText) => {
            return Err(unreadable("holds too much text; send fewer pages of it"));
        }
        Some(Verdict::Unreadable) => None,
        None if was_stopped(ended) => return Err(unreadable(TOO_SLOW)),
        None => None,
    };
    match text {
        Some(text) if text.trim().is_empty() => {
            Err(unreadable("holds no text, as scanned pages do; send its text, or its pages as images"))
        }
        Some(text) => Ok(text),
        None => Err(unreadable("is damaged, too large, or no PDF at all, and cannot be read; send its text")),
    }
}

/// Whether the system ended it for its use of the processor.
fn was_stopped(ended: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGXCPU: i32 = 24;
    const SIGKILL: i32 = 9;
    matches!(ended.signal(), Some(SIGXCPU | SIGKILL))
}

fn unreadable(what: impl std::fmt::Display) -> Error {
    let text = format!("the model reads no PDF, and its text cannot be taken out here: the document {what}");
    Error::new(ErrorKind::BadRequest, ErrorOrigin::Caller, text).with_code("unreadable_document")
}

fn busy() -> Error {
    let text = "too many documents are being read; try again in a moment";
    Error::new(ErrorKind::Overloaded, ErrorOrigin::Trilith, text)
}
