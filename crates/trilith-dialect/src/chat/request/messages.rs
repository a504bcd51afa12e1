//! Messages in items.

use serde_json::value::RawValue;
use trilith_core::{
    Audio, Call, CallKind, Carrier, CarrierKind, Error, Item, ItemBody, Loss, Message, Part, PartKind,
    Reasoning, Role,
};

use super::{
    content::{self, Allowed},
    settings::illegal_name,
    wire::{self, Content},
};
use crate::{
    chat::{
        object::{keep, missing},
        response::carriers,
    },
    is_legal,
    values::unknown_word,
};

/// A message of anyone but the model.
pub(super) fn spoken(at: &str, role: &str, wire: wire::Message<'_>) -> Result<Item, Error> {
    let (role, allowed) = match role {
        "system" => (Role::System, Allowed::Text),
        "developer" => (Role::Developer, Allowed::Text),
        _ => (Role::User, Allowed::User),
    };
    let param = format!("{at}.content");
    let content = wire.content.ok_or_else(|| missing(&param))?;
    let parts = content::parts(&param, content, allowed)?;
    let mut item = Item::new(ItemBody::Message(Message { role, parts, phase: None, name: wire.name }));
    keep(&mut item.extra, "", wire.rest);
    Ok(item)
}

/// An assistant message: what was thought, what was said, what was called, in this order.
pub(super) fn assistant(
    at: &str,
    place: usize,
    mut wire: wire::Message<'_>,
    items: &mut Vec<Item>,
    losses: &mut Vec<Loss>,
) -> Result<(), Error> {
    let first = items.len();
    if let Some(reasoning) = reasoning(&mut wire) {
        items.push(Item::new(ItemBody::Reasoning(reasoning)));
    }
    if wire.annotations.is_some_and(|list| !matches!(list.get(), "[]" | "null")) {
        losses.push(Loss::hint(format!("{at}.annotations"), "a request has no place for them"));
    }
    let calls = calls(at, place, &mut wire)?;
    let parts = said(at, &mut wire)?;
    let said_nothing = parts.iter().all(|part| part.as_text() == Some(""));
    if calls.is_empty() || !said_nothing || wire.name.is_some() {
        let parts = if calls.is_empty() || !said_nothing { parts } else { Vec::new() };
        let name = wire.name.take();
        items.push(Item::new(ItemBody::Message(Message { role: Role::Assistant, parts, phase: None, name })));
    }
    items.extend(calls);
    // Fields of the whole message ride on its first item that is not reasoning.
    let carrying = items.iter_mut().skip(first).find(|item| !matches!(item.body, ItemBody::Reasoning(_)));
    if let Some(item) = carrying {
        let prefix = if matches!(item.body, ItemBody::Call(_)) { MESSAGE_PREFIX } else { "" };
        keep(&mut item.extra, prefix, wire.rest);
    }
    Ok(())
}

/// Marks, on a call's item, a field that belongs to the message around the call.
pub(super) const MESSAGE_PREFIX: &str = "message.";

fn reasoning(wire: &mut wire::Message<'_>) -> Option<Reasoning> {
    let text =
        wire.reasoning_content.take().or_else(|| wire.reasoning.take()).filter(|text| !text.is_empty());
    let details: Vec<&RawValue> = wire.reasoning_details.take().unwrap_or_default();
    if text.is_none() && details.is_empty() {
        return None;
    }
    let carriers = details.into_iter().map(|raw| match carriers::sealed(raw.get()) {
        Some(sealed) => sealed,
        None => Carrier { kind: CarrierKind::Details, data: raw.get().into(), origin: None },
    });
    Some(Reasoning { summary: Vec::new(), text: text.into_iter().collect(), carriers: carriers.collect() })
}

fn said(at: &str, wire: &mut wire::Message<'_>) -> Result<Vec<Part>, Error> {
    let mut parts = match wire.content.take() {
        Some(content @ (Content::Text(_) | Content::Parts(_))) => {
            content::parts(&format!("{at}.content"), content, Allowed::Assistant)?
        }
        None => Vec::new(),
    };
    if let Some(refusal) = wire.refusal.take().filter(|refusal| !refusal.is_empty()) {
        // A refusal comes beside an empty content on the wire.
        parts.retain(|part| part.as_text() != Some(""));
        parts.push(Part::new(PartKind::Refusal(refusal)));
    }
    if let Some(audio) = wire.audio.take() {
        let id = audio.id.ok_or_else(|| missing(&format!("{at}.audio.id")))?;
        parts.retain(|part| part.as_text() != Some(""));
        parts.push(Part::new(PartKind::Audio(Audio { id: Some(id), ..Audio::default() })));
    }
    Ok(parts)
}

fn calls(at: &str, place: usize, wire: &mut wire::Message<'_>) -> Result<Vec<Item>, Error> {
    let mut items = Vec::new();
    for (number, call) in wire.tool_calls.take().unwrap_or_default().into_iter().enumerate() {
        items.push(call_item(&format!("{at}.tool_calls[{number}]"), call)?);
    }
    if let Some(function) = wire.function_call.take() {
        // The deprecated form has no id; its answer names the function.
        let id = format!("call_message_{place}").into();
        let name = legal(&format!("{at}.function_call"), function.name)?;
        items.push(call(id, CallKind::Function, name, function.arguments.unwrap_or_default()));
    }
    Ok(items)
}

fn call_item(at: &str, wire: wire::Call<'_>) -> Result<Item, Error> {
    let id = wire.id.ok_or_else(|| missing(&format!("{at}.id")))?;
    let kind = wire.kind.ok_or_else(|| missing(&format!("{at}.type")))?;
    let mut item = match &*kind {
        "function" => {
            let at = format!("{at}.function");
            let function = wire.function.ok_or_else(|| missing(&at))?;
            let args = function.arguments.ok_or_else(|| missing(&format!("{at}.arguments")))?;
            call(id, CallKind::Function, legal(&at, function.name)?, args)
        }
        "custom" => {
            let at = format!("{at}.custom");
            let custom = wire.custom.ok_or_else(|| missing(&at))?;
            let args = custom.input.ok_or_else(|| missing(&format!("{at}.input")))?;
            call(id, CallKind::Custom, legal(&at, custom.name)?, args)
        }
        word => return Err(unknown_word(&format!("{at}.type"), word, &["function", "custom"])),
    };
    // Clients send back the place in the list that a stream's deltas carry.
    let rest = wire.rest.into_iter().filter(|(name, _)| &**name != "index").collect();
    keep(&mut item.extra, "", rest);
    Ok(item)
}

fn legal(at: &str, name: Option<Box<str>>) -> Result<Box<str>, Error> {
    let param = format!("{at}.name");
    let name = name.ok_or_else(|| missing(&param))?;
    if is_legal(&name) { Ok(name) } else { Err(illegal_name(&param)) }
}

fn call(id: Box<str>, kind: CallKind, name: Box<str>, args: String) -> Item {
    Item::new(ItemBody::Call(Call {
        kind,
        call_id: Some(id),
        name,
        namespace: None,
        args,
        caller: None,
        detail: None,
    }))
}
