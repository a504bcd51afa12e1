//! Filters of an answer, chained over the events of one call.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use trilith_core::{BoxStream, Error, Event};

use super::{Sent, gauge::Gauge};

/// One emulation at work on the answer of one call.
pub(crate) trait Filter: Send {
    /// Takes a batch and appends what the caller is to see of it, now or later. What it says must be a legal
    /// list of events by itself: contiguous indexes (see [`super::places::Places`]), everything that it ends
    /// closed, a finish for each answer that it ends.
    ///
    /// # Errors
    /// The answer cannot be what the caller asked for.
    fn take(&mut self, batch: Vec<Event>, out: &mut Vec<Event>) -> Result<Flow, Error>;

    /// No more comes, because the target has ended, broken off or is no longer wanted: appends what was held
    /// back.
    ///
    /// # Errors
    /// As for [`Filter::take`].
    fn finish(&mut self, out: &mut Vec<Event>) -> Result<(), Error> {
        let _ = out;
        Ok(())
    }
}

/// Whether more of the target's answer is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It is.
    More,
    /// Nothing more: the call is cancelled. Token counts that came with the rest of the batch are kept.
    Enough,
}

type Make = Box<dyn Fn() -> Box<dyn Filter> + Send + Sync>;

/// What makes the filters of a call.
pub(crate) struct Filters(Vec<Make>);

impl Filters {
    pub(crate) const NONE: Self = Self(Vec::new());

    pub(super) fn push(&mut self, make: impl Fn() -> Box<dyn Filter> + Send + Sync + 'static) {
        self.0.push(Box::new(make));
    }

    /// The events of one call as the caller is to see them.
    pub(crate) fn over(&self, events: Events, sent: Sent) -> Events {
        if self.0.is_empty() {
            return events;
        }
        let filters = self.0.iter().rev().map(|make| make()).collect();
        Box::pin(Filtered { events: Some(events), filters, gauge: Gauge::new(sent), fault: None })
    }
}

type Events = BoxStream<'static, Result<Vec<Event>, Error>>;

/// A call's events, filtered.
struct Filtered {
    /// `None` once no more is wanted of them.
    events: Option<Events>,
    /// The one nearest to the wire comes first.
    filters: Vec<Box<dyn Filter>>,
    gauge: Gauge,
    /// What to break off with after what was held back.
    fault: Option<Error>,
}

impl Filtered {
    /// One batch through every filter.
    fn pass(&mut self, mut batch: Vec<Event>) -> Result<Vec<Event>, Error> {
        self.gauge.record(&batch);
        for place in 0..self.filters.len() {
            let Some(filter) = self.filters.get_mut(place) else { break };
            let mut out = Vec::with_capacity(batch.len());
            let flow = filter.take(batch, &mut out)?;
            batch = out;
            if flow == Flow::Enough {
                self.events = None;
                self.filters.drain(..=place);
                batch.push(Event::Usage(self.gauge.usage()));
                return self.last(batch);
            }
        }
        Ok(batch)
    }

    /// The last batch through every filter, each of which then gives what it holds back.
    fn last(&mut self, mut batch: Vec<Event>) -> Result<Vec<Event>, Error> {
        for mut filter in std::mem::take(&mut self.filters) {
            let mut out = Vec::with_capacity(batch.len());
            filter.take(batch, &mut out)?;
            filter.finish(&mut out)?;
            batch = out;
        }
        Ok(batch)
    }

    fn next(&mut self, come: Option<Result<Vec<Event>, Error>>) -> Option<Result<Vec<Event>, Error>> {
        let passed = match come {
            Some(Ok(batch)) => self.pass(batch),
            Some(Err(fault)) => {
                self.events = None;
                self.fault = Some(fault);
                self.last(Vec::new())
            }
            None => {
                self.events = None;
                self.last(Vec::new())
            }
        };
        if passed.is_err() {
            self.events = None;
        }
        Some(passed)
    }
}

impl Stream for Filtered {
    type Item = Result<Vec<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(events) = &mut self.events else { return Poll::Ready(self.fault.take().map(Err)) };
        let come = ready!(events.as_mut().poll_next(context));
        Poll::Ready(self.next(come))
    }
}
