//! What was promised of a text and nobody else holds the model to is looked at here, at the end of each answer
//! (translation contract §9). A strict promise that was broken is never told as a whole answer: the model is asked
//! once more where nothing was shown yet, and then, or where text was shown, the answer ends in an error. A promise
//! that is not strict is told as a loss.

use std::{collections::HashMap, sync::Arc};

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use trilith_core::{
    Error, Event, EventStream, Finish, FinishReason, Item, ItemBody, Json, Loss, ModelCall, PartStart, Role,
    Schema, Schemas, Turn, Upstream, Usage,
};

use super::{Filters, Sent};
use crate::weight;

/// Where what was promised stood.
const FIELD: &str = "text.format";

/// A promise about the text of an answer.
#[derive(Clone)]
pub(crate) struct Promise {
    schema: Arc<dyn Schema>,
    strict: bool,
}

/// What it takes to ask once more.
pub(crate) struct Again {
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) call: ModelCall,
    pub(crate) filters: Filters,
    pub(crate) sent: Sent,
}

type Events = BoxStream<'static, Result<Vec<Event>, Error>>;

impl Promise {
    /// `None` where nothing can be promised and nothing has to be.
    ///
    /// # Errors
    /// It must be kept, and no text can be held to such a schema.
    pub(super) fn new(schemas: &dyn Schemas, schema: &Json, strict: bool) -> Result<Option<Self>, Error> {
        match schemas.ready(schema) {
            Ok(schema) => Ok(Some(Self { schema, strict })),
            Err(why) if strict => {
                let text = format!("Invalid schema for '{FIELD}': no answer can be held to it: {why}");
                Err(Error::bad_request("text.format.schema", text).with_code("invalid_json_schema"))
            }
            Err(_) => Ok(None),
        }
    }

    /// The events of an answer that is shown as it comes.
    pub(crate) fn watch(self, events: Events) -> Events {
        let watched = Watched { said: Said::default(), promise: self, events: Some(events), fault: None };
        stream::unfold(watched, |mut watched| async move {
            let next = watched.next().await?;
            Some((next, watched))
        })
        .boxed()
    }

    /// The events of an answer that is shown whole: asked for once more, if it breaks the promise and that can be
    /// done. Of the answer so many bytes are gathered at most.
    pub(crate) fn keep(self, events: Events, room: usize, again: Option<Again>) -> Events {
        stream::once(async move { kept(self, events, room, again).await }).map(stream::iter).flatten().boxed()
    }

    /// What is wrong with an answer that ended for that reason. One that was cut short promises nothing.
    fn broken(&self, said: &Answer, reason: &FinishReason) -> Option<Box<str>> {
        let whole = match reason {
            FinishReason::Stop | FinishReason::StopString(_) | FinishReason::Other(_) => true,
            FinishReason::ToolCalls
            | FinishReason::Length
            | FinishReason::ContextWindow
            | FinishReason::ContentFilter
            | FinishReason::Refusal
            | FinishReason::Paused
            | FinishReason::MalformedCall => false,
        };
        if !whole || said.declined {
            return None;
        }
        self.schema.check(&said.text).err()
    }
}

/// What one answer's last message says.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    declined: bool,
}

/// What the answers of a call say.
#[derive(Debug, Default)]
struct Said {
    answers: HashMap<u16, Answer>,
    /// The answer that each message belongs to.
    messages: HashMap<u32, u16>,
}

impl Said {
    fn record(&mut self, event: &Event) {
        match event {
            Event::ItemAdded { index, choice, item } if matches!(item.body, ItemBody::Message(_)) => {
                self.messages.insert(*index, *choice);
                self.answers.insert(*choice, Answer::default());
            }
            Event::TextDelta { index, delta, .. } => {
                if let Some(answer) = self.of(*index) {
                    answer.text.push_str(delta);
                }
            }
            Event::PartAdded { index, start: PartStart::Refusal, .. } => {
                if let Some(answer) = self.of(*index) {
                    answer.declined = true;
                }
            }
            _ => {}
        }
    }

    fn of(&mut self, index: u32) -> Option<&mut Answer> {
        self.answers.get_mut(self.messages.get(&index)?)
    }

    /// What is wrong with the answer that a finish ends.
    fn broken(&mut self, promise: &Promise, finish: &Finish) -> Option<Box<str>> {
        promise.broken(self.answers.entry(finish.choice).or_default(), &finish.reason)
    }
}

fn told(why: &str) -> Loss {
    Loss::warn(FIELD, format!("the answer does not match the schema: {why}"))
}

fn failed(why: &str) -> Error {
    Error::upstream(format!(
        "the model's answer does not match the schema that was asked for: {why}; try again"
    ))
}

/// An answer that is shown as it comes.
struct Watched {
    said: Said,
    promise: Promise,
    events: Option<Events>,
    fault: Option<Error>,
}

impl Watched {
    async fn next(&mut self) -> Option<Result<Vec<Event>, Error>> {
        let Some(events) = &mut self.events else { return self.fault.take().map(Err) };
        let batch = match events.next().await? {
            Ok(batch) => batch,
            Err(fault) => {
                self.events = None;
                return Some(Err(fault));
            }
        };
        let mut out = Vec::with_capacity(batch.len());
        for event in batch {
            self.said.record(&event);
            if let Event::Finish(finish) = &event
                && let Some(why) = self.said.broken(&self.promise, finish)
            {
                if self.promise.strict {
                    self.events = None;
                    self.fault = Some(failed(&why));
                    break;
                }
                out.push(Event::Loss(told(&why)));
            }
            out.push(event);
        }
        Some(Ok(out))
    }
}

/// An answer that was gathered.
struct Gathered {
    events: Vec<Event>,
    fault: Option<Error>,
}

async fn gather(mut events: Events, mut room: usize) -> Gathered {
    let mut all = Vec::new();
    while let Some(batch) = events.next().await {
        let batch = match batch {
            Ok(batch) => batch,
            Err(fault) => return Gathered { events: all, fault: Some(fault) },
        };
        for event in batch {
            let left = room.checked_sub(weight::of(&event));
            all.push(event);
            // What is too large is the run's to refuse; here it is only not gathered further.
            let Some(left) = left else { return Gathered { events: all, fault: None } };
            room = left;
        }
    }
    Gathered { events: all, fault: None }
}

/// What is wrong with a gathered answer, and the text that is. Losses are told where the promise is not strict.
fn judge(promise: &Promise, events: &mut Vec<Event>) -> Option<(Box<str>, String)> {
    let mut said = Said::default();
    let mut losses = Vec::new();
    let mut broken = None;
    for event in &*events {
        said.record(event);
        if let Event::Finish(finish) = event
            && let Some(why) = said.broken(promise, finish)
        {
            if promise.strict {
                let text = said.answers.remove(&finish.choice).unwrap_or_default().text;
                broken = broken.or(Some((why, text)));
            } else {
                losses.push(Event::Loss(told(&why)));
            }
        }
    }
    events.extend(losses);
    broken
}

async fn kept(
    promise: Promise,
    events: Events,
    room: usize,
    again: Option<Again>,
) -> Vec<Result<Vec<Event>, Error>> {
    let mut first = gather(events, room).await;
    let broken = if first.fault.is_none() { judge(&promise, &mut first.events) } else { None };
    let Some((why, text)) = broken else { return shown(first) };
    // Of several answers the others are whole, and cannot be kept while one is asked for again.
    let Some(again) = again.filter(|again| again.sent.answers == 1) else { return vec![Err(failed(&why))] };
    let first_usage = usage(&first.events);
    let mut second = match once_more(again, &why, text).await {
        Ok(events) => gather(events, room).await,
        Err(fault) => return vec![Err(fault)],
    };
    if second.fault.is_none()
        && let Some((why, _)) = judge(&promise, &mut second.events)
    {
        return vec![Err(failed(&why))];
    }
    let mut spent = usage(&second.events).unwrap_or_default();
    if let Some(first) = first_usage {
        spent.add(&first);
        second.events.push(Event::Usage(spent));
    }
    let why = "the first answer did not match the schema and was asked for again";
    second.events.push(Event::Loss(Loss::emulate(FIELD, why)));
    shown(second)
}

fn shown(gathered: Gathered) -> Vec<Result<Vec<Event>, Error>> {
    let mut all = vec![Ok(gathered.events)];
    all.extend(gathered.fault.map(Err));
    all
}

fn usage(events: &[Event]) -> Option<Usage> {
    events.iter().rev().find_map(|event| match event {
        Event::Usage(usage) => Some(usage.clone()),
        _ => None,
    })
}

/// Asks again, with what is wrong.
async fn once_more(again: Again, why: &str, text: String) -> Result<Events, Error> {
    let Again { upstream, mut call, filters, sent, .. } = again;
    let mut turn = Turn::clone(&call.turn);
    if !text.is_empty() {
        turn.input.push(Item::message(Role::Assistant, text));
    }
    let told = format!(
        "This answer does not match the schema: {why}. Give the whole answer again so that it does, as JSON and \
         nothing else."
    );
    turn.input.push(Item::message(Role::User, told));
    call.turn = Arc::new(turn);
    let EventStream { events, .. } = upstream.call(call).await?;
    Ok(filters.over(events, sent))
}
