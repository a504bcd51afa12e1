//! An upstream's body as events, or as bytes.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_core::Stream;
use trilith_core::{Error, Event};
use trilith_dialect::Reader;
use trilith_net::Body;

use crate::failure;

/// A streamed answer, read as it comes. One batch holds all events of what one read brought.
pub(crate) struct Events {
    body: Option<Body>,
    reader: Box<dyn Reader>,
    fault: Option<Error>,
    /// The credential, to keep it out of what the place says went wrong.
    secret: Option<Arc<str>>,
}

impl Events {
    pub(crate) fn new(body: Body, reader: Box<dyn Reader>, secret: Option<Arc<str>>) -> Self {
        Self { body: Some(body), reader, fault: None, secret }
    }

    /// Hands out what was read, and the fault behind it next time.
    fn deliver(
        &mut self,
        batch: Vec<Event>,
        result: Result<(), Error>,
    ) -> Poll<Option<<Self as Stream>::Item>> {
        match result.map_err(|fault| failure::without(fault, self.secret.as_deref())) {
            Err(fault) if batch.is_empty() => {
                self.body = None;
                Poll::Ready(Some(Err(fault)))
            }
            Err(fault) => {
                self.body = None;
                self.fault = Some(fault);
                Poll::Ready(Some(Ok(batch)))
            }
            Ok(()) => Poll::Ready(Some(Ok(batch))),
        }
    }
}

impl Stream for Events {
    type Item = Result<Vec<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(fault) = self.fault.take() {
                return Poll::Ready(Some(Err(fault)));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            let mut batch = Vec::new();
            match ready!(body.poll_chunk(context)) {
                Some(Ok(bytes)) => {
                    let result = self.reader.push(&bytes, &mut batch);
                    if result.is_ok() && batch.is_empty() {
                        continue;
                    }
                    return self.deliver(batch, result);
                }
                Some(Err(error)) => {
                    // An answer that was whole before the connection broke is whole.
                    let fault = self.reader.finish(&mut batch).err().map(|_| failure::of_exchange(error));
                    self.body = None;
                    return match fault {
                        None if batch.is_empty() => Poll::Ready(None),
                        fault => self.deliver(batch, fault.map_or(Ok(()), Err)),
                    };
                }
                None => {
                    let result = self.reader.finish(&mut batch);
                    self.body = None;
                    if result.is_ok() && batch.is_empty() {
                        return Poll::Ready(None);
                    }
                    return self.deliver(batch, result);
                }
            }
        }
    }
}

/// An answer that came whole.
pub(crate) struct Whole(pub(crate) Option<Vec<Event>>);

impl Stream for Whole {
    type Item = Result<Vec<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// A body whose bytes pass.
pub(crate) struct Relayed(pub(crate) Body);

impl Stream for Relayed {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_chunk(context).map(|chunk| chunk.map(|chunk| chunk.map_err(failure::of_exchange)))
    }
}
