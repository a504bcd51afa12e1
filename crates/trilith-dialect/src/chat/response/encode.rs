//! A whole answer for a client (openai-checklist §3.2).

use trilith_core::{CallKind, DialectId, Item, ItemBody, Logprob, OutputItem, PartKind, Reasoning, Response};

use super::{
    carriers,
    pieces::{has_form, write_annotation},
    shown::{answer_id, finish_word, is_visible_call, stands_apart},
    usage,
};
use crate::{
    chat::json::{List, Object},
    choices::{BREAK, choices, created},
    logprobs::write_logprobs,
};

pub(in crate::chat) fn encode(response: &Response, out: &mut Vec<u8>) {
    let mut object = Object::new(out);
    object.string("id", &answer_id(response));
    object.string("object", "chat.completion");
    object.int("created", created(response));
    object.string("model", &response.settings.model);
    let mut list = object.list("choices");
    for choice in 0..choices(response) {
        write_choice(response, choice, &mut list);
    }
    list.end();
    if let Some(counts) = &response.usage {
        usage::write(counts, object.key("usage"));
    }
    object.optional_string("service_tier", response.upstream.service_tier.as_deref());
    object.optional_string("system_fingerprint", response.upstream.system_fingerprint.as_deref());
    if let Some(pairs) = response.settings.metadata.as_ref().filter(|pairs| !pairs.is_empty()) {
        let mut metadata = object.object("metadata");
        for (key, value) in pairs {
            metadata.string(key, value);
        }
        metadata.end();
    }
    for field in response.upstream.extra.of(DialectId::Chat) {
        object.json(&field.name, &field.value);
    }
    object.end();
}

/// What a choice said, gathered from its items.
#[derive(Default)]
struct Said<'r> {
    text: Option<String>,
    /// The next text is of another message than the text so far.
    apart: bool,
    refusal: Option<String>,
    reasoning: Vec<&'r Reasoning>,
    logprobs: Vec<&'r Logprob>,
    annotations: Vec<&'r trilith_core::Annotation>,
    audio: Option<&'r trilith_core::Audio>,
    calls: Vec<&'r Item>,
}

impl<'r> Said<'r> {
    fn of(response: &'r Response, choice: u16) -> Self {
        let mut said = Self::default();
        let own = response.output.iter().enumerate().filter(|(_, output)| output.choice == choice);
        for (index, OutputItem { item, .. }) in own {
            match &item.body {
                ItemBody::Message(message) => {
                    let spoke = said.text.as_ref().is_some_and(|text| !text.is_empty());
                    said.apart = spoke && stands_apart(response, index);
                    message.parts.iter().for_each(|part| said.part(&part.kind));
                }
                ItemBody::Reasoning(reasoning) => said.reasoning.push(reasoning),
                ItemBody::Call(_) if is_visible_call(item) => said.calls.push(item),
                _ => {}
            }
        }
        said
    }

    fn part(&mut self, kind: &'r PartKind) {
        match kind {
            PartKind::Text(text) => {
                let said = self.text.get_or_insert_default();
                if !text.text.is_empty() && std::mem::take(&mut self.apart) {
                    said.push_str(BREAK);
                }
                said.push_str(&text.text);
                self.logprobs.extend(&text.logprobs);
                self.annotations.extend(text.annotations.iter().filter(|annotation| has_form(annotation)));
            }
            PartKind::Refusal(refusal) => self.refusal.get_or_insert_default().push_str(refusal),
            PartKind::Audio(audio) => self.audio = Some(audio),
            _ => {}
        }
    }
}

fn write_choice(response: &Response, choice: u16, list: &mut List<'_>) {
    let said = Said::of(response, choice);
    let mut object = list.object();
    object.int("index", choice);
    let mut message = object.object("message");
    message.string("role", "assistant");
    match &said.text {
        Some(text) if !text.is_empty() || said.calls.is_empty() => message.string("content", text),
        None if said.calls.is_empty() && said.refusal.is_none() && said.audio.is_none() => {
            message.string("content", "");
        }
        _ => message.null("content"),
    }
    match &said.refusal {
        Some(refusal) => message.string("refusal", refusal),
        None => message.null("refusal"),
    }
    write_reasoning(&said.reasoning, &mut message);
    let mut annotations = message.list("annotations");
    for annotation in &said.annotations {
        write_annotation(annotation, annotations.item());
    }
    annotations.end();
    if let Some(audio) = said.audio {
        write_audio(audio, &mut message);
    }
    if !said.calls.is_empty() {
        let mut calls = message.list("tool_calls");
        for item in &said.calls {
            let mut entry = calls.object();
            write_call(item, None, &mut entry);
            entry.end();
        }
        calls.end();
    }
    message.end();
    if said.logprobs.is_empty() {
        object.null("logprobs");
    } else {
        let mut logprobs = object.object("logprobs");
        write_logprobs(said.logprobs.iter().copied(), logprobs.key("content"));
        logprobs.null("refusal");
        logprobs.end();
    }
    object.string("finish_reason", finish_word(response, choice));
    object.end();
}

/// Both spellings: clients of vLLM, Ollama and OpenRouter read the shorter one.
fn write_reasoning(list: &[&Reasoning], out: &mut Object<'_>) {
    let texts = list.iter().flat_map(|reasoning| reasoning.summary.iter().chain(&reasoning.text));
    let texts: Vec<&str> = texts.map(String::as_str).collect();
    if !texts.is_empty() {
        let text = texts.join(BREAK);
        out.string("reasoning_content", &text);
        out.string("reasoning", &text);
    }
    let mut carriers = list.iter().flat_map(|reasoning| &reasoning.carriers).peekable();
    if carriers.peek().is_some() {
        let mut details = out.list("reasoning_details");
        for carrier in carriers {
            carriers::write(carrier, details.item());
        }
        details.end();
    }
}

fn write_audio(audio: &trilith_core::Audio, out: &mut Object<'_>) {
    let mut object = out.object("audio");
    object.string("id", audio.id.as_deref().unwrap_or_default());
    object.string("data", &audio.base64);
    object.int("expires_at", audio.expires_at.unwrap_or(0));
    object.string("transcript", audio.transcript.as_deref().unwrap_or_default());
    object.end();
}

/// The members of a call. In a stream it opens with its place among the calls and without arguments.
pub(in crate::chat) fn write_call(item: &Item, place: Option<u32>, out: &mut Object<'_>) {
    let ItemBody::Call(call) = &item.body else { return };
    if let Some(place) = place {
        out.int("index", place);
    }
    out.string("id", call.call_id.as_deref().unwrap_or_default());
    let (kind, args) =
        if call.kind == CallKind::Custom { ("custom", "input") } else { ("function", "arguments") };
    out.string("type", kind);
    let mut called = out.object(kind);
    match &call.namespace {
        Some(namespace) => called.string("name", &format!("{namespace}__{}", call.name)),
        None => called.string("name", &call.name),
    }
    // Arguments that are empty stand for none (translation contract, invariant 1).
    let none = place.is_none() && call.kind == CallKind::Function && call.args.trim().is_empty();
    let text = if none { "{}" } else { &call.args };
    called.string(args, if place.is_some() { "" } else { text });
    called.end();
    for field in item.extra.of(DialectId::Chat) {
        out.json(&field.name, &field.value);
    }
}
