//! A conversation that is too long, toward targets that do not shorten it themselves (translation contract §10): the
//! oldest turns are left out, and the target is asked again.

use std::collections::HashSet;

use trilith_core::{Error, Item, ItemBody, Loss, Role, Truncation};

use super::Draft;
use crate::end;

/// The least that is left out at a time: this part of the conversation. Less would ask more often, more would leave
/// out what had room.
const PART: usize = 4;

/// Takes the wish away from a target that does not know it.
pub(super) fn emulate(draft: &mut Draft<'_>) -> Result<(), Error> {
    if draft.settings.truncation == Some(Truncation::Auto) && !draft.can().truncation {
        draft.settings_mut().truncation = None;
        let why = "the upstream shortens nothing; where it finds the conversation too long, the oldest turns are \
                   left out";
        draft.losses.push(Loss::emulate("truncation", why));
        draft.shortens = true;
    }
    Ok(())
}

/// Leaves out the oldest turns, each from a user's words to the next; says how many items that are. What the platform
/// said stays, and so do the last turn, tools, and what stands for a conversation that was compacted. Nothing is left
/// out where there is but one turn.
pub(crate) fn shorten(input: &mut Vec<Item>) -> usize {
    let size = |item: &Item| end::text_bytes(item) + size_of::<Item>();
    let droppable = |item: &&Item| !stays(item);
    let least = input.iter().filter(droppable).map(size).sum::<usize>() / PART;
    let mut passed = 0;
    let mut cut = None;
    for (place, item) in input.iter().enumerate() {
        let begins = is_user(item) && !place.checked_sub(1).and_then(|at| input.get(at)).is_some_and(is_user);
        if begins && passed > 0 {
            cut = Some(place);
            if passed >= least {
                break;
            }
        }
        passed += if stays(item) { 0 } else { size(item) };
    }
    let Some(cut) = cut else { return 0 };
    let mut gone: HashSet<Box<str>> = HashSet::new();
    let (before, mut place) = (input.len(), 0);
    input.retain(|item| {
        let old = place < cut;
        place += 1;
        match &item.body {
            ItemBody::Call(call) => {
                match &call.call_id {
                    Some(id) if old => _ = gone.insert(id.clone()),
                    // Some upstreams count from nought in each answer.
                    Some(id) => _ = gone.remove(id),
                    None => {}
                }
                !old
            }
            // A result without its call is nothing.
            ItemBody::Result(result) if !old => !result.call_id.as_ref().is_some_and(|id| gone.contains(id)),
            _ => !old || stays(item),
        }
    });
    before - input.len()
}

fn is_user(item: &Item) -> bool {
    matches!(&item.body, ItemBody::Message(message) if message.role == Role::User)
}

/// Whether an item is no part of a turn.
fn stays(item: &Item) -> bool {
    match &item.body {
        ItemBody::Message(message) => matches!(message.role, Role::System | Role::Developer),
        ItemBody::ToolsChange(_) | ItemBody::Compaction(_) => true,
        _ => false,
    }
}
