//! What a turn continues from.

use trilith_core::{Error, Item, ItemBody, Store, Turn, item_id};

/// Inputs count from here, so that their ids never meet those of outputs.
const INPUT: u32 = 0x8000_0000;

/// The items that come before the turn's own input.
///
/// # Errors
/// The parent is unknown, deleted or still running: 400 `previous_response_not_found`
/// (openai-checklist §1.2).
pub(crate) async fn load(store: &dyn Store, tenant: &str, turn: &Turn) -> Result<Vec<Item>, Error> {
    let Some(parent) = &turn.state.previous_response_id else { return Ok(Vec::new()) };
    let context = store.context(tenant, parent).await.map_err(|error| {
        Error::internal("the stored conversation could not be read; try again").with_source(error)
    })?;
    match context {
        Some(context) => Ok(context.items),
        None => Err(Error::bad_request(
            "previous_response_id",
            format!("Previous response with id '{}' not found.", shorten(parent)),
        )
        .with_code("previous_response_not_found")),
    }
}

/// Gives every input item an id, keeping those that the client brought.
pub(crate) fn name_inputs(response: &str, input: &mut [Item]) {
    for (place, item) in input.iter_mut().enumerate() {
        if item.id.is_none() {
            let place = u32::try_from(place).unwrap_or(u32::MAX >> 1);
            item.id = Some(item_id(response, &item.body, INPUT | place));
        }
    }
}

/// Puts the items that references name in their place; a reference to nothing stays and is refused by the
/// encoder of whatever upstream cannot resolve it.
pub(crate) fn resolve_references(history: &[Item], input: &mut Vec<Item>) -> Result<(), Error> {
    for place in 0..input.len() {
        let ItemBody::Reference(id) = &input[place].body else { continue };
        let known = history.iter().chain(&input[..place]).find(|item| item.id.as_ref() == Some(id));
        let Some(known) = known.cloned() else {
            return Err(Error::bad_request(
                format!("input[{place}].id"),
                format!(
                    "Item with id '{}' not found; send the item itself instead of a reference.",
                    shorten(id)
                ),
            ));
        };
        // What the history already holds is not said twice.
        if history.iter().any(|item| item.id == known.id) {
            input[place].body = ItemBody::Reference("".into());
        } else {
            input[place] = known;
        }
    }
    input.retain(|item| !matches!(&item.body, ItemBody::Reference(id) if id.is_empty()));
    Ok(())
}

fn shorten(id: &str) -> &str {
    id.char_indices().nth(80).map_or(id, |(end, _)| &id[..end])
}
