//! Upstream events made fit for a response: every item has an id, every call a call id, and whatever is left
//! open when the upstream stops is closed in order.

use std::collections::VecDeque;

use trilith_core::{Event, Extra, ItemBody, ItemStatus, PartSpace, call_id, item_id};

/// What is open at the moment.
#[derive(Debug, Default)]
pub(crate) struct OpenItems(Vec<OpenItem>);

#[derive(Debug)]
struct OpenItem {
    index: u32,
    parts: VecDeque<(u32, PartSpace)>,
}

impl OpenItems {
    /// Fills the ids of an event and keeps account of what it opens or closes.
    pub(crate) fn admit(&mut self, response: &str, event: &mut Event) {
        match event {
            Event::ItemAdded { index, item, .. } => {
                if item.id.is_none() {
                    item.id = Some(item_id(response, &item.body, *index));
                }
                if let ItemBody::Call(call) = &mut item.body
                    && call.call_id.as_deref().is_none_or(str::is_empty)
                    && call.detail.is_none()
                {
                    call.call_id = Some(call_id(response, *index));
                }
                item.status = Some(ItemStatus::InProgress);
                self.0.push(OpenItem { index: *index, parts: VecDeque::new() });
            }
            Event::PartAdded { index, part, start } => {
                if let Some(open) = self.find(*index) {
                    open.parts.push_back((*part, start.space()));
                }
            }
            Event::PartDone { index, part, space } => {
                if let Some(open) = self.find(*index) {
                    open.parts.retain(|known| *known != (*part, *space));
                }
            }
            Event::ItemDone { index, .. } => self.0.retain(|open| open.index != *index),
            _ => {}
        }
    }

    /// The events that close what is still open, cut short.
    pub(crate) fn close(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        for open in std::mem::take(&mut self.0) {
            let index = open.index;
            events.extend(open.parts.into_iter().map(|(part, space)| Event::PartDone { index, part, space }));
            events.push(Event::ItemDone {
                index,
                status: ItemStatus::Incomplete,
                carriers: Vec::new(),
                detail: None,
                extra: Extra::EMPTY,
            });
        }
        events
    }

    fn find(&mut self, index: u32) -> Option<&mut OpenItem> {
        self.0.iter_mut().find(|open| open.index == index)
    }
}
