//! Reads an upstream's stream.

use trilith_core::{Error, Event};

use super::{Assembler, assemble::Ends, usual::Usual};
use crate::{
    NameMap, Reader,
    frame::sse::{DEFAULT_EVENT_LIMIT, FrameError, Splitter},
    messages::{
        error,
        response::{self, wire::Frame},
    },
    typed,
};

/// Reads an upstream's stream of events.
pub(in crate::messages) struct MessagesReader {
    names: NameMap,
    mode: Mode,
    splitter: Splitter,
    assembler: Assembler,
    usual: Usual,
    /// An error that was told already; the stream is read no further.
    failed: bool,
    done: bool,
}

enum Mode {
    /// Nothing but white space came.
    Undecided,
    /// Events.
    Events,
    /// The server ignored that a stream was asked for and sends one body.
    Whole(Vec<u8>),
}

impl MessagesReader {
    pub(in crate::messages) fn new(names: NameMap) -> Self {
        Self {
            names,
            mode: Mode::Undecided,
            splitter: Splitter::default(),
            assembler: Assembler::default(),
            usual: Usual::default(),
            failed: false,
            done: false,
        }
    }

    fn events(
        &mut self,
        out: &mut Vec<Event>,
        feed: impl FnOnce(&mut Splitter, &mut dyn FnMut(&str)) -> Result<(), FrameError>,
    ) -> Result<(), Error> {
        let Self { names, splitter, assembler, usual, done, .. } = self;
        let mut outcome = Ok(());
        let framed = feed(splitter, &mut |data| {
            if outcome.is_err() || *done {
                return;
            }
            outcome = if let Some((index, piece, text)) = usual.read(data) {
                assembler.piece(index, piece, text, &mut Ends { names, out })
            } else {
                payload(data, names, assembler, out).map(|last| {
                    *done = last;
                    usual.learn(data);
                })
            };
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
                    return Err(error::nonsense("a body that is too long where a stream was asked for"));
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
            return response::decode(body, &self.names, out);
        }
        self.events(out, |splitter, each| splitter.finish(|frame| each(frame.data)).map(drop))?;
        self.assembler.closed(&self.names, out)
    }

    /// An error ends what is open as the piece that it is.
    fn told(&mut self, outcome: Result<(), Error>, out: &mut Vec<Event>) -> Result<(), Error> {
        if outcome.is_err() {
            self.failed = true;
            self.assembler.cut(&self.names, out);
        }
        outcome
    }
}

/// Takes one payload; whether it was the last one.
fn payload(
    data: &str,
    names: &NameMap,
    assembler: &mut Assembler,
    out: &mut Vec<Event>,
) -> Result<bool, Error> {
    let data = data.trim();
    // The end of a stream on OpenAI's wire, which some servers send here too, after the real end or without.
    if data.is_empty() || data == "[DONE]" {
        return Ok(false);
    }
    match typed::from_str::<Frame<'_>>(data) {
        Ok(frame) if frame.error.is_none() && frame.kind.0.as_deref() != Some("error") => {
            assembler.take(frame, names, out)
        }
        _ => Err(error::in_body(data.as_bytes())
            .unwrap_or_else(|| error::nonsense("an event that is none of Messages"))),
    }
}

impl Reader for MessagesReader {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Event>) -> Result<(), Error> {
        if self.failed || self.done {
            return Ok(());
        }
        let outcome = self.step(bytes, out);
        self.told(outcome, out)
    }

    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        if self.failed || self.done {
            return Ok(());
        }
        let outcome = self.last(out);
        self.done = true;
        self.told(outcome, out)
    }
}
