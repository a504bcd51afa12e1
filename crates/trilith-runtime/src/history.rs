//! What a turn continues from.

use std::collections::HashSet;

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

/// Takes out references: each must name an item that the context already holds, which is not said twice. Gives
/// the place that each item left had in the request; nothing if none was taken out.
///
/// # Errors
/// A reference names nothing that is known here.
pub(crate) fn resolve_references(
    history: &[Item],
    input: &mut Vec<Item>,
) -> Result<Option<Vec<usize>>, Error> {
    let is_reference = |item: &Item| matches!(item.body, ItemBody::Reference(_));
    if !input.iter().any(is_reference) {
        return Ok(None);
    }
    let mut known: HashSet<&str> = history.iter().filter_map(|item| item.id.as_deref()).collect();
    let mut places = Vec::with_capacity(input.len());
    for (place, item) in input.iter().enumerate() {
        match &item.body {
            ItemBody::Reference(id) if known.contains(&**id) => {}
            ItemBody::Reference(id) => {
                let id = shorten(id);
                return Err(Error::bad_request(
                    format!("input[{place}].id"),
                    format!("Item with id '{id}' not found; send the item itself instead of a reference."),
                ));
            }
            _ => {
                known.extend(item.id.as_deref());
                places.push(place);
            }
        }
    }
    input.retain(|item| !is_reference(item));
    Ok(Some(places))
}

fn shorten(id: &str) -> &str {
    id.char_indices().nth(80).map_or(id, |(end, _)| &id[..end])
}
