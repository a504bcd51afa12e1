//! Streams of chunks that end in `[DONE]` (openai-checklist T7): what Chat Completions and Completions share.

use trilith_core::{End, Error, ErrorKind, ErrorOrigin, Event, Loss, Status};

use crate::{
    Reader,
    frame::sse::{DEFAULT_EVENT_LIMIT, FrameError, Splitter, write_comment},
    openai_error,
    spelling::Respell,
};

/// What a dialect makes of the payloads of a stream.
pub(crate) trait Chunks: Send {
    /// Takes one payload that is neither blank nor the sentinel.
    fn chunk(&mut self, data: &str, out: &mut Vec<Event>) -> Result<(), Error>;

    /// Takes the one body of a server that ignored that a stream was asked for.
    fn whole(&mut self, body: &[u8], out: &mut Vec<Event>) -> Result<(), Error>;

    /// The sentinel came, or the stream was closed.
    fn end(&mut self, out: &mut Vec<Event>) -> Result<(), Error>;
}

/// Reads an upstream's stream of chunks.
pub(crate) struct ChunkReader<C> {
    chunks: C,
    mode: Mode,
    splitter: Splitter,
    /// An error that was told already; the stream is read no further.
    failed: bool,
    done: bool,
}

enum Mode {
    /// Nothing but white space came.
    Undecided,
    /// Events.
    Events,
    /// One body.
    Whole(Vec<u8>),
}

impl<C: Chunks> ChunkReader<C> {
    pub(crate) fn new(chunks: C) -> Self {
        Self { chunks, mode: Mode::Undecided, splitter: Splitter::default(), failed: false, done: false }
    }

    fn events(
        &mut self,
        out: &mut Vec<Event>,
        feed: impl FnOnce(&mut Splitter, &mut dyn FnMut(&str)) -> Result<(), FrameError>,
    ) -> Result<(), Error> {
        let Self { chunks, splitter, done, .. } = self;
        let mut outcome = Ok(());
        let framed = feed(splitter, &mut |data| {
            if outcome.is_err() || *done {
                return;
            }
            let data = data.trim();
            if data == "[DONE]" {
                *done = true;
                outcome = chunks.end(out);
            } else if !data.is_empty() {
                outcome = chunks.chunk(data, out);
            }
        });
        outcome?;
        if *done {
            // What follows the end says nothing.
            return Ok(());
        }
        framed.map_err(|fault| {
            Error::upstream("The upstream sent a stream that cannot be read.").with_source(fault)
        })
    }

    fn step(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        if let Mode::Undecided = self.mode {
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
            match text.first() {
                None => {}
                Some(b'{' | b'[') => self.mode = Mode::Whole(Vec::new()),
                Some(_) => self.mode = Mode::Events,
            }
        }
        match &mut self.mode {
            Mode::Whole(body) => {
                if body.len().saturating_add(bytes.len()) > DEFAULT_EVENT_LIMIT {
                    return Err(openai_error::nonsense(
                        "a body that is too long where a stream was asked for",
                    ));
                }
                body.extend_from_slice(bytes);
                Ok(())
            }
            Mode::Undecided | Mode::Events => {
                self.events(out, |splitter, each| splitter.push(bytes, |frame| each(frame.data)))
            }
        }
    }

    fn last(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        if let Mode::Whole(body) = &self.mode {
            let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
            return self.chunks.whole(body, out);
        }
        self.events(out, |splitter, each| splitter.finish(|frame| each(frame.data)).map(drop))?;
        self.chunks.end(out)
    }
}

impl<C: Chunks> Reader for ChunkReader<C> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        if self.failed || self.done {
            return Ok(());
        }
        let outcome = self.step(bytes, out);
        self.failed = outcome.is_err();
        outcome
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        if self.failed || self.done {
            return Ok(());
        }
        self.done = true;
        self.last(out)
    }
}

/// Writes the sentinel, and before it the error of an answer that came to no good end.
pub(crate) fn write_end(end: &End, respell: Respell, out: &mut Vec<u8>) {
    match (end.status, &end.error) {
        (Status::Completed | Status::Incomplete, _) => {}
        (_, Some(error)) => write_error(error, respell, out),
        (Status::Cancelled, None) => {
            let text = "The answer was cancelled.";
            write_error(&Error::new(ErrorKind::Conflict, ErrorOrigin::Caller, text), respell, out);
        }
        (_, None) => write_error(&Error::internal("The answer failed."), respell, out),
    }
    out.extend_from_slice(b"data: [DONE]\n\n");
}

fn write_error(error: &Error, respell: Respell, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    openai_error::render(error, respell, out);
    out.extend_from_slice(b"\n\n");
}

/// Tells a loss that was found after the headers went out (translation contract §0).
pub(crate) fn write_loss(loss: &Loss, respell: Respell, out: &mut Vec<u8>) {
    let text = format!("x-trilith-warning {}; {}", respell(&loss.path), loss.why);
    write_comment(out, &text.replace(['\n', '\r'], " "));
}
