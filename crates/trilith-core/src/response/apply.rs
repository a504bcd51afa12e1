//! One step of the fold.

use super::{ApplyError, OutputItem, ResponseState, parts};
use crate::{Event, Finish, Item, ItemBody, ItemStatus};

/// More answers than any dialect allows are a fault of the upstream. Completions takes many prompts at once.
const MAX_CHOICES: u16 = 2048;

pub(super) fn apply(state: &mut ResponseState, event: &Event) -> Result<(), ApplyError> {
    if state.status.is_final() {
        return Err(ApplyError::AfterEnd);
    }
    match event {
        Event::Created(_) => return Err(ApplyError::CreatedTwice),
        Event::Status(status) => state.status = *status,
        Event::Begin(begin) => state.upstream = (**begin).clone(),
        Event::ItemAdded { index, choice, item } => add_item(state, *index, *choice, item)?,
        Event::PartAdded { index, part, start } => parts::add(open(state, *index)?, *part, *start)?,
        Event::TextDelta { index, part, delta, logprobs } => {
            parts::append_text(open(state, *index)?, *part, delta, logprobs)?;
        }
        Event::PartDelta { index, part, space, delta } => {
            parts::append(open(state, *index)?, *part, *space, delta)?;
        }
        Event::ArgumentsDelta { index, delta } => match &mut open(state, *index)?.body {
            ItemBody::Call(call) => call.args.push_str(delta),
            _ => return Err(ApplyError::NoSuchPart),
        },
        Event::AudioDelta { index, part, id, data, transcript, expires_at } => {
            let audio = parts::audio(open(state, *index)?, *part)?;
            audio.base64.push_str(data);
            if !transcript.is_empty() {
                audio.transcript.get_or_insert_default().push_str(transcript);
            }
            audio.id = id.clone().or_else(|| audio.id.take());
            audio.expires_at = expires_at.or(audio.expires_at);
        }
        Event::AnnotationAdded { index, part, annotation } => {
            parts::text(open(state, *index)?, *part)?.annotations.push(annotation.clone());
        }
        Event::PartDone { index, part, space } => parts::check(open(state, *index)?, *part, *space)?,
        Event::ToolProgress { index, .. } => {
            open(state, *index)?;
        }
        Event::Detail { index, .. } => {
            if let Some(index) = index {
                open(state, *index)?;
            }
        }
        Event::ItemDone { .. } => close_item(state, event)?,
        Event::Usage(usage) => state.usage = Some(usage.clone()),
        Event::Finish(finish) => set_finish(state, finish)?,
        Event::Loss(_) => {}
        Event::End(end) => {
            if !end.status.is_final() {
                return Err(ApplyError::NotAnEnd);
            }
            if state.output.iter().any(|output| output.open) {
                return Err(ApplyError::ItemLeftOpen);
            }
            state.status = end.status;
            state.incomplete = end.incomplete.clone();
            state.error = end.error.clone();
            state.ended_at = Some(end.at);
        }
    }
    Ok(())
}

fn open(state: &mut ResponseState, index: u32) -> Result<&mut Item, ApplyError> {
    state
        .output
        .get_mut(index as usize)
        .filter(|output| output.open)
        .map(|output| &mut output.item)
        .ok_or(ApplyError::NoOpenItem)
}

fn add_item(state: &mut ResponseState, index: u32, choice: u16, item: &Item) -> Result<(), ApplyError> {
    if index as usize != state.output.len() {
        return Err(ApplyError::ItemOutOfOrder);
    }
    if choice >= MAX_CHOICES {
        return Err(ApplyError::TooManyChoices);
    }
    state.output.push(OutputItem { choice, open: true, item: item.clone() });
    Ok(())
}

fn close_item(state: &mut ResponseState, event: &Event) -> Result<(), ApplyError> {
    let Event::ItemDone { index, status, carriers, detail, extra } = event else { return Ok(()) };
    let output = state.output.get_mut(*index as usize).filter(|output| output.open);
    let output = output.ok_or(ApplyError::NoOpenItem)?;
    if *status == ItemStatus::InProgress {
        return Err(ApplyError::NotAnEnd);
    }
    output.open = false;
    output.item.status = Some(*status);
    match &mut output.item.body {
        ItemBody::Reasoning(reasoning) if !carriers.is_empty() => reasoning.carriers.clone_from(carriers),
        ItemBody::Compaction(compaction) => {
            if let Some(carrier) = carriers.first() {
                compaction.encrypted.clone_from(&carrier.data);
            }
        }
        ItemBody::Call(call) if detail.is_some() => call.detail.clone_from(detail),
        ItemBody::Result(result) if detail.is_some() => result.detail.clone_from(detail),
        _ => {}
    }
    for field in extra.iter() {
        output.item.extra.push(field.dialect, field.name.clone(), field.value.clone());
    }
    Ok(())
}

fn set_finish(state: &mut ResponseState, finish: &Finish) -> Result<(), ApplyError> {
    if finish.choice >= MAX_CHOICES {
        return Err(ApplyError::TooManyChoices);
    }
    let slot = usize::from(finish.choice);
    if state.finishes.len() <= slot {
        state.finishes.resize(slot + 1, None);
    }
    state.finishes[slot] = Some(finish.reason.clone());
    Ok(())
}
