//! Several answers from a target that gives one to a call (`n`, translation contract §10 and §11): each is asked for
//! by a call of its own, and they are told as one answer. So are answers to several prompts from a target that takes
//! one to a call.
//!
//! There is no task and no queue behind it: whoever polls the run polls the calls, one batch of one call at a time,
//! so a slow reader slows all of them down, and dropping the run cancels all.

use std::{
    collections::{HashSet, VecDeque},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use trilith_core::{
    BoxFuture, BoxStream, Error, Event, EventStream, Headers, Item, Loss, ModelCall, Turn, Upstream, Usage,
};

use super::{Draft, Filters, Sent, gauge::Gauge, no_sense, places::Places};
use crate::{end, weight};

/// How much of the answers that have begun is held while others have not, in bytes: until all have begun, a failure
/// of one can still be answered by another target. More would have a reader wait for nothing.
const MOST_HELD: usize = 256 << 10;

/// Asks for each answer by a call of its own where the target gives one to a call, and sends each prompt by itself
/// where it takes one.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    let prompts = draft.completion.as_ref().map_or(0, |completion| completion.more_prompts.len());
    let each = super::answers(&draft.settings, None);
    if prompts == 0 && each == 1 {
        return Ok(());
    }
    let can = draft.can();
    let apart = each > 1 && !can.several_answers;
    if !apart && (prompts == 0 || can.several_prompts) {
        return Ok(());
    }
    let calls = if apart { draft.answers() } else { draft.answers() / each };
    let (field, what) = if prompts > 0 { ("prompt", "takes one prompt") } else { ("n", "gives one answer") };
    if calls > draft.terms.max_choices {
        let (model, most) = (&draft.settings.model, draft.terms.max_choices);
        let text = format!(
            "'{field}' needs {calls} calls, since the upstream of the model '{model}' {what} to a call: at most \
             {most} are made at a time. Ask for fewer, or ask the operator to raise limits.max_choices."
        );
        return Err(Error::bad_request(field, text).with_code("invalid_value"));
    }
    let why = format!("the upstream {what} to a call; it is called {calls} times");
    draft.losses.push(Loss::emulate(field, why));
    if apart {
        draft.settings_mut().sampling.n = None;
    }
    let more = draft.completion.as_mut().map(|completion| std::mem::take(&mut completion.more_prompts));
    let more = more.into_iter().flatten().map(|items| Some(Arc::from(items)));
    let (draws, step) = if apart { (each, 1) } else { (1, each) };
    for (prompt, input) in (0_u16..).zip(std::iter::once(None).chain(more)) {
        for draw in 0..draws {
            let first = (prompt * draws + draw) * step;
            draft.parts.push(Part { first, prompt, draw: i64::from(draw), input: input.clone() });
        }
    }
    Ok(())
}

/// One of the calls that make an answer together.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The number of its first answer.
    pub(super) first: u16,
    /// Which input it is sent: calls with the same one stand together, and their input is counted once.
    pub(super) prompt: u16,
    /// Added to the seed, since equal seeds would draw equal answers.
    pub(super) draw: i64,
    /// That input, where it is not the turn's own.
    pub(super) input: Option<Arc<[Item]>>,
}

impl Part {
    /// The turn of this part.
    fn turn(&self, all: &Arc<Turn>) -> Arc<Turn> {
        let seed = all.settings.sampling.seed.filter(|_| self.draw != 0);
        if seed.is_none() && self.input.is_none() {
            return Arc::clone(all);
        }
        let mut turn = Turn {
            settings: Arc::clone(&all.settings),
            input: self.input.as_deref().unwrap_or(&all.input).to_vec(),
            completion: all.completion.clone(),
            state: all.state.clone(),
            stream: all.stream,
            losses: Vec::new(),
        };
        if let Some(seed) = seed {
            Arc::make_mut(&mut turn.settings).sampling.seed = Some(seed.wrapping_add(self.draw));
        }
        Arc::new(turn)
    }
}

/// Calls of one target whose answers are told as one.
pub(crate) struct FanOut {
    upstream: Arc<dyn Upstream>,
    filters: Filters,
    branches: Vec<Branch>,
    /// What came with the first answer.
    heard: Option<(Vec<Loss>, Headers)>,
    /// The place of the next item.
    next: u32,
    /// The branch that is asked first the next time.
    turn: usize,
    begun: bool,
    counted: bool,
    told: HashSet<Loss>,
}

struct Branch {
    part: Part,
    call: ModelCall,
    sent: Sent,
    state: State,
    /// What came before every branch had begun.
    held: VecDeque<Result<Vec<Event>, Error>>,
    held_bytes: usize,
    places: Places,
    gauge: Gauge,
    /// Answers that have not ended.
    running: u16,
}

enum State {
    /// Not called, or its call failed.
    Idle,
    Calling(BoxFuture<'static, Result<EventStream, Error>>),
    Answering(BoxStream<'static, Result<Vec<Event>, Error>>),
    Ended,
}

impl FanOut {
    pub(crate) fn new(
        upstream: Arc<dyn Upstream>,
        call: &ModelCall,
        parts: Vec<Part>,
        filters: Filters,
        sent: Sent,
    ) -> Self {
        let several = parts.iter().any(|part| part.input.is_some());
        let branch = |part: Part| {
            let turn = part.turn(&call.turn);
            let sent = sent.to(&turn, several);
            Branch {
                part,
                call: ModelCall { turn, ..call.clone() },
                sent,
                state: State::Idle,
                held: VecDeque::new(),
                held_bytes: 0,
                places: Places::default(),
                gauge: Gauge::new(sent),
                running: sent.answers,
            }
        };
        let branches = parts.into_iter().map(branch).collect();
        let (heard, told) = (None, HashSet::new());
        Self { upstream, filters, branches, heard, next: 0, turn: 0, begun: false, counted: false, told }
    }

    /// Asks anew for everything, with another turn.
    pub(crate) fn restart(&mut self, turn: &Arc<Turn>, sent: Sent) {
        self.heard = None;
        let several = self.branches.iter().any(|branch| branch.part.input.is_some());
        for branch in &mut self.branches {
            branch.call.turn = branch.part.turn(turn);
            branch.sent = sent.to(&branch.call.turn, several);
            branch.state = State::Idle;
            branch.held.clear();
            branch.held_bytes = 0;
            branch.gauge = Gauge::new(branch.sent);
        }
    }

    /// Goes on until every call has begun to answer. Calls that have are kept when another fails, so that to try
    /// again is to call that one alone.
    ///
    /// # Errors
    /// A call failed.
    pub(crate) fn poll_begin(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut waiting = false;
        for branch in &mut self.branches {
            if matches!(branch.state, State::Idle) {
                let (upstream, call) = (Arc::clone(&self.upstream), branch.call.clone());
                branch.state = State::Calling(Box::pin(async move { upstream.call(call).await }));
            }
            match branch.poll_call(context, &self.filters, &mut self.heard) {
                Poll::Ready(begun) => begun?,
                Poll::Pending => waiting = true,
            }
        }
        let mut held = 0;
        for branch in self.branches.iter_mut().filter(|_| waiting) {
            // A target that answers one call after the other would let everybody wait for its last.
            let ended = branch.hold(context);
            held += branch.held_bytes;
            if ended || held > MOST_HELD {
                return Poll::Ready(Ok(()));
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    /// The answer, once it has begun.
    pub(crate) fn into_answer(mut self) -> EventStream {
        let (losses, headers) = self.heard.take().unwrap_or_default();
        EventStream { losses, headers, events: Box::pin(self) }
    }

    /// A branch's batch as part of the whole answer.
    fn place(&mut self, branch: usize, batch: Vec<Event>) -> Result<Vec<Event>, Error> {
        let Some(branch) = self.branches.get_mut(branch) else { return Ok(batch) };
        branch.gauge.record(&batch);
        let mut counted = false;
        let mut placed = Vec::with_capacity(batch.len());
        for mut event in batch {
            match &mut event {
                // Of the targets' words about themselves the first stand for all.
                Event::Begin(_) if std::mem::replace(&mut self.begun, true) => continue,
                Event::Loss(loss) if !self.told.insert(loss.clone()) => continue,
                Event::Usage(_) => {
                    counted = true;
                    continue;
                }
                Event::ItemAdded { index, choice, .. } => {
                    branch.places.add(*index, Some(&mut self.next))?;
                    *choice = branch.number(*choice)?;
                }
                Event::Finish(finish) => {
                    finish.choice = branch.number(finish.choice)?;
                    branch.running = branch.running.saturating_sub(1);
                }
                _ => {}
            }
            if branch.places.follow(&mut event)? {
                placed.push(event);
            }
        }
        if counted {
            placed.push(Event::Usage(self.usage()));
        }
        Ok(placed)
    }

    /// The counts of all calls: what was written is summed, what was read is counted once for each input.
    fn usage(&self) -> Usage {
        let mut all = Usage::default();
        for same in self.branches.chunk_by(|a, b| a.part.prompt == b.part.prompt) {
            let reader = same.iter().position(|branch| branch.gauge.is_told()).unwrap_or(0);
            for (place, branch) in same.iter().enumerate() {
                let usage = branch.gauge.usage();
                all.add(&if place == reader { usage } else { written(usage) });
            }
        }
        all
    }

    fn poll_batch(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Vec<Event>, Error>>> {
        let count = self.branches.len();
        let mut waiting = false;
        for step in 0..count {
            let at = (self.turn + step) % count;
            let Some(branch) = self.branches.get_mut(at) else { break };
            match branch.poll_batch(context, &self.filters, &mut self.heard) {
                Poll::Pending => waiting = true,
                Poll::Ready(None) => {}
                Poll::Ready(Some(batch)) => {
                    self.turn = at + 1;
                    return Poll::Ready(Some(batch.and_then(|batch| self.place(at, batch))));
                }
            }
        }
        if waiting {
            return Poll::Pending;
        }
        let counts = (count > 0 && !std::mem::replace(&mut self.counted, true)).then(|| self.usage());
        Poll::Ready(counts.map(|usage| Ok(vec![Event::Usage(usage)])))
    }
}

impl Stream for FanOut {
    type Item = Result<Vec<Event>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let batch = ready!(self.poll_batch(context));
        if let Some(Err(_)) = batch {
            // One answer that breaks off ends them all.
            self.branches.clear();
        }
        Poll::Ready(batch)
    }
}

impl Branch {
    /// Waits until the call is answered, if it is not.
    fn poll_call(
        &mut self,
        context: &mut Context<'_>,
        filters: &Filters,
        heard: &mut Option<(Vec<Loss>, Headers)>,
    ) -> Poll<Result<(), Error>> {
        let State::Calling(call) = &mut self.state else { return Poll::Ready(Ok(())) };
        match ready!(call.as_mut().poll(context)) {
            Ok(EventStream { losses, headers, events }) => {
                heard.get_or_insert((losses, headers));
                self.state = State::Answering(filters.over(events, self.sent));
                Poll::Ready(Ok(()))
            }
            Err(error) => {
                self.state = State::Idle;
                Poll::Ready(Err(error))
            }
        }
    }

    /// Takes what is there already; says whether the answer is over.
    fn hold(&mut self, context: &mut Context<'_>) -> bool {
        while self.held_bytes <= MOST_HELD
            && let State::Answering(events) = &mut self.state
            && let Poll::Ready(batch) = events.as_mut().poll_next(context)
        {
            if !matches!(batch, Some(Ok(_))) {
                self.state = State::Ended;
            }
            if let Some(batch) = batch {
                let bytes = |event: &Event| weight::of(event) + size_of::<Event>();
                self.held_bytes += batch.iter().flatten().map(bytes).sum::<usize>();
                self.held.push_back(batch);
            }
        }
        matches!(self.state, State::Ended)
    }

    fn poll_batch(
        &mut self,
        context: &mut Context<'_>,
        filters: &Filters,
        heard: &mut Option<(Vec<Loss>, Headers)>,
    ) -> Poll<Option<Result<Vec<Event>, Error>>> {
        if let Some(batch) = self.held.pop_front() {
            return Poll::Ready(Some(batch));
        }
        if let Err(error) = ready!(self.poll_call(context, filters, heard)) {
            return Poll::Ready(Some(Err(error)));
        }
        let State::Answering(events) = &mut self.state else { return Poll::Ready(self.missing()) };
        let batch = ready!(events.as_mut().poll_next(context));
        if batch.is_none() {
            self.state = State::Ended;
            return Poll::Ready(self.missing());
        }
        Poll::Ready(batch)
    }

    /// The fault of a call that is over but whose answers are not.
    fn missing(&mut self) -> Option<Result<Vec<Event>, Error>> {
        (std::mem::take(&mut self.running) > 0).then(|| Err(end::unfinished()))
    }

    /// The number of an answer among all.
    fn number(&self, choice: u16) -> Result<u16, Error> {
        if choice < self.sent.answers { Ok(self.part.first.saturating_add(choice)) } else { Err(no_sense()) }
    }
}

/// What a call wrote, without what it read.
fn written(usage: Usage) -> Usage {
    Usage {
        output_total: usage.output_total,
        reasoning: usage.reasoning,
        output_audio: usage.output_audio,
        accepted_prediction: usage.accepted_prediction,
        rejected_prediction: usage.rejected_prediction,
        estimated: usage.estimated,
        ..Usage::default()
    }
}
