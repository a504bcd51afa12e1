//! A turn on its way through its candidates: what each of them is sent, until one answers.

use std::{
    future::{poll_fn, ready},
    sync::Arc,
};

use futures_util::stream;
use trilith_core::{
    BoxFuture, DialectId, Error, ErrorKind, EventStream, Headers, Item, Loss, ModelCall, Origin, Schemas,
    TokenCount, Turn, Upstream,
};

use crate::{
    carriers::{self, Places},
    emulate::{self, Again, Draft, FanOut, Filters, Finished, Promise, Sent, Terms},
    end,
    failover::{Candidate, Failover, Tries},
    media::Media,
    start::{Runtime, refuse_losses},
};

/// A turn on its way.
pub(crate) struct Call {
    pub(crate) turn: Turn,
    pub(crate) context: Vec<Item>,
    pub(crate) places: Places,
    pub(crate) media: Media,
    pub(crate) strict: bool,
    pub(crate) headers: Headers,
    /// How much text the context holds.
    pub(crate) input_bytes: usize,
    /// What the runtime lends to it.
    pub(crate) lent: Lent,
    pub(crate) terms: Terms,
}

/// What a call needs of the runtime; as in [`Runtime`].
pub(crate) struct Lent {
    schemas: Arc<dyn Schemas>,
    max_answer_bytes: usize,
}

impl From<&Runtime> for Lent {
    fn from(runtime: &Runtime) -> Self {
        Self { schemas: Arc::clone(&runtime.schemas), max_answer_bytes: runtime.max_answer_bytes }
    }
}

/// What a candidate answered.
pub(crate) struct Asked<T> {
    pub(crate) answer: T,
    /// Its place among the candidates. Whoever asked tells the policy that it answered.
    pub(crate) place: usize,
    /// Whose items the answer's will be.
    pub(crate) origin: Arc<Origin>,
    /// What the call could not carry to it.
    pub(crate) losses: Vec<Loss>,
    /// How much text it was sent.
    pub(crate) input_bytes: usize,
}

/// What one candidate is sent.
pub(crate) struct Prepared {
    place: usize,
    upstream: Arc<dyn Upstream>,
    call: ModelCall,
    sent: Sent,
    losses: Vec<Loss>,
    way: Way,
    promise: Option<Promise>,
    /// The largest answer that is gathered, in bytes.
    room: usize,
    /// How often the oldest turns may still be left out.
    cuts: u8,
}

/// How often the oldest turns are left out, a quarter of the conversation each time, until one gives up.
const MOST_CUTS: u8 = 8;

/// How an answer is asked for.
enum Way {
    /// Not at all: it is empty.
    Empty,
    /// By one call.
    One(Filters),
    /// By several.
    Several(Option<FanOut>),
}

impl Prepared {
    /// The answer as the caller is to see it.
    pub(crate) async fn answer(&mut self) -> Result<EventStream, Error> {
        let mut answer = self.fitting().await?;
        let Some(promise) = self.promise.take() else { return Ok(answer) };
        answer.events = if self.call.stream {
            promise.watch(answer.events)
        } else {
            promise.keep(answer.events, self.room, self.again())
        };
        Ok(answer)
    }

    /// What it takes to ask once more, where that can be done.
    fn again(&mut self) -> Option<Again> {
        let Way::One(filters) = &mut self.way else { return None };
        Some(Again {
            upstream: Arc::clone(&self.upstream),
            call: self.call.clone(),
            filters: std::mem::replace(filters, Filters::NONE),
            sent: self.sent,
        })
    }

    /// The answer to a conversation that fits; one that is too long is shortened, if that is wished.
    async fn fitting(&mut self) -> Result<EventStream, Error> {
        let mut gone = 0;
        loop {
            match self.try_once().await {
                Err(error) if error.kind == ErrorKind::ContextTooLong => match self.shorten() {
                    0 => return Err(error),
                    more => gone += more,
                },
                Err(error) => return Err(error),
                Ok(mut answer) => {
                    if gone > 0 {
                        let why =
                            format!("the conversation was too long: its oldest {gone} items are left out");
                        answer.losses.push(Loss::emulate("input", why));
                    }
                    return Ok(answer);
                }
            }
        }
    }

    async fn try_once(&mut self) -> Result<EventStream, Error> {
        match &mut self.way {
            Way::Empty => {
                let events = stream::once(ready(Ok(emulate::empty_answer(self.sent))));
                Ok(EventStream { losses: Vec::new(), headers: Headers::new(), events: Box::pin(events) })
            }
            Way::One(filters) => {
                let mut answer = self.upstream.call(self.call.clone()).await?;
                answer.events = filters.over(answer.events, self.sent);
                Ok(answer)
            }
            Way::Several(several) => {
                if let Some(calls) = several {
                    poll_fn(|context| calls.poll_begin(context)).await?;
                }
                let answer = several.take().map(FanOut::into_answer);
                answer.ok_or_else(|| Error::internal("an answer was taken twice"))
            }
        }
    }

    /// Leaves out the oldest turns, if that is wished and possible; says how many items that are.
    fn shorten(&mut self) -> usize {
        let Some(left) = self.cuts.checked_sub(1) else { return 0 };
        self.cuts = left;
        let turn = Arc::make_mut(&mut self.call.turn);
        let gone = emulate::shorten(&mut turn.input);
        self.sent.input_bytes = end::input_bytes(&turn.settings, &turn.input);
        if let Way::Several(Some(calls)) = &mut self.way {
            calls.restart(&self.call.turn, self.sent);
        }
        gone
    }

    /// How many tokens the input is, where the target can say.
    pub(crate) fn count(&self) -> BoxFuture<'_, Result<Option<TokenCount>, Error>> {
        self.upstream.count(self.call.clone())
    }
}

impl Call {
    /// The first answer of a candidate, each asked by `ask`.
    pub(crate) async fn ask<T>(
        mut self,
        candidates: &[Candidate],
        failover: &mut dyn Failover,
        ask: for<'p> fn(&'p mut Prepared) -> BoxFuture<'p, Result<T, Error>>,
    ) -> Result<Asked<T>, Error> {
        let mut tries = Tries::new(failover)?;
        let mut prepared: Option<Prepared> = None;
        let mut earlier: Option<Error> = None;
        loop {
            let (place, candidate) = tries.candidate(candidates)?;
            // A target that is tried again gets the very same call.
            let ready = match prepared.take() {
                Some(same) if same.place == place => prepared.insert(same),
                _ => {
                    let lone = candidates.len() == 1;
                    let made = self.prepare(place, candidate, lone).await;
                    // What this candidate cannot take, an earlier one could: its failure is what ends the request.
                    prepared.insert(made.map_err(|error| earlier.take().unwrap_or(error))?)
                }
            };
            match ask(ready).await {
                Ok(answer) => {
                    let losses = std::mem::take(&mut ready.losses);
                    let origin = origin(candidate).unwrap_or_else(|| no_wire(candidate));
                    let input_bytes = ready.sent.input_bytes;
                    return Ok(Asked { answer, place, origin, losses, input_bytes });
                }
                Err(error) => {
                    earlier = Some(error.clone());
                    tries.failed(error).await?;
                }
            }
        }
    }

    /// The call for one candidate: what it cannot read is left out, what it cannot do is emulated. A lone
    /// candidate takes the context itself, others a copy.
    async fn prepare(&mut self, place: usize, candidate: &Candidate, lone: bool) -> Result<Prepared, Error> {
        let mut input = if lone { std::mem::take(&mut self.context) } else { self.context.clone() };
        let mut carried = carriers::keep_native(&mut input, &self.places, origin(candidate).as_deref())?;
        let reads = candidate.upstream.abilities(&candidate.model).reads;
        carried.extend(self.media.fit(&mut input, &self.places, reads).await?);
        let mut draft = Draft::new(candidate, &*self.lent.schemas, self.terms, &self.turn, input);
        draft.losses = carried;
        emulate::rewrite(&mut draft)?;
        refuse_losses(self.strict, &draft.losses)?;
        let Finished { turn, parts, empty, shortens, filters, losses, promise } = draft.finish(Turn {
            state: self.turn.state.clone(),
            stream: self.turn.stream,
            ..Turn::default()
        });
        let sent = Sent {
            input_bytes: self.input_bytes,
            answers: emulate::answers(&turn.settings, turn.completion.as_ref()),
        };
        let call = ModelCall {
            stream: turn.stream.stream,
            turn: Arc::new(turn),
            model: candidate.model.clone(),
            strict: self.strict,
            headers: self.headers.clone(),
        };
        let upstream = Arc::clone(&candidate.upstream);
        let way = if empty {
            Way::Empty
        } else if parts.is_empty() {
            Way::One(filters)
        } else {
            Way::Several(Some(FanOut::new(Arc::clone(&upstream), &call, parts, filters, sent)))
        };
        let room = self.lent.max_answer_bytes;
        let cuts = if shortens { MOST_CUTS } else { 0 };
        Ok(Prepared { place, upstream, call, sent, losses, way, promise, room, cuts })
    }
}

fn origin(candidate: &Candidate) -> Option<Arc<Origin>> {
    let dialect = candidate.upstream.dialect()?;
    Some(Arc::new(Origin {
        dialect,
        upstream: candidate.upstream.name().into(),
        model: candidate.model.clone(),
        account: candidate.upstream.account().into(),
    }))
}

/// The embedded model makes no carriers; its origin only labels items.
fn no_wire(candidate: &Candidate) -> Arc<Origin> {
    Arc::new(Origin {
        dialect: DialectId::Responses,
        upstream: candidate.upstream.name().into(),
        model: candidate.model.clone(),
        account: "".into(),
    })
}
