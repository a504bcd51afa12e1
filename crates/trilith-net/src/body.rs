//! The body of a response.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};

use crate::decode::Decoder;
use crate::error::{ErrorKind, NetError};
use crate::exchange::{Exchange, Piece};

/// A response body, decompressed. It owns its connection: dropped before its end, it closes
/// the connection; read to its end, it returns it to the pool (already with the last bytes,
/// if the end of the message came with them).
pub struct Body {
    exchange: Option<Box<Exchange>>,
    decoder: Option<Box<Decoder>>,
    /// Bytes of a body that was never on a wire.
    ready: Bytes,
    /// A failure that follows the bytes handed out last.
    failure: Option<NetError>,
}

impl Body {
    pub(crate) fn new(exchange: Exchange, decoder: Option<Decoder>) -> Self {
        if exchange.is_over() {
            exchange.release();
            return Self::full(Bytes::new());
        }
        Self {
            exchange: Some(Box::new(exchange)),
            decoder: decoder.map(Box::new),
            ready: Bytes::new(),
            failure: None,
        }
    }

    /// A body that is already there, for answers that need no upstream.
    pub fn full(bytes: Bytes) -> Self {
        Self { exchange: None, decoder: None, ready: bytes, failure: None }
    }

    /// The next bytes: all that are there now, up to about 64 KiB, in one piece that is
    /// never empty. None after the end and after a failure.
    ///
    /// # Errors
    /// [`ErrorKind::Timeout`] (idle or total), [`ErrorKind::Closed`],
    /// [`ErrorKind::Protocol`], [`ErrorKind::Decode`], [`ErrorKind::TooLarge`] (a decompression
    /// cap). The bytes that came before the failure are returned before it.
    pub async fn chunk(&mut self) -> Option<Result<Bytes, NetError>> {
        poll_fn(|cx| self.poll_chunk(cx)).await
    }

    /// As [`Body::chunk`], in poll form.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, NetError>>> {
        loop {
            if !self.ready.is_empty() {
                return Poll::Ready(Some(Ok(std::mem::take(&mut self.ready))));
            }
            if let Some(decoder) = &mut self.decoder {
                match decoder.pull() {
                    Ok(Some(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                    Ok(None) => {}
                    Err(error) => return Poll::Ready(Some(Err(self.fail(error)))),
                }
            }
            if let Some(error) = self.failure.take() {
                return Poll::Ready(Some(Err(self.fail(error))));
            }
            let Some(exchange) = &mut self.exchange else {
                return Poll::Ready(self.finish().map(Err));
            };
            match ready!(exchange.poll(cx)) {
                Piece::Data(bytes) => self.feed(bytes),
                Piece::Last(bytes) => {
                    if let Some(exchange) = self.exchange.take() {
                        exchange.release();
                    }
                    self.feed(bytes);
                }
                Piece::Broken(bytes, error) => {
                    self.exchange = None;
                    self.failure = Some(error);
                    self.feed(bytes);
                }
            }
        }
    }

    fn feed(&mut self, bytes: Bytes) {
        match &mut self.decoder {
            Some(decoder) => decoder.push(bytes),
            None => self.ready = bytes,
        }
    }

    fn fail(&mut self, error: NetError) -> NetError {
        self.exchange = None;
        self.decoder = None;
        self.failure = None;
        error
    }

    fn finish(&mut self) -> Option<NetError> {
        self.decoder.take().and_then(|decoder| decoder.finish().err())
    }

    /// Reads the body to its end.
    ///
    /// # Errors
    /// As [`Body::chunk`], and [`ErrorKind::TooLarge`] as soon as more than `limit` bytes
    /// have come (after decompression) or are announced.
    pub async fn collect(mut self, limit: usize) -> Result<Bytes, NetError> {
        if let Some(decoder) = &mut self.decoder {
            decoder.expect_whole();
        }
        let within = |len: usize| {
            if len > limit {
                Err(NetError::new(ErrorKind::TooLarge, format!("the response body is over {limit} bytes")))
            } else {
                Ok(())
            }
        };
        if self.decoder.is_none()
            && let Some(announced) = self.exchange.as_ref().and_then(|exchange| exchange.announced())
        {
            within(usize::try_from(announced).unwrap_or(usize::MAX))?;
        }
        let Some(first) = self.chunk().await.transpose()? else {
            return Ok(Bytes::new());
        };
        within(first.len())?;
        let Some(second) = self.chunk().await.transpose()? else {
            return Ok(first);
        };
        let mut all = BytesMut::from(first);
        let mut next = Some(second);
        while let Some(bytes) = next {
            within(all.len().saturating_add(bytes.len()))?;
            all.extend_from_slice(&bytes);
            next = self.chunk().await.transpose()?;
        }
        Ok(all.freeze())
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = NetError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, NetError>>> {
        self.get_mut().poll_chunk(cx).map(|piece| piece.map(|bytes| bytes.map(http_body::Frame::data)))
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Body")
            .field("open", &self.exchange.is_some())
            .field("compressed", &self.decoder.is_some())
            .finish_non_exhaustive()
    }
}
