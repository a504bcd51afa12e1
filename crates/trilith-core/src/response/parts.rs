//! The lists inside an item: a message's parts, a reasoning item's texts and summaries.

use super::ApplyError;
use crate::{
    Audio, Item, ItemBody, Logprob, Part, PartKind, PartSpace, PartStart, Reasoning, ResultOutput, Text,
};

pub(super) fn add(item: &mut Item, part: u32, start: PartStart) -> Result<(), ApplyError> {
    let slot = part as usize;
    match start.space() {
        PartSpace::Content => {
            let parts = content(item).ok_or(ApplyError::PartOutOfOrder)?;
            if parts.len() != slot {
                return Err(ApplyError::PartOutOfOrder);
            }
            parts.push(Part::new(match start {
                PartStart::Refusal => PartKind::Refusal(String::new()),
                PartStart::Audio => PartKind::Audio(Audio::default()),
                PartStart::Text | PartStart::Reasoning | PartStart::Summary => {
                    PartKind::Text(Text::default())
                }
            }));
        }
        space => {
            let list = strings(item, space).ok_or(ApplyError::PartOutOfOrder)?;
            if list.len() != slot {
                return Err(ApplyError::PartOutOfOrder);
            }
            list.push(String::new());
        }
    }
    Ok(())
}

pub(super) fn append_text(
    item: &mut Item,
    part: u32,
    delta: &str,
    logprobs: &[Logprob],
) -> Result<(), ApplyError> {
    let text = text(item, part)?;
    text.text.push_str(delta);
    text.logprobs.extend_from_slice(logprobs);
    Ok(())
}

pub(super) fn append(item: &mut Item, part: u32, space: PartSpace, delta: &str) -> Result<(), ApplyError> {
    string(item, part, space)?.push_str(delta);
    Ok(())
}

pub(super) fn check(item: &mut Item, part: u32, space: PartSpace) -> Result<(), ApplyError> {
    let known = match space {
        PartSpace::Content => content(item).is_some_and(|parts| (part as usize) < parts.len()),
        space => strings(item, space).is_some_and(|list| (part as usize) < list.len()),
    };
    if known { Ok(()) } else { Err(ApplyError::NoSuchPart) }
}

pub(super) fn text(item: &mut Item, part: u32) -> Result<&mut Text, ApplyError> {
    match kind(item, part)? {
        PartKind::Text(text) => Ok(text),
        _ => Err(ApplyError::NoSuchPart),
    }
}

pub(super) fn audio(item: &mut Item, part: u32) -> Result<&mut Audio, ApplyError> {
    match kind(item, part)? {
        PartKind::Audio(audio) => Ok(audio),
        _ => Err(ApplyError::NoSuchPart),
    }
}

fn string(item: &mut Item, part: u32, space: PartSpace) -> Result<&mut String, ApplyError> {
    match space {
        PartSpace::Content => match kind(item, part)? {
            PartKind::Refusal(refusal) => Ok(refusal),
            PartKind::Text(text) => Ok(&mut text.text),
            _ => Err(ApplyError::NoSuchPart),
        },
        space => {
            strings(item, space).and_then(|list| list.get_mut(part as usize)).ok_or(ApplyError::NoSuchPart)
        }
    }
}

fn kind(item: &mut Item, part: u32) -> Result<&mut PartKind, ApplyError> {
    content(item)
        .and_then(|parts| parts.get_mut(part as usize))
        .map(|part| &mut part.kind)
        .ok_or(ApplyError::NoSuchPart)
}

fn content(item: &mut Item) -> Option<&mut Vec<Part>> {
    match &mut item.body {
        ItemBody::Message(message) => Some(&mut message.parts),
        ItemBody::Result(result) => match &mut result.output {
            ResultOutput::Parts(parts) => Some(parts),
            ResultOutput::Text(_) => None,
        },
        _ => None,
    }
}

fn strings(item: &mut Item, space: PartSpace) -> Option<&mut Vec<String>> {
    let ItemBody::Reasoning(Reasoning { summary, text, .. }) = &mut item.body else { return None };
    match space {
        PartSpace::Reasoning => Some(text),
        PartSpace::Summary => Some(summary),
        PartSpace::Content => None,
    }
}
