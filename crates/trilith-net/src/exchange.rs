//! One request and its response on one connection.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::time::Instant;

use crate::clock::now;
use crate::error::{NetError, TimeoutPhase};
use crate::pool::{Origin, Pool};
use crate::wire::Wire;

/// Most bytes that one poll returns: a burst of small chunks becomes one piece, and a
/// reader that stops reading leaves the rest in the socket.
const MAX_PIECE: usize = 64 << 10;

/// Room made when a second frame joins a first one.
const MIN_JOINED: usize = 4 << 10;

/// Sends `request` and waits for the response head. The connection is dropped on failure,
/// and when the future is dropped.
pub(crate) async fn send_head(
    wire: &mut Wire,
    request: http::Request<Full<Bytes>>,
    first_byte: Instant,
    total: Option<Instant>,
    peer: &str,
) -> Result<http::Response<Incoming>, NetError> {
    let Wire { sender, engine, timer, link, waker } = wire;
    link.reset_counts();
    let mut head = pin!(sender.send_request(request));
    let outcome = poll_fn(|cx| {
        link.run(cx, waker, |cx| {
            engine.poll(cx);
            if let Poll::Ready(outcome) = head.as_mut().poll(cx) {
                return Poll::Ready(outcome.map_err(|error| NetError::from_hyper(error, peer)));
            }
            if let Some(failure) = engine.take_failure() {
                return Poll::Ready(Err(NetError::from_hyper(failure, peer)));
            }
            poll_deadline(timer, cx, (first_byte, TimeoutPhase::FirstByte), total, peer).map(Err)
        })
    })
    .await;
    outcome.map_err(|error| {
        let retryable = link.unanswered();
        error.with_retryable(retryable)
    })
}

fn poll_deadline(
    timer: &mut crate::wire::Timer,
    cx: &mut Context<'_>,
    phase: (Instant, TimeoutPhase),
    total: Option<Instant>,
    peer: &str,
) -> Poll<NetError> {
    let (deadline, phase) = match total {
        Some(total) if total < phase.0 => (total, TimeoutPhase::Total),
        _ => phase,
    };
    timer.poll(cx, deadline).map(|()| NetError::timeout(phase, peer))
}

/// A response body on its connection.
pub(crate) struct Exchange {
    wire: Box<Wire>,
    incoming: Incoming,
    pool: Arc<Pool>,
    origin: Arc<Origin>,
    idle: Duration,
    total: Option<Instant>,
    /// Deadline of the present wait; none while the reader is not waiting.
    waiting: Option<Instant>,
}

/// What one poll of a body brought.
pub(crate) enum Piece {
    Data(Bytes),
    /// The last bytes, perhaps none.
    Last(Bytes),
    /// Bytes that came before a failure, perhaps none, and the failure.
    Broken(Bytes, NetError),
}

impl Exchange {
    pub(crate) fn new(
        wire: Box<Wire>,
        incoming: Incoming,
        pool: Arc<Pool>,
        origin: Arc<Origin>,
        idle: Duration,
        total: Option<Instant>,
    ) -> Self {
        Self { wire, incoming, pool, origin, idle, total, waiting: None }
    }

    /// Whether the response has no body, or none is left.
    pub(crate) fn is_over(&self) -> bool {
        self.incoming.is_end_stream()
    }

    /// Returns everything that is readable now, up to [`MAX_PIECE`], as one piece.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Piece> {
        let Self { wire, incoming, origin, idle, total, waiting, .. } = self;
        let Wire { engine, timer, link, waker, .. } = &mut **wire;
        let peer = origin.name();
        let mut joined = Joined::default();
        let mut polled = link.run(cx, waker, |cx| {
            loop {
                engine.poll(cx);
                match Pin::new(&mut *incoming).poll_frame(cx) {
                    Poll::Ready(Some(Ok(frame))) => {
                        // Trailers end nothing and mean nothing to us.
                        if let Ok(data) = frame.into_data() {
                            joined.push(data);
                        }
                        if joined.len() >= MAX_PIECE {
                            return Poll::Ready(Piece::Data(joined.take()));
                        }
                    }
                    Poll::Ready(Some(Err(error))) => {
                        let error = NetError::from_hyper(error, peer);
                        return Poll::Ready(Piece::Broken(joined.take(), error));
                    }
                    Poll::Ready(None) => return Poll::Ready(Piece::Last(joined.take())),
                    Poll::Pending if joined.len() > 0 => {
                        return Poll::Ready(Piece::Data(joined.take()));
                    }
                    Poll::Pending => break,
                }
            }
            let deadline = *waiting.get_or_insert_with(|| now() + *idle);
            poll_deadline(timer, cx, (deadline, TimeoutPhase::Idle), *total, peer)
                .map(|error| Piece::Broken(Bytes::new(), error))
        });
        if polled.is_ready() {
            *waiting = None;
        }
        // A stream that never pauses never reaches the timer.
        if let (Poll::Ready(Piece::Data(data)), Some(total)) = (&mut polled, *total)
            && now() >= total
        {
            let error = NetError::timeout(TimeoutPhase::Total, peer);
            return Poll::Ready(Piece::Broken(std::mem::take(data), error));
        }
        polled
    }

    /// Hands the connection of a body that was read to its end back to the pool.
    pub(crate) fn release(self) {
        let Self { mut wire, incoming, pool, origin, .. } = self;
        drop(incoming);
        if wire.settle() {
            pool.put(&origin, wire, now());
        }
    }
}

/// Frames merged into one piece; a single frame is passed on without a copy.
#[derive(Default)]
struct Joined {
    first: Bytes,
    rest: Option<BytesMut>,
}

impl Joined {
    fn len(&self) -> usize {
        self.rest.as_ref().map_or(self.first.len(), BytesMut::len)
    }

    fn push(&mut self, data: Bytes) {
        if let Some(rest) = &mut self.rest {
            rest.extend_from_slice(&data);
        } else if self.first.is_empty() {
            self.first = data;
        } else if !data.is_empty() {
            let room = (self.first.len() + data.len()).max(MIN_JOINED);
            let mut rest = BytesMut::with_capacity(room);
            rest.extend_from_slice(&self.first);
            rest.extend_from_slice(&data);
            self.first = Bytes::new();
            self.rest = Some(rest);
        }
    }

    fn take(&mut self) -> Bytes {
        match self.rest.take() {
            Some(rest) => rest.freeze(),
            None => std::mem::take(&mut self.first),
        }
    }
}
