//! A run on its way to a client: events become frames as the client takes them.

use std::task::{Context, Poll};

use bytes::Bytes;
use trilith_core::{Event, Response, Status};
use trilith_dialect::Writer;
use trilith_runtime::{Run, Step};

use crate::exchange::Exchange;

/// The most bytes that are gathered before the client gets them.
const ENOUGH: usize = 64 << 10;

/// A streamed answer. It moves when the client reads: a slow reader slows the upstream down, and one that
/// leaves cancels it. All frames that are ready leave in one piece.
pub(crate) struct RunBody {
    run: Run,
    writer: Box<dyn Writer>,
    exchange: Exchange,
    ended: bool,
}

impl RunBody {
    pub(crate) fn new(run: Run, writer: Box<dyn Writer>, exchange: Exchange) -> Self {
        Self { run, writer, exchange, ended: false }
    }

    pub(crate) fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut frames = Vec::with_capacity(1 << 10);
        loop {
            let writer = &mut self.writer;
            let step = self.run.poll_step(context, &mut |event: &Event, response: &Response| {
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
        self.exchange.losses(self.run.losses());
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
