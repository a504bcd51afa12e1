//! Finding in a response what an event of its stream is about.

use std::borrow::Cow;

use trilith_core::{Call, Item, ItemBody, OutputItem, Part, PartKind, PartSpace, Response, item_id};

/// Where an item is, and what it is called.
pub(super) struct Spot<'r> {
    pub(super) output: &'r OutputItem,
    pub(super) id: Cow<'r, str>,
    pub(super) position: u32,
}

/// The item's place among those that are shown; `None` for other answers than the first.
pub(super) fn spot(response: &Response, index: u32) -> Option<Spot<'_>> {
    let at = index as usize;
    let output = response.output.get(at).filter(|output| output.choice == 0)?;
    let shown = response.output.iter().take(at).filter(|output| output.choice == 0).count();
    let id = match &output.item.id {
        Some(id) => (&**id).into(),
        None => String::from(item_id(&response.id, &output.item.body, index)).into(),
    };
    Some(Spot { output, id, position: u32::try_from(shown).unwrap_or(u32::MAX) })
}

pub(super) fn call_of(item: &Item) -> Option<&Call> {
    match &item.body {
        ItemBody::Call(call) => Some(call),
        _ => None,
    }
}

pub(super) fn part_of(item: &Item, part: u32) -> Option<&Part> {
    match &item.body {
        ItemBody::Message(message) => message.parts.get(part as usize),
        _ => None,
    }
}

pub(super) fn text_in(item: &Item, part: u32, space: PartSpace) -> Option<&str> {
    let part = part as usize;
    match (&item.body, space) {
        (ItemBody::Message(message), PartSpace::Content) => match &message.parts.get(part)?.kind {
            PartKind::Text(text) => Some(&text.text),
            PartKind::Refusal(refusal) => Some(refusal),
            PartKind::Audio(audio) => audio.transcript.as_deref().or(Some("")),
            _ => None,
        },
        (ItemBody::Reasoning(reasoning), PartSpace::Reasoning) => {
            reasoning.text.get(part).map(String::as_str)
        }
        (ItemBody::Reasoning(reasoning), PartSpace::Summary) => {
            reasoning.summary.get(part).map(String::as_str)
        }
        _ => None,
    }
}
