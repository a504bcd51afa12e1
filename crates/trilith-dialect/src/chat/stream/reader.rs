//! Reads an upstream's stream.

use trilith_core::{Error, Event};

use super::{Assembler, usual::Usual};
use crate::{
    NameMap, Reader,
    chat::response,
    frame::sse::{DEFAULT_EVENT_LIMIT, FrameError, Splitter},
    openai_error, typed,
};

/// Reads an upstream's stream of chunks.
pub(in crate::chat) struct ChatReader {
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

impl ChatReader {
    pub(in crate::chat) fn new(names: NameMap) -> Self {
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
            if outcome.is_ok() && !*done {
                outcome = if let Some(choice) = usual.read(data) {
                    assembler.choice(choice, names, out)
                } else {
                    let outcome = payload(data, names, assembler, done, out);
                    if outcome.is_ok() && !*done {
                        usual.learn(data);
                    }
                    outcome
                };
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
            return response::decode(body, &self.names, out);
        }
        self.events(out, |splitter, each| splitter.finish(|frame| each(frame.data)).map(drop))?;
        self.assembler.end(&self.names, out)
    }
}

/// Takes one payload.
fn payload(
    data: &str,
    names: &NameMap,
    assembler: &mut Assembler,
    done: &mut bool,
    out: &mut Vec<Event>,
) -> Result<(), Error> {
    let data = data.trim();
    if data.is_empty() {
        return Ok(());
    }
    if data == "[DONE]" {
        *done = true;
        return assembler.end(names, out);
    }
    let body = data.as_bytes();
    match typed::from_str::<response::wire::Answer<'_>>(data) {
        Ok(answer) if answer.error.is_none() && answer.choices.is_some() => {
            assembler.take(answer, names, out)
        }
        Ok(answer) if answer.error.is_none() => match openai_error::in_body(body) {
            Some(error) if answer.usage.is_none() => Err(error),
            // Notices of other kinds, and usage without a list of choices.
            _ => assembler.take(answer, names, out),
        },
        _ => Err(openai_error::in_body(body)
            .unwrap_or_else(|| openai_error::nonsense("an event that is no chunk of Chat Completions"))),
    }
}

impl Reader for ChatReader {
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
