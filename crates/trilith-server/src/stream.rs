//! A run on its way to a client: events become frames as the client takes them.

use std::task::{Context, Poll};

use bytes::Bytes;
use trilith_core::{Event, Loss, Response, Status, StreamOptions};
use trilith_dialect::{Dialect, Writer};
use trilith_runtime::{Run, Step};

use crate::exchange::Exchange;

/// The most bytes that are gathered before the client gets them.
const ENOUGH: usize = 64 << 10;

/// A streamed answer. It moves when the client reads: a slow reader slows the upstream down, and one that
/// leaves cancels it. All frames that are ready leave in one piece.
pub(crate) struct RunBody {
    run: Run,
    client: &'static dyn Dialect,
    writer: Box<dyn Writer>,
    /// What the client's dialect could not show of the answer.
    unshown: Vec<Loss>,
    exchange: Exchange,
    ended: bool,
}

impl RunBody {
    pub(crate) fn new(
        run: Run,
        client: &'static dyn Dialect,
        options: StreamOptions,
        exchange: Exchange,
    ) -> Self {
        Self { run, client, writer: client.writer(options), unshown: Vec::new(), exchange, ended: false }
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
                Poll::Pending if frames.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
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
