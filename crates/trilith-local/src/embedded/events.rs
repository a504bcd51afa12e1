//! The steps of an answer as events.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use trilith_core::{
    Begin, Call, CallKind, Error, Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus, Message,
    PartSpace, PartStart, Reasoning, Role, Usage,
};

use super::failure;
use super::tools::{INPUT_FIELD, Tools};
use crate::{Generation, Step};

/// The events of one answer. Dropping it stops the writing.
pub(super) struct Events {
    generation: Option<Generation>,
    answer: Answer,
    /// What is known before the next poll.
    ready: Vec<Event>,
    /// Reported after the events before it.
    fault: Option<Error>,
}

impl Events {
    /// An answer whose first step has come; `begin` is what is said of it before.
    pub(super) fn new(generation: Generation, mut answer: Answer, begin: Begin, first: Step) -> Self {
        let mut ready = vec![Event::Begin(Box::new(begin))];
        let ended = answer.step(first, &mut ready);
        let generation = if ended.is_none() { Some(generation) } else { None };
        Self { generation, answer, ready, fault: ended.and_then(Result::err) }
    }
}

impl Stream for Events {
    type Item = Result<Vec<Event>, Error>;

    /// Takes every step that is there, so that a reader who comes late gets one batch.
    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let mut pending = false;
        while let Some(generation) = &mut this.generation {
            match Pin::new(generation).poll_next(context) {
                Poll::Pending => {
                    pending = true;
                    break;
                }
                Poll::Ready(None) => this.generation = None,
                Poll::Ready(Some(step)) => {
                    if let Some(ended) = this.answer.step(step, &mut this.ready) {
                        this.generation = None;
                        this.fault = ended.err();
                    }
                }
            }
        }
        if !this.ready.is_empty() {
            return Poll::Ready(Some(Ok(std::mem::take(&mut this.ready))));
        }
        match this.fault.take() {
            Some(fault) => Poll::Ready(Some(Err(fault))),
            None if pending => Poll::Pending,
            None => Poll::Ready(None),
        }
    }
}

/// The item that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Reasoning,
}

/// Where an answer stands.
pub(super) struct Answer {
    tools: Tools,
    one_call: bool,
    next: u32,
    calls: u32,
    open: Open,
}

impl Answer {
    /// An answer that may call `tools`; of several calls only the first counts when `one_call` is set.
    pub(super) const fn new(tools: Tools, one_call: bool) -> Self {
        Self { tools, one_call, next: 0, calls: 0, open: Open::Nothing }
    }

    /// Appends the events of a step. Gives the outcome once the answer has ended.
    pub(super) fn step(&mut self, step: Step, events: &mut Vec<Event>) -> Option<Result<(), Error>> {
        match step {
            Step::Text(delta) => {
                let index = self.ensure(Open::Text, events);
                events.push(Event::TextDelta { index, part: 0, delta, logprobs: Vec::new() });
                None
            }
            Step::Reasoning(delta) => {
                let index = self.ensure(Open::Reasoning, events);
                events.push(Event::PartDelta { index, part: 0, space: PartSpace::Reasoning, delta });
                None
            }
            Step::ToolCall { name, arguments } => {
                self.close(ItemStatus::Completed, events);
                if !(self.one_call && self.calls > 0) {
                    self.call(&name, arguments, events);
                }
                None
            }
            Step::Done { reason, prompt_tokens, cached_tokens, output_tokens } => {
                let reason = self.reason(reason);
                self.end(&reason, events);
                events.push(Event::Usage(Usage {
                    input_total: prompt_tokens.into(),
                    cache_read: cached_tokens.into(),
                    output_total: output_tokens.into(),
                    ..Usage::default()
                }));
                events.push(Event::Finish(Finish { choice: 0, reason }));
                Some(Ok(()))
            }
            Step::Failed(error) => {
                self.close(ItemStatus::Incomplete, events);
                Some(Err(failure::of_request(error)))
            }
        }
    }

    const fn cut(reason: &FinishReason) -> bool {
        matches!(reason, FinishReason::Length | FinishReason::ContextWindow)
    }

    fn reason(&self, reason: crate::FinishReason) -> FinishReason {
        match reason {
            crate::FinishReason::Stop if self.calls > 0 => FinishReason::ToolCalls,
            crate::FinishReason::Stop => FinishReason::Stop,
            crate::FinishReason::StopString(stop) => FinishReason::StopString(Some(stop.into())),
            crate::FinishReason::Length => FinishReason::Length,
            crate::FinishReason::ContextFull => FinishReason::ContextWindow,
        }
    }

    /// Closes what is open. A model that says nothing has said an empty message: a conversation in which it
    /// had no turn would not be what happened.
    fn end(&mut self, reason: &FinishReason, events: &mut Vec<Event>) {
        if self.next == 0 {
            self.ensure(Open::Text, events);
        }
        let status = if Self::cut(reason) { ItemStatus::Incomplete } else { ItemStatus::Completed };
        self.close(status, events);
    }

    /// Makes sure that an item of that sort is open; gives its index.
    fn ensure(&mut self, wanted: Open, events: &mut Vec<Event>) -> u32 {
        if self.open != wanted {
            self.close(ItemStatus::Completed, events);
            let (body, start) = match wanted {
                Open::Reasoning => (ItemBody::Reasoning(Reasoning::default()), PartStart::Reasoning),
                Open::Text | Open::Nothing => {
                    let message =
                        Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None };
                    (ItemBody::Message(message), PartStart::Text)
                }
            };
            let index = self.add(body, events);
            events.push(Event::PartAdded { index, part: 0, start });
            self.open = wanted;
        }
        self.next.saturating_sub(1)
    }

    fn add(&mut self, body: ItemBody, events: &mut Vec<Event>) -> u32 {
        let index = self.next;
        self.next += 1;
        let item = Box::new(Item { status: Some(ItemStatus::InProgress), ..Item::new(body) });
        events.push(Event::ItemAdded { index, choice: 0, item });
        index
    }

    fn close(&mut self, status: ItemStatus, events: &mut Vec<Event>) {
        let space = match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => return,
            Open::Text => PartSpace::Content,
            Open::Reasoning => PartSpace::Reasoning,
        };
        let index = self.next.saturating_sub(1);
        events.push(Event::PartDone { index, part: 0, space });
        events.push(done(index, status));
    }

    fn call(&mut self, shown: &str, arguments: String, events: &mut Vec<Event>) {
        self.calls += 1;
        let (namespace, name, kind) = match self.tools.by_shown(shown) {
            Some(tool) => (tool.namespace.clone(), tool.name.clone(), tool.kind),
            None => (None, shown.into(), CallKind::Function),
        };
        let args = String::new();
        let call = Call { kind, call_id: None, name, namespace, args, caller: None, detail: None };
        let index = self.add(ItemBody::Call(call), events);
        let delta = if kind == CallKind::Custom { custom_input(arguments) } else { arguments };
        events.push(Event::ArgumentsDelta { index, delta });
        events.push(done(index, ItemStatus::Completed));
    }
}

const fn done(index: u32, status: ItemStatus) -> Event {
    Event::ItemDone { index, status, carriers: Vec::new(), detail: None, extra: Extra::EMPTY }
}

/// The free text inside the arguments of the function that stands for a custom tool. Small models leave the
/// object out or name its field otherwise; what they wrote is the input then.
fn custom_input(arguments: String) -> String {
    match serde_json::from_str(&arguments) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(serde_json::Value::Object(mut fields)) => match fields.remove(INPUT_FIELD) {
            Some(serde_json::Value::String(text)) => text,
            _ => arguments,
        },
        _ => arguments,
    }
}
