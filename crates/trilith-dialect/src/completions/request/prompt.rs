//! Prompts, both ways. A prompt is one user message: a text, or token ids in a part of this dialect's own. No item
//! at all is the start of a document.

use std::borrow::Cow;

use trilith_core::{Error, Item, ItemBody, Json, Loss, Message, Part, PartKind, Role};

use super::{
    encode::{Encoder, unsayable},
    wire::{MAX_ANSWERS, Prompts},
};
use crate::{
    completions::OWN,
    json::{List, Object, int},
    object::invalid,
    scan::write_string,
};

/// The prompts of a request, each as items; there is at least one.
///
/// # Errors
/// With `n` answers to each there are more answers than a request may ask for.
pub(super) fn decode(prompts: Option<Prompts>, n: u32) -> Result<Vec<Vec<Item>>, Error> {
    let prompts: Vec<Vec<Item>> = match prompts {
        None => vec![Vec::new()],
        Some(Prompts::Texts(texts)) => texts.into_iter().map(|text| vec![prompt(Part::text(text))]).collect(),
        Some(Prompts::Tokens(lists)) => lists.iter().map(|ids| vec![prompt(tokens(ids))]).collect(),
    };
    let answers = prompts.len().saturating_mul(n.max(1) as usize);
    if answers > MAX_ANSWERS {
        let text =
            format!("Invalid 'prompt': expected at most {MAX_ANSWERS} answers, got {answers} ('n' to each).");
        return Err(invalid("prompt", text));
    }
    Ok(prompts)
}

fn prompt(part: Part) -> Item {
    Item::new(ItemBody::Message(Message { role: Role::User, parts: vec![part], phase: None, name: None }))
}

fn tokens(ids: &[u32]) -> Part {
    let mut text = Vec::new();
    let mut list = List::new(&mut text);
    ids.iter().for_each(|id| int(list.item(), *id));
    list.end();
    let json = Json::from_checked(String::from_utf8_lossy(&text).into_owned());
    Part::new(PartKind::Opaque { dialect: OWN, json })
}

/// A prompt as it is sent.
enum Sent<'t> {
    Text(Cow<'t, str>),
    Tokens(&'t Json),
    /// The start of a document.
    Nothing,
}

/// Writes the field, as one value where there is one prompt.
///
/// # Errors
/// The turn is a conversation that says more than one plain text of its user.
pub(super) fn write(encoder: &mut Encoder<'_>, out: &mut Object<'_>) -> Result<(), Error> {
    let turn = encoder.turn;
    let Some(completion) = &turn.completion else {
        let text = lone_text(encoder, &turn.input)?;
        encoder.losses.push(Loss::emulate(
            "input",
            "sent as a prompt, which the model continues, without a chat template",
        ));
        out.string("prompt", &text);
        return Ok(());
    };
    let first = own(encoder, &turn.input)?;
    if completion.more_prompts.is_empty() {
        value(&first, out.key("prompt"));
        return Ok(());
    }
    let mut list = out.list("prompt");
    value(&first, list.item());
    for items in &completion.more_prompts {
        value(&own(encoder, items)?, list.item());
    }
    list.end();
    Ok(())
}

fn value(prompt: &Sent<'_>, out: &mut Vec<u8>) {
    match prompt {
        Sent::Text(text) => write_string(out, text),
        Sent::Tokens(ids) => out.extend_from_slice(ids.as_str().as_bytes()),
        Sent::Nothing => out.extend_from_slice(b"null"),
    }
}

/// A prompt of a client of this dialect.
fn own<'t>(encoder: &mut Encoder<'_>, items: &'t [Item]) -> Result<Sent<'t>, Error> {
    match items {
        [] => Ok(Sent::Nothing),
        [Item { body: ItemBody::Message(message), .. }] => match message.parts.as_slice() {
            [Part { kind: PartKind::Opaque { dialect, json }, .. }] if *dialect == OWN => {
                Ok(Sent::Tokens(json))
            }
            _ => lone_text(encoder, items).map(Sent::Text),
        },
        items => lone_text(encoder, items).map(Sent::Text),
    }
}

/// The one text of a conversation that is nothing but a message of its user.
fn lone_text<'t>(encoder: &mut Encoder<'_>, items: &'t [Item]) -> Result<Cow<'t, str>, Error> {
    let [Item { body: ItemBody::Message(message @ Message { role: Role::User, .. }), extra, .. }] = items
    else {
        let stray = items.iter().position(|item| !is_user(item)).unwrap_or(usize::from(items.len() > 1));
        let what = items.get(stray).map_or("nothing", |item| kind(&item.body));
        return Err(unsayable(&format!("input[{stray}]"), what));
    };
    encoder.foreign("input[0]", extra);
    if message.name.is_some() {
        encoder.warn_once("input[0].name", "Completions has no names of speakers");
    }
    let mut texts = Vec::with_capacity(1);
    for (place, part) in message.parts.iter().enumerate() {
        let at = format!("input[0].content[{place}]");
        let PartKind::Text(text) = &part.kind else {
            return Err(unsayable(&at, &format!("a part of type {}", part.kind.name())));
        };
        if part.cache_mark.is_some() {
            encoder.losses.push(Loss::hint(&*at, "the cache mark is left out"));
        }
        encoder.foreign(&at, &part.extra);
        texts.push(text.text.as_str());
    }
    match texts.as_slice() {
        [text] => Ok(Cow::Borrowed(text)),
        texts => {
            encoder.losses.push(Loss::emulate(
                "input[0].content",
                "the texts are sent as one, without a space between",
            ));
            Ok(Cow::Owned(texts.concat()))
        }
    }
}

const fn is_user(item: &Item) -> bool {
    matches!(&item.body, ItemBody::Message(message) if matches!(message.role, Role::User))
}

/// What an item is, in a few words.
const fn kind(body: &ItemBody) -> &'static str {
    match body {
        ItemBody::Message(message) => match message.role {
            Role::System | Role::Developer => "an instruction",
            Role::User => "one message of several",
            Role::Assistant => "a message of the assistant",
        },
        ItemBody::Reasoning(_) => "reasoning",
        ItemBody::Call(_) => "a call of a tool",
        ItemBody::Result(_) => "the result of a tool",
        ItemBody::Compaction(_) => "compacted history",
        ItemBody::CompactionTrigger => "a request to compact",
        ItemBody::ConfigurationUpdate(_) => "a change of settings",
        ItemBody::ToolsChange(_) => "a change of tools",
        ItemBody::Reference(_) => "a reference to an item",
        ItemBody::Opaque(_) => "an item of another dialect",
    }
}
