//! One request and its response on one connection.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use crate::answer::{Answer, HeadReader};
use crate::clock::now;
use crate::error::{Fault, NetError, TimeoutPhase};
use crate::framing::Framing;
use crate::outgoing::Outgoing;
use crate::pool::{Origin, Pool};
use crate::wire::{Timer, Wire};

/// Most bytes that one poll gathers: a burst of small chunks becomes one piece, and a
/// reader that stops reading leaves the rest in the socket.
const MAX_PIECE: usize = 64 << 10;

/// Sends `outgoing` and waits for the response head. The head may come before all of the
/// request is sent. The connection is to be dropped on failure, and when the future is
/// dropped.
pub(crate) async fn send_head(
    wire: &mut Wire,
    outgoing: &mut Outgoing,
    first_byte: Instant,
    total: Option<Instant>,
    peer: &str,
) -> Result<Answer, NetError> {
    let mut reader = HeadReader::new(wire.max_head, outgoing.wants_no_body());
    let mut answered = false;
    let outcome = poll_fn(|cx| {
        wire.link.attach(cx.waker());
        let waker = wire.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        outgoing.poll(&mut wire.stream, cx);
        while let Poll::Ready(read) = wire.poll_fill(cx) {
            let taken = match read {
                Ok(0) => Err(Fault::Closed),
                Ok(_) => {
                    answered = true;
                    reader.take(&mut wire.bytes)
                }
                Err(error) => return Poll::Ready(Err(NetError::from_io(error, peer))),
            };
            if let Some(answer) = taken.map_err(|fault| NetError::from_fault(fault, peer)).transpose() {
                return Poll::Ready(answer);
            }
        }
        poll_deadline(&mut wire.timer, cx, (first_byte, TimeoutPhase::FirstByte), total, peer).map(Err)
    })
    .await;
    outcome.map_err(|error| error.with_retryable(!answered || !outgoing.is_begun()))
}

fn poll_deadline(
    timer: &mut Timer,
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
    /// The request, as long as the server has not taken all of it.
    outgoing: Option<Outgoing>,
    framing: Framing,
    /// Whether the connection can still carry another exchange.
    keep: bool,
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

/// Where an exchange leads back to, and its time limits.
pub(crate) struct Frame {
    pub(crate) pool: Arc<Pool>,
    pub(crate) origin: Arc<Origin>,
    pub(crate) idle: Duration,
    pub(crate) total: Option<Instant>,
}

impl Exchange {
    pub(crate) fn new(
        wire: Box<Wire>,
        outgoing: Option<Outgoing>,
        framing: Framing,
        keep: bool,
        frame: Frame,
    ) -> Self {
        let Frame { pool, origin, idle, total } = frame;
        Self { wire, outgoing, framing, keep, pool, origin, idle, total, waiting: None }
    }

    /// Whether the response has no body, or none is left.
    pub(crate) fn is_over(&self) -> bool {
        self.framing.is_over()
    }

    /// Bytes that are still to come, if the head said how many.
    pub(crate) fn announced(&self) -> Option<u64> {
        match self.framing {
            Framing::Length(left) => Some(left),
            Framing::Chunked(_) | Framing::Close => None,
        }
    }

    /// Returns everything that is readable now, up to about [`MAX_PIECE`], as one piece.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Piece> {
        self.wire.link.attach(cx.waker());
        let waker = self.wire.waker.clone();
        let cx = &mut Context::from_waker(&waker);
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.poll(&mut self.wire.stream, cx);
        }
        let Poll::Ready(mut piece) = self.gather(cx) else {
            let deadline = *self.waiting.get_or_insert_with(|| now() + self.idle);
            let phase = (deadline, TimeoutPhase::Idle);
            return poll_deadline(&mut self.wire.timer, cx, phase, self.total, self.origin.name())
                .map(|error| Piece::Broken(Bytes::new(), error));
        };
        self.waiting = None;
        // A stream that never pauses never reaches the timer.
        if let (Piece::Data(data), Some(total)) = (&mut piece, self.total)
            && now() >= total
        {
            let error = NetError::timeout(TimeoutPhase::Total, self.origin.name());
            piece = Piece::Broken(std::mem::take(data), error);
        }
        Poll::Ready(piece)
    }

    /// Decodes and reads in turn until there is nothing to read or enough to hand out.
    fn gather(&mut self, cx: &mut Context<'_>) -> Poll<Piece> {
        let Self { wire, framing, keep, origin, .. } = self;
        let mut have = 0;
        let failure = loop {
            match framing.decode(&mut wire.bytes, &mut have) {
                Ok(leftover) => *keep &= !leftover,
                Err(fault) => break NetError::from_fault(fault, origin.name()),
            }
            if framing.is_over() {
                return Poll::Ready(Piece::Last(wire.take_bytes()));
            }
            if have >= MAX_PIECE {
                return Poll::Ready(Piece::Data(wire.take_bytes()));
            }
            match wire.poll_fill(cx) {
                Poll::Ready(Ok(0)) => {
                    if matches!(framing, Framing::Close) {
                        *keep = false;
                        return Poll::Ready(Piece::Last(wire.take_bytes()));
                    }
                    break NetError::from_fault(Fault::Closed, origin.name());
                }
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => break NetError::from_io(error, origin.name()),
                Poll::Pending if have > 0 => return Poll::Ready(Piece::Data(wire.take_bytes())),
                Poll::Pending => return Poll::Pending,
            }
        };
        Poll::Ready(Piece::Broken(wire.take_bytes(), failure))
    }

    /// Hands the connection of a body that was read to its end back to the pool, if nothing
    /// speaks against using it again.
    pub(crate) fn release(self) {
        let Self { mut wire, outgoing, keep, pool, origin, .. } = self;
        let sent = outgoing.is_none_or(|outgoing| outgoing.is_done());
        if keep && sent && wire.bytes.is_empty() && wire.settle() {
            pool.put(&origin, wire, now());
        }
    }
}
