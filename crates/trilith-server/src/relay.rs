//! An upstream's bytes on their way to a client, untouched; a tee reads usage as they pass.

use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use trilith_core::{BoxStream, Error};
use trilith_dialect::{Dialect, Sniffed, frame::sse::Boundary};

use crate::{answer::BodyError, exchange::Exchange};

/// A body that passes. Event streams leave in whole events, so that no client sees one in pieces.
pub(crate) struct RelayBody {
    body: BoxStream<'static, Result<Bytes, Error>>,
    dialect: &'static dyn Dialect,
    seen: Sniffed,
    exchange: Exchange,
    form: Form,
    ended: bool,
}

enum Form {
    /// An event stream: where its events end, and the beginning of one that is not whole yet.
    Events(Box<Boundary>, BytesMut),
    /// One JSON value, kept for the tee.
    Whole(BytesMut),
}

/// The largest event and the largest whole answer that are looked at; larger ones pass unread.
const LARGEST: usize = 16 << 20;

impl RelayBody {
    pub(crate) fn new(
        body: BoxStream<'static, Result<Bytes, Error>>,
        dialect: &'static dyn Dialect,
        stream: bool,
        exchange: Exchange,
    ) -> Self {
        let form = if stream {
            Form::Events(Box::new(Boundary::new(LARGEST)), BytesMut::new())
        } else {
            Form::Whole(BytesMut::new())
        };
        Self { body, dialect, seen: Sniffed::default(), exchange, form, ended: false }
    }

    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            match std::task::ready!(self.body.as_mut().poll_next(context)) {
                Some(Ok(bytes)) => {
                    self.exchange.first_byte();
                    match self.pass(bytes) {
                        Ok(whole) if whole.is_empty() => {}
                        Ok(whole) => return Poll::Ready(Some(Ok(whole))),
                        Err(error) => return Poll::Ready(Some(Err(self.cut(&error)))),
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(self.cut(&error)))),
                None => {
                    let rest = self.end();
                    return Poll::Ready((!rest.is_empty()).then_some(Ok(rest)));
                }
            }
        }
    }

    /// The bytes that may leave now.
    fn pass(&mut self, bytes: Bytes) -> Result<Bytes, Error> {
        let (dialect, seen) = (self.dialect, &mut self.seen);
        match &mut self.form {
            Form::Whole(all) => {
                if all.len() + bytes.len() <= LARGEST {
                    all.extend_from_slice(&bytes);
                }
                Ok(bytes)
            }
            Form::Events(boundary, held) => {
                let whole = boundary.push(&bytes, |data| dialect.sniff(data, seen)).map_err(|error| {
                    Error::upstream("the upstream sent an event without end").with_source(error)
                })?;
                if held.is_empty() && whole == bytes.len() {
                    return Ok(bytes);
                }
                if whole == 0 {
                    held.extend_from_slice(&bytes);
                    return Ok(Bytes::new());
                }
                let mut out = std::mem::take(held);
                held.extend_from_slice(&bytes[whole..]);
                if out.is_empty() {
                    return Ok(bytes.slice(..whole));
                }
                out.extend_from_slice(&bytes[..whole]);
                Ok(out.freeze())
            }
        }
    }

    /// The upstream is done: what was held back leaves as it is, since nothing of it is Trilith's to drop.
    fn end(&mut self) -> Bytes {
        self.ended = true;
        let (dialect, seen) = (self.dialect, &mut self.seen);
        let rest = match &mut self.form {
            Form::Whole(all) => {
                dialect.sniff(all, seen);
                Bytes::new()
            }
            Form::Events(boundary, held) => {
                // A broken last event was passed on; only the tee cares about it.
                boundary.finish(|data| dialect.sniff(data, seen)).ok();
                std::mem::take(held).freeze()
            }
        };
        if let Some(usage) = &self.seen.usage {
            self.exchange.usage(usage);
        }
        self.exchange.finished(200);
        rest
    }

    /// The upstream broke: the client's connection is cut too, so that it does not take the answer for whole.
    fn cut(&mut self, error: &Error) -> BodyError {
        self.ended = true;
        self.exchange.error(error);
        error.clone().into()
    }
}
