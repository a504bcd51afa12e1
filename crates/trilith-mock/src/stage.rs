//! From a script's content to the events of an answer: what is open, which place it has, when it closes.

use std::collections::HashMap;

use trilith_core::{
    Annotation, AnnotationKind, Call, CallKind, Carrier, CarrierKind, Error, ErrorOrigin, Event, Extra,
    Finish, FinishReason, Item, ItemBody, ItemStatus, Json, Message, PartSpace, PartStart, Reasoning, Role,
    call_id, item_id,
};

use crate::script::{CallWord, Content, Failure};

/// What is open in one of the answers.
#[derive(Debug)]
struct Open {
    index: u32,
    /// The part that grows, and its list.
    part: Option<(u32, PartStart)>,
    /// Parts begun until now: content, reasoning, summary.
    begun: [u32; 3],
    reasoning: bool,
    carriers: Vec<Carrier>,
}

/// Builds the events of one answer.
#[derive(Debug)]
pub(crate) struct Stage {
    response: Box<str>,
    next: u32,
    choice: u16,
    open: HashMap<u16, Open>,
    labels: HashMap<String, (u32, bool)>,
    called: HashMap<u16, bool>,
    finished: Vec<u16>,
    /// Why it failed, once it did.
    pub(crate) failure: Option<Error>,
    events: Vec<Event>,
}

const SPACES: [PartSpace; 3] = [PartSpace::Content, PartSpace::Reasoning, PartSpace::Summary];

fn slot(space: PartSpace) -> usize {
    SPACES.iter().position(|known| *known == space).unwrap_or(0)
}

impl Stage {
    pub(crate) fn new(response: &str) -> Self {
        Self {
            response: response.into(),
            next: 0,
            choice: 0,
            open: HashMap::new(),
            labels: HashMap::new(),
            called: HashMap::from([(0, false)]),
            finished: Vec::new(),
            failure: None,
            events: Vec::new(),
        }
    }

    /// The events that this content makes.
    pub(crate) fn take(&mut self, content: &Content) -> Vec<Event> {
        match content {
            Content::Text { delta, logprobs } => {
                let (index, part) = self.part(PartStart::Text);
                let (delta, logprobs) = (delta.clone(), logprobs.clone());
                self.events.push(Event::TextDelta { index, part, delta, logprobs });
            }
            Content::Refusal(text) => self.append(PartStart::Refusal, text),
            Content::Reasoning(text) => self.append(PartStart::Reasoning, text),
            Content::Summary(text) => self.append(PartStart::Summary, text),
            Content::Sealed(data) => {
                self.item(true, None);
                if let Some(open) = self.open.get_mut(&self.choice) {
                    let kind = CarrierKind::Encrypted;
                    open.carriers.push(Carrier { kind, data: data.as_str().into(), origin: None });
                }
            }
            Content::NewMessage(phase) => {
                self.close_item(ItemStatus::Completed);
                self.item(false, *phase);
            }
            Content::NewReasoning => {
                self.close_item(ItemStatus::Completed);
                self.item(true, None);
            }
            Content::NewPart => self.close_part(),
            Content::Call(call, args) => {
                self.close_item(ItemStatus::Completed);
                let index = self.begin_call(call);
                self.events.push(Event::ArgumentsDelta { index, delta: args.clone() });
                self.done(index, ItemStatus::Completed, Vec::new(), None);
            }
            Content::Open(label, call) => {
                self.close_item(ItemStatus::Completed);
                let index = self.begin_call(call);
                self.labels.insert(label.clone(), (index, true));
            }
            Content::Arguments(label, text) => {
                if let Some((index, true)) = self.labels.get(label).copied() {
                    self.events.push(Event::ArgumentsDelta { index, delta: text.clone() });
                }
            }
            Content::Close(label) => {
                if let Some((index, open)) = self.labels.get_mut(label)
                    && std::mem::take(open)
                {
                    let index = *index;
                    self.done(index, ItemStatus::Completed, Vec::new(), None);
                }
            }
            Content::Cite { url, range, title } => self.cite(url, *range, title),
            Content::Audio { data, transcript } => self.audio(data, transcript),
            Content::Image(data) => self.image(data),
            Content::Choice(choice) => {
                self.choice = *choice;
                self.called.entry(*choice).or_default();
            }
            Content::Usage(usage) => self.events.push(Event::Usage(usage.clone())),
            Content::Finish(reason) => self.finish(reason.clone()),
            Content::Fail(failure) | Content::Error(failure) => self.fail(failure),
        }
        std::mem::take(&mut self.events)
    }

    /// Whatever is missing to an end in order: every answer finishes.
    pub(crate) fn wind_up(&mut self) -> Vec<Event> {
        let mut choices: Vec<u16> = self.called.keys().copied().collect();
        choices.sort_unstable();
        for choice in choices {
            if self.failure.is_none() && !self.finished.contains(&choice) {
                self.choice = choice;
                let called = self.called.get(&choice).copied().unwrap_or_default();
                self.finish(if called { FinishReason::ToolCalls } else { FinishReason::Stop });
            }
        }
        std::mem::take(&mut self.events)
    }

    fn append(&mut self, start: PartStart, text: &str) {
        let (index, part) = self.part(start);
        self.events.push(Event::PartDelta { index, part, space: start.space(), delta: text.to_owned() });
    }

    /// The open item of this answer, of that sort; begins one where there is none.
    fn item(&mut self, reasoning: bool, phase: Option<trilith_core::Phase>) {
        if self.open.get(&self.choice).is_some_and(|open| open.reasoning == reasoning) {
            return;
        }
        self.close_item(ItemStatus::Completed);
        let body = if reasoning {
            ItemBody::Reasoning(Reasoning::default())
        } else {
            ItemBody::Message(Message { role: Role::Assistant, parts: Vec::new(), phase, name: None })
        };
        let index = self.begin(body);
        let open = Open { index, part: None, begun: [0; 3], reasoning, carriers: Vec::new() };
        self.open.insert(self.choice, open);
    }

    /// The open part of that sort; begins one where there is none.
    fn part(&mut self, start: PartStart) -> (u32, u32) {
        self.item(start.space() != PartSpace::Content, None);
        let grows = self.open.get(&self.choice).and_then(|open| open.part);
        if !grows.is_some_and(|(_, known)| known == start) {
            self.close_part();
        }
        let Some(open) = self.open.get_mut(&self.choice) else { return (0, 0) };
        if let Some((part, _)) = open.part {
            return (open.index, part);
        }
        let begun = &mut open.begun[slot(start.space())];
        let (index, part) = (open.index, *begun);
        *begun += 1;
        open.part = Some((part, start));
        self.events.push(Event::PartAdded { index, part, start });
        (index, part)
    }

    fn close_part(&mut self) {
        if let Some(open) = self.open.get_mut(&self.choice)
            && let Some((part, start)) = open.part.take()
        {
            self.events.push(Event::PartDone { index: open.index, part, space: start.space() });
        }
    }

    fn close_item(&mut self, status: ItemStatus) {
        self.close_part();
        if let Some(open) = self.open.remove(&self.choice) {
            self.done(open.index, status, open.carriers, None);
        }
    }

    fn begin(&mut self, body: ItemBody) -> u32 {
        let index = self.next;
        self.next += 1;
        let mut item = Item::new(body);
        item.id = Some(item_id(&self.response, &item.body, index));
        item.status = Some(ItemStatus::InProgress);
        self.events.push(Event::ItemAdded { index, choice: self.choice, item: Box::new(item) });
        index
    }

    fn begin_call(&mut self, word: &CallWord) -> u32 {
        self.called.insert(self.choice, true);
        let id = word.id.as_deref().map_or_else(|| call_id(&self.response, self.next), Into::into);
        self.begin(ItemBody::Call(Call {
            kind: if word.custom { CallKind::Custom } else { CallKind::Function },
            call_id: Some(id),
            name: word.name.as_str().into(),
            namespace: word.namespace.as_deref().map(Into::into),
            args: String::new(),
            caller: None,
            detail: None,
        }))
    }

    fn done(&mut self, index: u32, status: ItemStatus, carriers: Vec<Carrier>, detail: Option<Json>) {
        self.events.push(Event::ItemDone { index, status, carriers, detail, extra: Extra::EMPTY });
    }

    fn cite(&mut self, url: &str, range: Option<(u32, u32)>, title: &str) {
        let (index, part) = self.part(PartStart::Text);
        let annotation = Annotation {
            kind: AnnotationKind::Url { url: url.into(), title: title.into() },
            start: range.map(|(start, _)| start),
            end: range.map(|(_, end)| end),
            index: None,
            extra: Extra::EMPTY,
        };
        self.events.push(Event::AnnotationAdded { index, part, annotation });
    }

    fn audio(&mut self, data: &str, transcript: &str) {
        let (index, part) = self.part(PartStart::Audio);
        self.events.push(Event::AudioDelta {
            index,
            part,
            id: Some(format!("audio_{index}_{part}").into()),
            data: data.to_owned(),
            transcript: transcript.to_owned(),
            expires_at: None,
        });
    }

    /// An image made by the server: one hosted call whose final fields hold it.
    fn image(&mut self, data: &str) {
        self.close_item(ItemStatus::Completed);
        let detail = |result: Option<&str>| {
            Some(Json::from_checked(serde_json::json!({ "result": result }).to_string()))
        };
        let index = self.begin(ItemBody::Call(Call {
            kind: CallKind::ImageGeneration,
            call_id: None,
            name: "".into(),
            namespace: None,
            args: String::new(),
            caller: None,
            detail: detail(None),
        }));
        for stage in [
            trilith_core::ToolStage::InProgress,
            trilith_core::ToolStage::Generating,
            trilith_core::ToolStage::Completed,
        ] {
            self.events.push(Event::ToolProgress { index, stage });
        }
        self.done(index, ItemStatus::Completed, Vec::new(), detail(Some(data)));
    }

    fn finish(&mut self, reason: FinishReason) {
        let cut = matches!(reason, FinishReason::Length | FinishReason::ContentFilter);
        let status = if cut { ItemStatus::Incomplete } else { ItemStatus::Completed };
        self.close_item(status);
        self.close_calls(status);
        self.finished.push(self.choice);
        self.events.push(Event::Finish(Finish { choice: self.choice, reason }));
    }

    fn fail(&mut self, failure: &Failure) {
        let mut choices: Vec<u16> = self.open.keys().copied().collect();
        choices.sort_unstable();
        for choice in choices {
            self.choice = choice;
            self.close_item(ItemStatus::Incomplete);
        }
        self.close_calls(ItemStatus::Incomplete);
        self.failure = Some(error(failure));
    }

    fn close_calls(&mut self, status: ItemStatus) {
        let mut open: Vec<u32> = self
            .labels
            .values_mut()
            .filter_map(|(index, open)| std::mem::take(open).then_some(*index))
            .collect();
        open.sort_unstable();
        for index in open {
            self.done(index, status, Vec::new(), None);
        }
    }
}

/// The error that a script's failure stands for.
fn error(failure: &Failure) -> Error {
    Error::new(failure.kind(), ErrorOrigin::Upstream, failure.message.clone()).with_code(failure.code.clone())
}
