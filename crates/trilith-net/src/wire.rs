//! One HTTP/1.1 connection with everything that stays with it between exchanges.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, Sleep};

use crate::link::Link;
use crate::stream::{Counted, Stream};

/// Ceiling of the engine's read buffer. Streams rarely fill it; large bodies are read in
/// steps of this size.
const READ_BUFFER: usize = 64 << 10;

type Driver = Connection<TokioIo<Counted>, Full<Bytes>>;

/// A connection and its engine.
pub(crate) struct Wire {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    pub(crate) engine: Engine,
    pub(crate) timer: Timer,
    pub(crate) link: Arc<Link>,
    pub(crate) waker: Waker,
}

impl Wire {
    /// Takes over a connected stream. Nothing is sent yet.
    pub(crate) async fn new(stream: Stream, max_head: usize) -> hyper::Result<Box<Self>> {
        let link = Arc::new(Link::default());
        let io = TokioIo::new(Counted::new(stream, Arc::clone(&link)));
        let (sender, driver) = Builder::new()
            .max_buf_size(READ_BUFFER.max(max_head))
            .max_header_size(max_head)
            .handshake(io)
            .await?;
        Ok(Box::new(Self {
            sender,
            engine: Engine { driver: Some(driver), failure: None },
            timer: Timer::default(),
            waker: Waker::from(Arc::clone(&link)),
            link,
        }))
    }

    /// Lets the engine finish an exchange whose body was read to the end, and tells
    /// whether the connection can be kept.
    pub(crate) fn settle(&mut self) -> bool {
        self.link.detach();
        self.poll_idle()
    }

    /// Whether the connection, idle since [`Wire::settle`], can carry another exchange.
    /// Its socket wakes it when the server closes it; without a wake-up there is nothing
    /// to find.
    pub(crate) fn is_usable(&mut self) -> bool {
        !self.link.was_woken() || self.poll_idle()
    }

    fn poll_idle(&mut self) -> bool {
        self.engine.poll(&mut Context::from_waker(&self.waker));
        !self.engine.is_done() && self.sender.is_ready()
    }
}

/// The engine that moves bytes between socket and messages; polled by whoever waits.
pub(crate) struct Engine {
    driver: Option<Driver>,
    failure: Option<hyper::Error>,
}

impl Engine {
    /// Moves whatever can be moved now.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) {
        let Some(driver) = &mut self.driver else {
            return;
        };
        if let Poll::Ready(outcome) = Pin::new(driver).poll(cx) {
            self.driver = None;
            self.failure = outcome.err();
        }
    }

    /// Whether the connection is over.
    pub(crate) fn is_done(&self) -> bool {
        self.driver.is_none()
    }

    /// Why it ended, when it ended by a failure nobody was told of yet.
    pub(crate) fn take_failure(&mut self) -> Option<hyper::Error> {
        self.failure.take()
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
