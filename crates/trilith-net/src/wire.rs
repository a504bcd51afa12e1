//! One connection with everything that stays with it between exchanges.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::thread::{self, ThreadId};

use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::link::Link;
use crate::stream::Stream;

/// Room for one read at first; a read that fills its room doubles it.
const MIN_ROOM: usize = 8 << 10;

/// Most room that a connection begins its next exchange with, where the last one needed more than
/// [`MIN_ROOM`]: its answers are likely to be alike.
const KNOWN_ROOM: usize = 16 << 10;

/// Most room for one read.
const MAX_ROOM: usize = 64 << 10;

/// Room below which it is worth making more.
const LEAST_ROOM: usize = 4 << 10;

/// A connection with its read buffer.
pub(crate) struct Wire {
    pub(crate) stream: Stream,
    /// Bytes that were read and not yet used; empty between exchanges.
    pub(crate) bytes: BytesMut,
    pub(crate) timer: Timer,
    pub(crate) link: Arc<Link>,
    pub(crate) waker: Waker,
    /// The thread that opened it: where each thread has a runtime of its own, only there is it woken without
    /// waking another core.
    pub(crate) home: ThreadId,
    /// Cap on the response heads of one exchange, in bytes.
    pub(crate) max_head: usize,
    room: usize,
}

impl Wire {
    /// Takes over a connected stream. Nothing is sent yet.
    pub(crate) fn new(stream: Stream, max_head: usize) -> Box<Self> {
        let link = Arc::new(Link::default());
        Box::new(Self {
            stream,
            bytes: BytesMut::new(),
            timer: Timer::default(),
            waker: Waker::from(Arc::clone(&link)),
            link,
            home: thread::current().id(),
            max_head,
            room: MIN_ROOM,
        })
    }

    /// Reads once behind the bytes that are there; 0 at the end of the stream.
    pub(crate) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let spare = self.bytes.capacity() - self.bytes.len();
        if spare < LEAST_ROOM || (self.bytes.is_empty() && spare < self.room) {
            self.bytes.reserve(self.room);
        }
        let spare = self.bytes.capacity() - self.bytes.len();
        let read = ready!(pin!(self.stream.read_buf(&mut self.bytes)).poll(cx))?;
        if read == spare {
            self.room = (self.room * 2).min(MAX_ROOM);
        }
        Poll::Ready(Ok(read))
    }

    /// Hands out all bytes. Few bytes are copied: as a slice they would keep a buffer of
    /// many times their size alive, and away from the next read.
    pub(crate) fn take_bytes(&mut self) -> Bytes {
        if self.bytes.is_empty() {
            return Bytes::new();
        }
        if self.bytes.len() <= self.bytes.capacity() / 4 {
            let copy = Bytes::copy_from_slice(&self.bytes);
            self.bytes.clear();
            return copy;
        }
        self.bytes.split().freeze()
    }

    /// Prepares the connection for idling, and tells whether it can be kept.
    pub(crate) fn settle(&mut self) -> bool {
        if self.room > MIN_ROOM {
            self.bytes = BytesMut::new();
            self.room = self.room.min(KNOWN_ROOM);
        }
        self.link.detach();
        self.is_quiet()
    }

    /// Whether the connection, idle since [`Wire::settle`], can carry another exchange.
    /// Its socket wakes it when the server closes it or sends unasked; without a wake-up
    /// there is nothing to find.
    pub(crate) fn is_usable(&mut self) -> bool {
        !self.link.was_woken() || self.is_quiet()
    }

    /// Whether there is nothing to read, neither bytes nor an end.
    fn is_quiet(&mut self) -> bool {
        let mut byte = [0; 1];
        let mut probe = ReadBuf::new(&mut byte);
        let mut cx = Context::from_waker(&self.waker);
        Pin::new(&mut self.stream).poll_read(&mut cx, &mut probe).is_pending()
    }
}

/// One timer per connection. Moving a deadline back costs nothing: the timer is left where
/// it is, and when it fires early it is set to the deadline that then holds.
#[derive(Default)]
pub(crate) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    /// Ready once `deadline` has passed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, deadline: Instant) -> Poll<()> {
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        loop {
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if sleep.deadline() >= deadline {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline);
        }
    }
}
