//! What a turn continues from.

use std::collections::{HashMap, HashSet};

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
    if parent.is_empty() {
        let text = "'previous_response_id' must not be empty; send the id of a response, or leave it out";
        return Err(Error::bad_request("previous_response_id", text));
    }
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

/// The most references of one request that are looked up.
const MOST_LOOKUPS: usize = 1_000;

/// Takes references for what they name: an item that the context already holds is not said twice, any other item
/// that the tenant has stored stands where its reference stood. Gives the place that each item left had in the
/// request; nothing if no reference was there.
///
/// # Errors
/// A reference names nothing that is known here, or the request says again what the context already holds.
pub(crate) async fn resolve_references(
    store: &dyn Store,
    tenant: &str,
    history: &[Item],
    input: &mut Vec<Item>,
) -> Result<Option<Vec<usize>>, Error> {
    let past: HashSet<&str> = history.iter().filter_map(|item| item.id.as_deref()).collect();
    refuse_repeated(&past, input)?;
    if !input.iter().any(|item| matches!(item.body, ItemBody::Reference(_))) {
        return Ok(None);
    }
    let mut stored = look_up(store, tenant, wanted(&past, input)).await?;
    let mut said: HashSet<Box<str>> = HashSet::new();
    let mut places = Vec::with_capacity(input.len());
    let mut resolved = Vec::with_capacity(input.len());
    for (place, item) in std::mem::take(input).into_iter().enumerate() {
        let item = match item.body {
            ItemBody::Reference(id) if past.contains(&*id) || said.contains(&id) => continue,
            ItemBody::Reference(id) => stored.remove(&id).ok_or_else(|| unknown_item(place, &id))?,
            _ => item,
        };
        said.extend(item.id.clone());
        places.push(place);
        resolved.push(item);
    }
    *input = resolved;
    Ok(Some(places))
}

/// What a chain holds it holds once: whoever continues a response sends what is new.
fn refuse_repeated(past: &HashSet<&str>, input: &[Item]) -> Result<(), Error> {
    let repeated = input.iter().enumerate().find_map(|(place, item)| {
        let id = item.id.as_deref().filter(|id| past.contains(id))?;
        Some((place, id))
    });
    let Some((place, id)) = repeated else { return Ok(()) };
    Err(Error::bad_request(
        format!("input[{place}].id"),
        format!(
            "Duplicate item found with id {}. Remove duplicate items from your input and try again.",
            shorten(id)
        ),
    ))
}

/// The ids that only the store can know, each once.
fn wanted<'a>(past: &HashSet<&str>, input: &'a [Item]) -> Vec<&'a str> {
    let mut known: HashSet<&str> = input.iter().filter_map(|item| item.id.as_deref()).collect();
    let ids = input.iter().filter_map(|item| match &item.body {
        ItemBody::Reference(id) => Some(&**id),
        _ => None,
    });
    ids.filter(|id| !past.contains(id) && known.insert(id)).collect()
}

async fn look_up(store: &dyn Store, tenant: &str, ids: Vec<&str>) -> Result<HashMap<Box<str>, Item>, Error> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    if ids.len() > MOST_LOOKUPS {
        return Err(Error::bad_request(
            "input",
            format!(
                "a request may refer to at most {MOST_LOOKUPS} stored items; continue with 'previous_response_id'"
            ),
        ));
    }
    let found = store.items(tenant, ids.into_iter().map(Into::into).collect()).await;
    let found = found.map_err(|error| {
        Error::internal("the stored items could not be read; try again").with_source(error)
    })?;
    Ok(found.into_iter().flatten().filter_map(|item| Some((item.id.clone()?, item))).collect())
}

fn unknown_item(place: usize, id: &str) -> Error {
    let id = shorten(id);
    Error::bad_request(
        format!("input[{place}].id"),
        format!("Item with id '{id}' not found; send the item itself instead of a reference."),
    )
}

fn shorten(id: &str) -> &str {
    id.char_indices().nth(80).map_or(id, |(end, _)| &id[..end])
}
