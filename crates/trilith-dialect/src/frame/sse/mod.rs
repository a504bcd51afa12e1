//! Server-sent events (WHATWG HTML, "Server-sent events", section 9.2.6) in byte ranges.
//!
//! [`Splitter`] reads events, [`Boundary`] only finds where they end, [`write_event`] writes them.
//! Readers take the bytes in any cut: LF, CR and CRLF end a line, a CRLF may be cut in the middle, a byte
//! order mark may open the stream. Fields other than `event` and `data`, and comments, are skipped.
//!
//! An event that lies whole in one chunk is never copied. Of a stream's bytes only the unfinished last
//! event is kept, and that is capped: a peer that never ends its event gets an error, not memory.

mod blocks;
mod fields;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use blocks::Blocks;
pub use write::{write_comment, write_event};

/// The cap on one event that the readers use when none is given: 16 MiB.
pub const DEFAULT_EVENT_LIMIT: usize = 16 << 20;

/// Scratch memory above this size, in bytes, is given back once its event is delivered.
const KEEP_SCRATCH: usize = 64 << 10;

/// One event. It borrows from the chunk or from the reader and lives as long as the call that delivers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The last `event:` field of the block; `None` when absent or empty.
    pub event: Option<&'a str>,
    /// The payload: a single `data:` line as it stood, several joined with `\n`.
    pub data: &'a str,
}

/// Why a stream of events can be read no further. The reader gives the same error to every later call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// One event is longer than the cap.
    TooLong {
        /// The cap in bytes, counted from the event's first byte to its blank line.
        limit: usize,
    },
    /// The name or the payload of an event is not UTF-8.
    InvalidUtf8,
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => write!(f, "an event of the stream is longer than {limit} bytes"),
            Self::InvalidUtf8 => f.write_str("an event of the stream is not valid UTF-8"),
        }
    }
}

impl std::error::Error for FrameError {}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After a line break, with or without the final blank line, or without a byte.
    Clean,
    /// In the middle of a line. That line is dropped: its rest is unknown.
    Cut,
}

/// Reads events out of chunks of a byte stream.
#[derive(Debug)]
pub struct Splitter {
    blocks: Blocks,
    joined: Vec<u8>,
}

impl Default for Splitter {
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

impl Splitter {
    /// A reader that accepts events of at most `limit` bytes, blank line not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { blocks: Blocks::new(limit), joined: Vec::new() }
    }

    /// Takes the next bytes and hands every event that they complete to `sink`, in order.
    ///
    /// # Errors
    /// [`FrameError`] when an event is over the cap or not UTF-8; events before it were delivered.
    pub fn push(&mut self, chunk: &[u8], mut sink: impl FnMut(Frame<'_>)) -> Result<(), FrameError> {
        let joined = &mut self.joined;
        self.blocks.push(chunk, |block| deliver(block, joined, &mut sink)).map(drop)
    }

    /// Ends the stream. A last event that lacks its blank line is delivered with the `data` lines that are
    /// complete.
    ///
    /// # Errors
    /// [`FrameError`] as of [`Splitter::push`].
    pub fn finish(&mut self, mut sink: impl FnMut(Frame<'_>)) -> Result<End, FrameError> {
        let joined = &mut self.joined;
        self.blocks.finish(|block| deliver(block, joined, &mut sink))
    }
}

fn deliver(block: &[u8], joined: &mut Vec<u8>, sink: &mut impl FnMut(Frame<'_>)) -> Result<(), FrameError> {
    if let Some(fields) = fields::read(block, joined) {
        let data = simdutf8::basic::from_utf8(fields.data).map_err(|_| FrameError::InvalidUtf8)?;
        let event = match fields.event {
            Some(name) => Some(simdutf8::basic::from_utf8(name).map_err(|_| FrameError::InvalidUtf8)?),
            None => None,
        };
        sink(Frame { event, data });
    }
    joined.shrink_to(KEEP_SCRATCH);
    Ok(())
}

/// Finds the ends of events for a relay that forwards bytes as they are.
///
/// The relay forwards what it held back plus the reported prefix of the new chunk in one write and holds
/// the rest, so that nothing but whole events leaves and no byte changes.
#[derive(Debug)]
pub struct Boundary {
    blocks: Blocks,
    joined: Vec<u8>,
}

impl Default for Boundary {
    fn default() -> Self {
        Self::new(DEFAULT_EVENT_LIMIT)
    }
}

impl Boundary {
    /// A finder that accepts events of at most `limit` bytes, blank line not counted.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { blocks: Blocks::new(limit), joined: Vec::new() }
    }

    /// Takes the next bytes and returns how many of them, from the first one on, end on an event boundary;
    /// 0 when the chunk completes no event. `sniff` sees the payload of every completed event; whether it
    /// is UTF-8 is not checked.
    ///
    /// # Errors
    /// [`FrameError::TooLong`] when an event is over the cap.
    pub fn push(&mut self, chunk: &[u8], mut sniff: impl FnMut(&[u8])) -> Result<usize, FrameError> {
        let joined = &mut self.joined;
        self.blocks.push(chunk, |block| {
            show(block, joined, &mut sniff);
            Ok(())
        })
    }

    /// Ends the stream; `sniff` sees the payload of a last event that lacks its blank line. The bytes that
    /// the relay still holds are to be forwarded as they are.
    ///
    /// # Errors
    /// The error that an earlier [`Boundary::push`] gave.
    pub fn finish(&mut self, mut sniff: impl FnMut(&[u8])) -> Result<End, FrameError> {
        let joined = &mut self.joined;
        self.blocks.finish(|block| {
            show(block, joined, &mut sniff);
            Ok(())
        })
    }
}

fn show(block: &[u8], joined: &mut Vec<u8>, sniff: &mut impl FnMut(&[u8])) {
    if let Some(fields) = fields::read(block, joined) {
        sniff(fields.data);
    }
    joined.shrink_to(KEEP_SCRATCH);
}
