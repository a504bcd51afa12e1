//! Writes a client's stream (openai-checklist §3.3). What all chunks share is put together once, so that a
//! delta costs a few copies.

use trilith_core::{
    CallKind, DialectId, End, Event, Extra, Item, ItemBody, ItemStatus, Json, Logprob, PartSpace, Response,
    Status, StreamOptions,
};

use crate::{
    Writer,
    chat::{
        json::{List, Object, int},
        response::{self, carriers, pieces, shared},
    },
    chunks::{write_end, write_loss},
    logprobs::write_logprobs,
    scan::write_string,
    spelling,
};

/// Writes a client's stream of chunks.
pub(in crate::chat) struct ChatWriter {
    include_usage: bool,
    /// Every chunk up to the value of `choices`; empty until the first chunk.
    head: Vec<u8>,
    items: Vec<Slot>,
    choices: Vec<Begun>,
    /// The response ended; nothing more is written.
    ended: bool,
}

/// What an item is to this stream.
#[derive(Clone, Copy)]
enum Slot {
    /// A message.
    Message { choice: u16 },
    /// Reasoning; whether any of its text was written.
    Reasoning { choice: u16, started: bool },
    /// A call and its place among the calls of its choice.
    Call { choice: u16, place: u32, custom: bool },
    /// Nothing that this dialect can show.
    Hidden,
}

#[derive(Clone, Copy, Default)]
struct Begun {
    role: bool,
    calls: u32,
    /// The message that spoke last.
    speaker: Option<u32>,
}

impl ChatWriter {
    pub(in crate::chat) fn new(options: StreamOptions) -> Self {
        Self {
            include_usage: options.include_usage,
            head: Vec::new(),
            items: Vec::new(),
            choices: Vec::new(),
            ended: false,
        }
    }

    fn head(&mut self, response: &Response) -> &[u8] {
        if self.head.is_empty() {
            let mut head = b"data: ".to_vec();
            let mut object = Object::new(&mut head);
            object.string("id", &response::answer_id(response));
            object.string("object", "chat.completion.chunk");
            object.int("created", shared::created(response));
            object.string("model", &response.settings.model);
            object.optional_string("service_tier", response.upstream.service_tier.as_deref());
            object.optional_string("system_fingerprint", response.upstream.system_fingerprint.as_deref());
            object.key("choices");
            self.head = head;
        }
        &self.head
    }

    /// One chunk of one choice. `delta` writes the value of `delta`, `rest` what follows it.
    fn chunk(
        &mut self,
        response: &Response,
        choice: u16,
        out: &mut Vec<u8>,
        delta: impl FnOnce(&mut Vec<u8>),
        rest: impl FnOnce(&mut Vec<u8>),
    ) {
        out.extend_from_slice(self.head(response));
        out.extend_from_slice(b"[{\"index\":");
        int(out, choice);
        out.extend_from_slice(b",\"delta\":");
        delta(out);
        rest(out);
        out.extend_from_slice(b"}]");
        self.tail(out);
    }

    fn tail(&self, out: &mut Vec<u8>) {
        if self.include_usage {
            out.extend_from_slice(b",\"usage\":null");
        }
        out.extend_from_slice(b"}\n\n");
    }

    /// A chunk whose delta is one member.
    fn member(
        &mut self,
        response: &Response,
        choice: u16,
        name: &[u8],
        out: &mut Vec<u8>,
        value: impl FnOnce(&mut Vec<u8>),
    ) {
        let delta = |out: &mut Vec<u8>| {
            out.extend_from_slice(b"{\"");
            out.extend_from_slice(name);
            out.extend_from_slice(b"\":");
            value(out);
            out.push(b'}');
        };
        self.chunk(response, choice, out, delta, unfinished);
    }

    /// The first chunk of a choice, written once.
    fn role(&mut self, response: &Response, choice: u16, out: &mut Vec<u8>) {
        let slot = usize::from(choice);
        if self.choices.len() <= slot {
            self.choices.resize(slot + 1, Begun::default());
        }
        let Some(begun) = self.choices.get_mut(slot).filter(|begun| !begun.role) else { return };
        begun.role = true;
        let delta: &[u8] = br#"{"role":"assistant","content":"","refusal":null}"#;
        self.chunk(response, choice, out, |out| out.extend_from_slice(delta), unfinished);
    }

    /// The place of a new call among those of its choice.
    fn next_call(&mut self, choice: u16) -> u32 {
        let Some(begun) = self.choices.get_mut(usize::from(choice)) else { return 0 };
        let place = begun.calls;
        begun.calls = place.saturating_add(1);
        place
    }

    fn added(&mut self, choice: u16, item: &Item, response: &Response, out: &mut Vec<u8>) {
        let slot = match &item.body {
            ItemBody::Message(_) => Slot::Message { choice },
            ItemBody::Reasoning(_) => Slot::Reasoning { choice, started: false },
            ItemBody::Call(call) if matches!(call.kind, CallKind::Function | CallKind::Custom) => {
                self.role(response, choice, out);
                let place = self.next_call(choice);
                self.member(response, choice, b"tool_calls", out, |out| {
                    let mut list = List::new(out);
                    let mut entry = list.object();
                    shared::write_call(item, Some(place), &mut entry);
                    entry.end();
                    list.end();
                });
                Slot::Call { choice, place, custom: call.kind == CallKind::Custom }
            }
            _ => Slot::Hidden,
        };
        if !matches!(slot, Slot::Hidden) {
            self.role(response, choice, out);
        }
        self.items.push(slot);
    }

    fn slot(&self, index: u32) -> Slot {
        self.items.get(index as usize).copied().unwrap_or(Slot::Hidden)
    }

    fn text(
        &mut self,
        index: u32,
        delta: &str,
        logprobs: &[Logprob],
        response: &Response,
        out: &mut Vec<u8>,
    ) {
        let Slot::Message { choice } = self.slot(index) else { return };
        if !delta.is_empty()
            && let Some(begun) = self.choices.get_mut(usize::from(choice))
            && begun.speaker.replace(index).is_some_and(|speaker| speaker != index)
            && response::stands_apart(response, index as usize)
        {
            self.member(response, choice, b"content", out, |out| write_string(out, shared::BREAK));
        }
        if logprobs.is_empty() {
            if !delta.is_empty() {
                self.member(response, choice, b"content", out, |out| write_string(out, delta));
            }
            return;
        }
        let said = |out: &mut Vec<u8>| {
            out.extend_from_slice(b"{\"content\":");
            write_string(out, delta);
            out.push(b'}');
        };
        self.chunk(response, choice, out, said, |out| {
            out.extend_from_slice(b",\"logprobs\":{\"content\":");
            write_logprobs(logprobs, out);
            out.extend_from_slice(b",\"refusal\":null},\"finish_reason\":null");
        });
    }

    fn part(&mut self, index: u32, space: PartSpace, delta: &str, response: &Response, out: &mut Vec<u8>) {
        match (self.slot(index), space) {
            (Slot::Reasoning { .. }, PartSpace::Reasoning | PartSpace::Summary) => {
                self.reasoning(index, delta, response, out);
            }
            (Slot::Message { choice }, PartSpace::Content) => {
                self.member(response, choice, b"refusal", out, |out| write_string(out, delta));
            }
            _ => {}
        }
    }

    /// Both spellings: clients of vLLM, Ollama and OpenRouter read the shorter one.
    fn reasoning(&mut self, index: u32, delta: &str, response: &Response, out: &mut Vec<u8>) {
        let Some(Slot::Reasoning { choice, started }) = self.items.get_mut(index as usize) else { return };
        *started = true;
        let choice = *choice;
        let delta = |out: &mut Vec<u8>| {
            out.extend_from_slice(b"{\"reasoning_content\":");
            let start = out.len();
            write_string(out, delta);
            let end = out.len();
            out.extend_from_slice(b",\"reasoning\":");
            out.extend_from_within(start..end);
            out.push(b'}');
        };
        self.chunk(response, choice, out, delta, unfinished);
    }

    fn arguments(&mut self, index: u32, delta: &str, response: &Response, out: &mut Vec<u8>) {
        let Slot::Call { choice, place, custom } = self.slot(index) else { return };
        self.member(response, choice, b"tool_calls", out, |out| {
            out.extend_from_slice(b"[{\"index\":");
            int(out, place);
            out.extend_from_slice(if custom {
                b",\"custom\":{\"input\":"
            } else {
                b",\"function\":{\"arguments\":"
            });
            write_string(out, delta);
            out.extend_from_slice(b"}}]");
        });
    }

    fn done(
        &mut self,
        index: u32,
        status: ItemStatus,
        extra: &Extra,
        response: &Response,
        out: &mut Vec<u8>,
    ) {
        let item = response.output.get(index as usize).map(|output| &output.item);
        match (self.slot(index), item.map(|item| &item.body)) {
            (Slot::Reasoning { choice, .. }, Some(ItemBody::Reasoning(reasoning)))
                if !reasoning.carriers.is_empty() =>
            {
                self.member(response, choice, b"reasoning_details", out, |out| {
                    let mut list = List::new(out);
                    for carrier in &reasoning.carriers {
                        carriers::write(carrier, list.item());
                    }
                    list.end();
                });
            }
            (Slot::Call { choice, place, custom }, Some(ItemBody::Call(call))) => {
                let none = !custom && call.args.trim().is_empty() && status == ItemStatus::Completed;
                if none {
                    self.arguments(index, "{}", response, out);
                }
                if extra.of(DialectId::Chat).next().is_some() {
                    self.member(response, choice, b"tool_calls", out, |out| {
                        let mut list = List::new(out);
                        let mut entry = list.object();
                        entry.int("index", place);
                        for field in extra.of(DialectId::Chat) {
                            entry.json(&field.name, &field.value);
                        }
                        entry.end();
                        list.end();
                    });
                }
            }
            _ => {}
        }
    }

    fn audio(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>) {
        let Event::AudioDelta { index, id, data, transcript, expires_at, .. } = event else { return };
        let Slot::Message { choice } = self.slot(*index) else { return };
        self.member(response, choice, b"audio", out, |out| {
            let mut object = Object::new(out);
            object.optional_string("id", id.as_deref());
            object.optional_string("data", Some(data.as_str()).filter(|data| !data.is_empty()));
            object.optional_string("transcript", Some(transcript.as_str()).filter(|words| !words.is_empty()));
            if let Some(at) = expires_at {
                object.int("expires_at", *at);
            }
            object.end();
        });
    }

    /// A chunk of a thing that belongs to no choice.
    fn detail(&mut self, json: &Json, response: &Response, out: &mut Vec<u8>) {
        let members = json.as_str().trim().strip_prefix('{').and_then(|inner| inner.strip_suffix('}'));
        let Some(members) = members.map(str::trim).filter(|members| !members.is_empty()) else { return };
        out.extend_from_slice(self.head(response));
        out.extend_from_slice(b"[],");
        out.extend_from_slice(members.as_bytes());
        self.tail(out);
    }

    fn end(&mut self, end: &End, response: &Response, out: &mut Vec<u8>) {
        self.ended = true;
        if matches!(end.status, Status::Completed | Status::Incomplete) {
            self.finish(response, out);
        }
        write_end(end, spelling::chat, out);
    }

    fn finish(&mut self, response: &Response, out: &mut Vec<u8>) {
        for choice in 0..shared::choices(response) {
            self.role(response, choice, out);
            let word = response::finish_word(response, choice);
            self.chunk(
                response,
                choice,
                out,
                |out| out.extend_from_slice(b"{}"),
                |out| {
                    out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":");
                    write_string(out, word);
                },
            );
        }
        if let Some(counts) = response.usage.as_ref().filter(|_| self.include_usage) {
            out.extend_from_slice(self.head(response));
            out.extend_from_slice(b"[],\"usage\":");
            response::usage::write(counts, out);
            out.extend_from_slice(b"}\n\n");
        }
    }
}

fn unfinished(out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null");
}

impl Writer for ChatWriter {
    fn write(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::ItemAdded { choice, item, .. } => self.added(*choice, item, response, out),
            Event::TextDelta { index, delta, logprobs, .. } => {
                self.text(*index, delta, logprobs, response, out)
            }
            Event::PartAdded { index, .. } => {
                if let Slot::Reasoning { started: true, .. } = self.slot(*index) {
                    self.reasoning(*index, shared::BREAK, response, out);
                }
            }
            Event::PartDelta { index, space, delta, .. } if !delta.is_empty() => {
                self.part(*index, *space, delta, response, out);
            }
            Event::ArgumentsDelta { index, delta } if !delta.is_empty() => {
                self.arguments(*index, delta, response, out);
            }
            Event::AudioDelta { .. } => self.audio(event, response, out),
            Event::AnnotationAdded { index, annotation, .. } if pieces::has_form(annotation) => {
                let Slot::Message { choice } = self.slot(*index) else { return };
                self.member(response, choice, b"annotations", out, |out| {
                    let mut list = List::new(out);
                    pieces::write_annotation(annotation, list.item());
                    list.end();
                });
            }
            Event::ItemDone { index, status, extra, .. } => self.done(*index, *status, extra, response, out),
            Event::Detail { dialect: DialectId::Chat, json, .. } => self.detail(json, response, out),
            Event::Loss(loss) => write_loss(loss, spelling::chat, out),
            Event::End(end) => self.end(end, response, out),
            Event::Created(_)
            | Event::Status(_)
            | Event::Begin(_)
            | Event::PartDelta { .. }
            | Event::ArgumentsDelta { .. }
            | Event::AnnotationAdded { .. }
            | Event::PartDone { .. }
            | Event::ToolProgress { .. }
            | Event::Detail { .. }
            | Event::Usage(_)
            | Event::Finish(_) => {}
        }
    }
}
