//! As much of HTTP/1.1 as a scripted server needs, straight on the socket.

mod body;
mod read;

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

pub(crate) use read::read_request;

/// Most bytes of a request's line and headers.
const MOST_HEAD: usize = 64 << 10;
/// How much is read at once.
const READ: usize = 16 << 10;

/// A request, whole.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path with its query.
    pub(crate) path: String,
    /// Names in lower case, in order.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether the client ends the connection after this request.
    pub(crate) last: bool,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The path without its query.
    pub(crate) fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }
}

/// Why a request cannot be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The connection failed.
    Io(io::Error),
    /// It is no HTTP/1.1 request.
    Malformed(&'static str),
    /// It is longer than the mock takes.
    TooLarge,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Bytes that came and were not used yet.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    used: usize,
}

impl Inbox {
    /// What is there.
    fn unread(&self) -> &[u8] {
        self.bytes.get(self.used..).unwrap_or_default()
    }

    fn consume(&mut self, count: usize) {
        self.used = self.bytes.len().min(self.used + count);
        if self.used == self.bytes.len() {
            self.bytes.clear();
            self.used = 0;
        }
    }

    /// Reads once; `false` at the end of the connection.
    pub(crate) async fn fill(&mut self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<bool> {
        if self.used > READ {
            self.bytes.drain(..self.used);
            self.used = 0;
        }
        self.bytes.reserve(READ);
        Ok(from.read_buf(&mut self.bytes).await? > 0)
    }

    /// Whether so much lies here unread that nothing more is taken.
    pub(crate) fn is_full(&self) -> bool {
        self.unread().len() >= MOST_HEAD
    }
}

#[cfg(test)]
mod tests;
