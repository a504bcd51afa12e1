//! A run on its way to a client: events become frames as the client takes them.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Sleep, sleep};
use trilith_core::{Event, Loss, Response, Status, StreamOptions};
use trilith_dialect::{Dialect, Writer};
use trilith_runtime::{Run, Step};

use crate::exchange::Exchange;

/// The most bytes that are gathered before the client gets them.
const ENOUGH: usize = 64 << 10;

/// How long a stream may be silent before a client of a dialect with pings is sent one: Anthropic's own come
/// every ten to fifteen seconds (translation contract §16).
const PING_AFTER: Duration = Duration::from_secs(12);

/// A streamed answer. It moves when the client reads: a slow reader slows the upstream down, and one that
/// leaves cancels it. All frames that are ready leave in one piece.
pub(crate) struct RunBody {
    run: Run,
    client: &'static dyn Dialect,
    writer: Box<dyn Writer>,
    /// What the client's dialect could not show of the answer.
    unshown: Vec<Loss>,
    exchange: Exchange,
    /// Runs while the upstream is silent.
    silence: Option<Pin<Box<Sleep>>>,
    /// Whether the client has read a frame.
    started: bool,
    ended: bool,
}

impl RunBody {
    pub(crate) fn new(
        run: Run,
        client: &'static dyn Dialect,
        options: StreamOptions,
        exchange: Exchange,
    ) -> Self {
        let writer = client.writer(options);
        Self {
            run,
            client,
            writer,
            unshown: Vec::new(),
            exchange,
            silence: None,
            started: false,
            ended: false,
        }
    }

    /// The next ping, when the upstream has been silent for long enough.
    fn poll_ping(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let ping = self.client.ping();
        // Before the first frame there is no stream that could be kept alive.
        if ping.is_empty() || !self.started {
            return Poll::Pending;
        }
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(PING_AFTER)));
        std::task::ready!(silence.as_mut().poll(context));
        self.silence = None;
        Poll::Ready(Some(Bytes::from_static(ping)))
    }

    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut frames = Vec::with_capacity(4 << 10);
        loop {
            let Self { run, writer, client, unshown, .. } = self;
            let step = run.poll_step(context, &mut |event: &Event, response: &Response| {
                if matches!(event, Event::End(_)) {
                    // What this client's dialect cannot show is known when everything is there.
                    *unshown = client.response_losses(response);
                    for loss in &*unshown {
                        writer.write(&Event::Loss(loss.clone()), response, &mut frames);
                    }
                }
                writer.write(event, response, &mut frames);
            });
            match step {
                Poll::Ready(Step::More) if frames.len() < ENOUGH => {}
                Poll::Ready(Step::More) => break,
                Poll::Ready(Step::Ended) => {
                    self.end();
                    break;
                }
                Poll::Pending if frames.is_empty() => return self.poll_ping(context),
                Poll::Pending => break,
            }
        }
        self.silence = None;
        self.started |= !frames.is_empty();
        self.exchange.first_byte();
        if frames.is_empty() { Poll::Ready(None) } else { Poll::Ready(Some(frames.into())) }
    }

    fn end(&mut self) {
        self.ended = true;
        let response = self.run.response();
        if let Some(usage) = &response.usage {
            self.exchange.usage(usage);
        }
        if let (Status::Failed, Some(error)) = (response.status, &response.error) {
            self.exchange.error(error);
        }
        let mut losses = self.run.losses().to_vec();
        losses.append(&mut self.unshown);
        self.exchange.losses(&losses);
        self.exchange.publish_losses();
        self.exchange.finished(200);
    }
}

impl Drop for RunBody {
    fn drop(&mut self) {
        if !self.ended {
            self.exchange.losses(self.run.losses());
        }
    }
}
