//! The small answers of the endpoints beside create: lists of items, deletions (openai-checklist §12).

use trilith_core::{Item, ItemStatus};

use crate::responses::{
    item::{View, write_item},
    object::{Object, write_list},
};

/// Writes one item as the item endpoints show it: with its id, its status and everything it holds.
pub fn encode_item(item: &Item, out: &mut Vec<u8>) {
    let view = View {
        id: item.id.as_deref(),
        status: Some(item.status.unwrap_or(ItemStatus::Completed)),
        encrypted: true,
        logprobs: true,
        ..View::default()
    };
    write_item(out, item, &view);
}

/// Writes a page of items: `first_id` and `last_id` are null where the page is empty, `has_more` says whether
/// another page follows (openai-checklist T10).
pub fn encode_item_list(items: &[Item], has_more: bool, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    object.str("object", "list");
    write_list(object.key("data"), items.iter().filter(|item| has_form(item)), |out, item| {
        encode_item(item, out)
    });
    object.str_or_null("first_id", items.first().and_then(|item| item.id.as_deref()));
    object.str_or_null("last_id", items.last().and_then(|item| item.id.as_deref()));
    object.bool("has_more", has_more);
    object.close();
}

fn has_form(item: &Item) -> bool {
    let mut probe = Vec::new();
    match &item.body {
        trilith_core::ItemBody::Opaque(_) | trilith_core::ItemBody::Result(_) => {
            encode_item(item, &mut probe);
            !probe.is_empty()
        }
        _ => true,
    }
}

/// Writes the answer to the deletion of a response.
pub fn encode_deleted(id: &str, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    object.str("id", id);
    object.str("object", "response");
    object.bool("deleted", true);
    object.close();
}
