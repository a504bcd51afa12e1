//! Writes a client's stream (openai-checklist C11). What all chunks share is put together once, so that a delta
//! costs a few copies.

use trilith_core::{End, Event, ItemBody, Logprob, PartSpace, Response, Status, StreamOptions};

use crate::{
    Writer,
    choices::{BREAK, choices, created},
    chunks::{write_end, write_loss},
    completions::response::{self, logprobs},
    json::{Object, int},
    openai_usage,
    scan::write_string,
    spelling,
};

/// Writes a client's stream of chunks.
pub(in crate::completions) struct CompletionWriter {
    include_usage: bool,
    /// Every chunk up to the value of `choices`; empty until the first chunk.
    head: Vec<u8>,
    /// The choice of each item, for those that are messages.
    items: Vec<Option<u16>>,
    choices: Vec<Told>,
    /// The response ended; nothing more is written.
    ended: bool,
}

/// What a choice has said.
#[derive(Clone, Copy, Default)]
struct Told {
    /// The message that spoke last.
    speaker: Option<u32>,
    /// Characters written.
    characters: usize,
    /// Where the next token stands, in characters, once there was one.
    token: Option<usize>,
}

impl CompletionWriter {
    pub(in crate::completions) const fn new(options: StreamOptions) -> Self {
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
            object.string("object", "text_completion");
            object.int("created", created(response));
            object.string("model", &response.settings.model);
            object.optional_string("system_fingerprint", response.upstream.system_fingerprint.as_deref());
            object.key("choices");
            self.head = head;
        }
        &self.head
    }

    /// One chunk of one choice; `rest` writes the log-probabilities and the reason to end.
    fn chunk(
        &mut self,
        response: &Response,
        choice: u16,
        text: &str,
        out: &mut Vec<u8>,
        rest: impl FnOnce(&mut Vec<u8>),
    ) {
        out.extend_from_slice(self.head(response));
        out.extend_from_slice(b"[{\"text\":");
        write_string(out, text);
        out.extend_from_slice(b",\"index\":");
        int(out, choice);
        rest(out);
        out.extend_from_slice(b"}]");
        if self.include_usage {
            out.extend_from_slice(b",\"usage\":null");
        }
        out.extend_from_slice(b"}\n\n");
    }

    fn told(&mut self, choice: u16) -> &mut Told {
        let slot = usize::from(choice);
        if self.choices.len() <= slot {
            self.choices.resize(slot + 1, Told::default());
        }
        &mut self.choices[slot]
    }

    fn text(&mut self, index: u32, delta: &str, tokens: &[Logprob], response: &Response, out: &mut Vec<u8>) {
        let Some(choice) = self.items.get(index as usize).copied().flatten() else { return };
        let spoke = !delta.is_empty() && {
            let told = self.told(choice);
            told.speaker.replace(index).is_some_and(|speaker| speaker != index)
        };
        if spoke && response::stands_apart(response, index as usize) {
            self.told(choice).characters += BREAK.len();
            self.chunk(response, choice, BREAK, out, unfinished);
        }
        let told = self.told(choice);
        let at = told.token.unwrap_or(told.characters);
        told.characters += delta.chars().count();
        if tokens.is_empty() {
            if !delta.is_empty() {
                self.chunk(response, choice, delta, out, unfinished);
            }
            return;
        }
        let mut next = at;
        self.chunk(response, choice, delta, out, |out| {
            out.extend_from_slice(b",\"logprobs\":");
            next = logprobs::write(tokens.iter(), at, out);
            out.extend_from_slice(b",\"finish_reason\":null");
        });
        self.told(choice).token = Some(next);
    }

    fn end(&mut self, end: &End, response: &Response, out: &mut Vec<u8>) {
        self.ended = true;
        if matches!(end.status, Status::Completed | Status::Incomplete) {
            self.finish(response, out);
        }
        write_end(end, spelling::completions, out);
    }

    fn finish(&mut self, response: &Response, out: &mut Vec<u8>) {
        for choice in 0..choices(response) {
            let word = response::finish_word(response, choice);
            self.chunk(response, choice, "", out, |out| {
                out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":");
                write_string(out, word);
            });
        }
        if let Some(counts) = response.usage.as_ref().filter(|_| self.include_usage) {
            out.extend_from_slice(self.head(response));
            out.extend_from_slice(b"[],\"usage\":");
            openai_usage::write(counts, out);
            out.extend_from_slice(b"}\n\n");
        }
    }
}

fn unfinished(out: &mut Vec<u8>) {
    out.extend_from_slice(b",\"logprobs\":null,\"finish_reason\":null");
}

impl Writer for CompletionWriter {
    fn write(&mut self, event: &Event, response: &Response, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::ItemAdded { choice, item, .. } => {
                let message = matches!(item.body, ItemBody::Message(_));
                self.items.push(message.then_some(*choice));
            }
            Event::TextDelta { index, delta, logprobs, .. } => {
                self.text(*index, delta, logprobs, response, out);
            }
            // A refusal: a client of this wire knows no other place for the model's words.
            Event::PartDelta { index, space: PartSpace::Content, delta, .. } => {
                self.text(*index, delta, &[], response, out);
            }
            Event::Loss(loss) => write_loss(loss, spelling::completions, out),
            Event::End(end) => self.end(end, response, out),
            _ => {}
        }
    }
}
