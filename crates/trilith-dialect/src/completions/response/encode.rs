//! A whole answer for a client (openai-checklist C8).

use trilith_core::{ItemBody, Logprob, PartKind, Response};

use super::{
    logprobs,
    shown::{answer_id, finish_word, stands_apart},
};
use crate::{
    choices::{BREAK, choices, created},
    json::{List, Object},
    openai_usage,
};

pub(in crate::completions) fn encode(response: &Response, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.string("id", &answer_id(response));
    object.string("object", "text_completion");
    object.int("created", created(response));
    object.string("model", &response.settings.model);
    let mut list = object.list("choices");
    for choice in 0..choices(response) {
        write_choice(response, choice, &mut list);
    }
    list.end();
    if let Some(counts) = &response.usage {
        openai_usage::write(counts, object.key("usage"));
    }
    object.optional_string("system_fingerprint", response.upstream.system_fingerprint.as_deref());
    object.end();
}

/// What a choice said, gathered from its items.
#[derive(Default)]
struct Said<'r> {
    text: String,
    /// The next text is of another message than the text so far.
    apart: bool,
    logprobs: Vec<&'r Logprob>,
    /// Where the first token stands, in characters.
    at: usize,
}

impl<'r> Said<'r> {
    fn of(response: &'r Response, choice: u16) -> Self {
        let mut said = Self::default();
        for (index, output) in response.output.iter().enumerate() {
            let ItemBody::Message(message) = &output.item.body else { continue };
            if output.choice == choice {
                said.apart = !said.text.is_empty() && stands_apart(response, index);
                message.parts.iter().for_each(|part| said.part(&part.kind));
            }
        }
        said
    }

    fn part(&mut self, kind: &'r PartKind) {
        match kind {
            PartKind::Text(text) => {
                self.say(&text.text, text.logprobs.is_empty());
                self.logprobs.extend(&text.logprobs);
            }
            // A client of this wire knows no other place for the model's words.
            PartKind::Refusal(refusal) => self.say(refusal, true),
            _ => {}
        }
    }

    fn say(&mut self, text: &str, untold: bool) {
        if !text.is_empty() && std::mem::take(&mut self.apart) {
            self.text.push_str(BREAK);
        }
        if self.logprobs.is_empty() && !untold {
            self.at = self.text.chars().count();
        }
        self.text.push_str(text);
    }
}

fn write_choice(response: &Response, choice: u16, list: &mut List<'_>) {
    let said = Said::of(response, choice);
    let mut object = list.object();
    object.string("text", &said.text);
    object.int("index", choice);
    if said.logprobs.is_empty() {
        object.null("logprobs");
    } else {
        logprobs::write(said.logprobs.iter().copied(), said.at, object.key("logprobs"));
    }
    object.string("finish_reason", finish_word(response, choice));
    object.end();
}
