//! The run: an upstream's events folded into a response, one batch at a time, and shown to whoever watches.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use trilith_core::{
    BoxFuture, BoxStream, Created, Disposition, End, Error, Event, Headers, Loss, Origin, Pin, Response,
    Status, StoreError,
};

use crate::{
    carriers,
    emulate::no_sense,
    end,
    normalize::{self, OpenItems, TakenIds},
    start::Runtime,
    weight,
};

/// Whether a run has more to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It may have; ask again.
    More,
    /// The end was shown.
    Ended,
}

/// Who is shown each event, with the response as it stands after it.
pub type Watcher<'a> = dyn FnMut(&Event, &Response) + 'a;

enum Phase {
    /// Nothing was shown yet.
    New,
    /// The upstream answers.
    Streaming,
    /// The end is being written down. Only then it is shown.
    Committing(BoxFuture<'static, Result<(), StoreError>>, Box<End>),
    /// The end was shown.
    Ended,
}

/// A response that is being made. It moves only when it is polled, so a slow reader slows the upstream down
/// and nothing piles up; dropping it cancels the upstream call and ends a stored response as cancelled.
pub struct Run {
    runtime: Runtime,
    tenant: Arc<str>,
    origin: Arc<Origin>,
    created: Created,
    response: Response,
    events: Option<BoxStream<'static, Result<Vec<Event>, Error>>>,
    losses: Vec<Loss>,
    headers: Headers,
    open: OpenItems,
    taken: TakenIds,
    /// The rule by which what is made here may go to local targets only.
    pin: Option<Arc<Pin>>,
    /// Bytes that may still be gathered.
    room: usize,
    input_bytes: usize,
    strict: bool,
    phase: Phase,
}

/// What a run is made from.
pub(crate) struct Parts {
    pub(crate) runtime: Runtime,
    pub(crate) tenant: Arc<str>,
    pub(crate) origin: Arc<Origin>,
    pub(crate) created: Created,
    pub(crate) response: Response,
    pub(crate) events: BoxStream<'static, Result<Vec<Event>, Error>>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) headers: Headers,
    pub(crate) taken: TakenIds,
    pub(crate) pin: Option<Arc<Pin>>,
    pub(crate) input_bytes: usize,
    pub(crate) strict: bool,
}

impl Run {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            room: parts.runtime.max_answer_bytes,
            runtime: parts.runtime,
            tenant: parts.tenant,
            origin: parts.origin,
            created: parts.created,
            response: parts.response,
            events: Some(parts.events),
            losses: parts.losses,
            headers: parts.headers,
            open: OpenItems::default(),
            taken: parts.taken,
            pin: parts.pin,
            input_bytes: parts.input_bytes,
            strict: parts.strict,
            phase: Phase::New,
        }
    }

    /// Gives up without a trace: nothing of it was stored.
    pub(crate) fn forget(&mut self) {
        self.phase = Phase::Ended;
    }

    /// The response as it stands.
    pub const fn response(&self) -> &Response {
        &self.response
    }

    /// Everything that could not be carried so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The upstream's headers that may be passed on.
    pub const fn headers(&self) -> &Headers {
        &self.headers
    }

    /// The provider that answers.
    pub fn upstream(&self) -> &str {
        &self.origin.upstream
    }

    /// The rule by which this may be served by local targets only.
    pub const fn pin(&self) -> Option<&Arc<Pin>> {
        self.pin.as_ref()
    }

    /// Goes one step on: takes what the upstream has ready, applies it and shows it. A failure of the
    /// upstream ends the response as failed; it is not an error of the run.
    pub fn poll_step(&mut self, context: &mut Context<'_>, watch: &mut Watcher<'_>) -> Poll<Step> {
        match &mut self.phase {
            Phase::New => {
                self.phase = Phase::Streaming;
                watch(&Event::Created(Box::new(self.created.clone())), &self.response);
                self.show(Event::Status(Status::InProgress), watch).ok();
                Poll::Ready(Step::More)
            }
            Phase::Streaming => {
                let Some(events) = &mut self.events else { return Poll::Ready(Step::Ended) };
                match std::task::ready!(events.as_mut().poll_next(context)) {
                    Some(Ok(batch)) => self.take(batch, watch),
                    Some(Err(fault)) => self.finish(Some(fault), watch),
                    None => self.finish(None, watch),
                }
            }
            Phase::Committing(commit, _) => {
                let written = std::task::ready!(commit.as_mut().poll(context));
                self.committed(written, watch);
                Poll::Ready(Step::Ended)
            }
            Phase::Ended => Poll::Ready(Step::Ended),
        }
    }

    /// Runs to the end without a watcher of its own.
    pub async fn complete(&mut self) {
        while std::future::poll_fn(|context| self.poll_step(context, &mut |_, _| {})).await == Step::More {}
    }

    fn take(&mut self, batch: Vec<Event>, watch: &mut Watcher<'_>) -> Poll<Step> {
        match self.show_all(batch, watch) {
            Err(fault) => self.finish(Some(fault), watch),
            Ok(()) => Poll::Ready(Step::More),
        }
    }

    /// Makes an upstream's events fit, applies them and shows them.
    fn show_all(&mut self, mut batch: Vec<Event>, watch: &mut Watcher<'_>) -> Result<(), Error> {
        carriers::seal(&mut batch, &*self.runtime.sealer, &self.tenant, &self.origin)?;
        for mut event in batch {
            let weight = weight::of(&event);
            self.room = self.room.checked_sub(weight).ok_or_else(|| self.too_large())?;
            match &event {
                Event::Loss(loss) => {
                    self.losses.push(loss.clone());
                    if self.strict && loss.disposition == Disposition::Warn {
                        let text = format!("strict mode: '{}' cannot be kept: {}", loss.path, loss.why);
                        return Err(Error::upstream(text).with_code("strict_loss"));
                    }
                }
                Event::ItemDone { index, .. } => {
                    for done in self.open.close_parts(*index) {
                        self.show(done, watch)?;
                    }
                }
                // The life of the response is the run's to tell.
                Event::Created(_) | Event::Status(_) | Event::End(_) => return Err(no_sense()),
                _ => {}
            }
            normalize::fill_ids(&self.response.id, &mut self.taken, &mut event);
            self.mark(&mut event);
            self.show(event, watch)?;
        }
        Ok(())
    }

    /// What is made of local-only data is local only too. A hosted tool may have brought such data just now.
    fn mark(&mut self, event: &mut Event) {
        let Event::ItemAdded { item, .. } = event else { return };
        if self.pin.is_none() {
            self.pin = self.runtime.local_tools.of_item(item).cloned();
        }
        item.pin = self.pin.clone();
    }

    /// Applies an event and shows it.
    fn show(&mut self, event: Event, watch: &mut Watcher<'_>) -> Result<(), Error> {
        self.response.apply(&event).map_err(|order| no_sense().with_source(order))?;
        self.open.record(&event);
        watch(&event, &self.response);
        Ok(())
    }

    /// The upstream is done or broken: closes what is open, and ends the response or begins to write the end
    /// down.
    fn finish(&mut self, mut fault: Option<Error>, watch: &mut Watcher<'_>) -> Poll<Step> {
        self.events = None;
        for event in self.open.close_all() {
            self.show(event, watch).ok();
        }
        if fault.is_none() && self.response.finishes.is_empty() {
            fault = Some(end::unfinished());
        }
        if fault.is_none() {
            self.count(watch);
        }
        let end = Box::new(end::of(&self.response, fault, self.now()));
        if !self.response.store {
            self.show(Event::End(end), watch).ok();
            self.phase = Phase::Ended;
            return Poll::Ready(Step::Ended);
        }
        self.phase = Phase::Committing(self.commit(Arc::new(self.ended(&end))), end);
        Poll::Ready(Step::More)
    }

    /// Estimates the token counts where the upstream gave none, and says so where anybody did.
    fn count(&mut self, watch: &mut Watcher<'_>) {
        if self.response.usage.is_none() {
            let usage = end::estimate(self.input_bytes, &self.response);
            self.show(Event::Usage(usage), watch).ok();
        }
        if self.response.usage.as_ref().is_some_and(|usage| usage.estimated) {
            // Told in strict mode too, but no error there: the answer itself is whole.
            let loss = Loss::warn("usage", "the upstream counted no tokens; estimated from the text");
            self.losses.push(loss.clone());
            self.show(Event::Loss(loss), watch).ok();
        }
    }

    /// Writes down the response as it ended.
    fn commit(&self, ended: Arc<Response>) -> BoxFuture<'static, Result<(), StoreError>> {
        let (store, tenant) = (Arc::clone(&self.runtime.store), Arc::clone(&self.tenant));
        Box::pin(async move { store.commit(&tenant, ended).await })
    }

    /// The response as it will be once `end` is applied.
    fn ended(&self, end: &End) -> Response {
        let mut ended = self.response.clone();
        ended.apply(&Event::End(Box::new(end.clone()))).ok();
        ended
    }

    /// The end is on disk, or could not be written; now it is shown.
    fn committed(&mut self, written: Result<(), StoreError>, watch: &mut Watcher<'_>) {
        let Phase::Committing(_, mut end) = std::mem::replace(&mut self.phase, Phase::Ended) else { return };
        let failed = written.is_err();
        if let Err(error) = written {
            let error = Error::internal("the response could not be stored, so it cannot be continued")
                .with_source(error);
            *end = End { status: Status::Failed, incomplete: None, error: Some(error), at: end.at };
        }
        self.show(Event::End(end), watch).ok();
        if failed {
            self.runtime.store.end_later(&self.tenant, Arc::new(self.response.clone()));
        }
    }

    fn too_large(&self) -> Error {
        Error::upstream(format!(
            "the upstream's answer is over {} bytes and was cut off; ask for less, or ask the operator to raise \
             limits.max_answer_bytes",
            self.runtime.max_answer_bytes
        ))
    }

    fn now(&self) -> i64 {
        i64::try_from(self.runtime.clock.unix_ms() / 1000).unwrap_or(i64::MAX)
    }
}

/// A stored response whose client left is ended as cancelled, with what was made so far.
impl Drop for Run {
    fn drop(&mut self) {
        if !self.response.store || matches!(self.phase, Phase::Ended) {
            return;
        }
        let (commit, ended) = match std::mem::replace(&mut self.phase, Phase::Ended) {
            // The answer was whole; only its last write is not yet confirmed.
            Phase::Committing(commit, end) => (commit, Arc::new(self.ended(&end))),
            _ => {
                for event in self.open.close_all() {
                    self.response.apply(&event).ok();
                }
                let at = self.now();
                let end = End { status: Status::Cancelled, incomplete: None, error: None, at };
                let ended = Arc::new(self.ended(&end));
                (self.commit(Arc::clone(&ended)), ended)
            }
        };
        let (store, tenant) = (Arc::clone(&self.runtime.store), Arc::clone(&self.tenant));
        let task: BoxFuture<'static, ()> = Box::pin(async move {
            if commit.await.is_err() {
                store.end_later(&tenant, ended);
            }
        });
        self.runtime.spawn.spawn("end an abandoned response", task);
    }
}
