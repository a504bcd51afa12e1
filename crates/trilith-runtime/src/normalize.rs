//! Upstream events made fit for a response: every item has an id, every call a call id, and whatever is left
//! open when the upstream stops is closed in order.

use std::{
    collections::{HashSet, VecDeque, hash_map::RandomState},
    hash::BuildHasher,
};

use trilith_core::{Event, Extra, Item, ItemBody, ItemStatus, PartSpace, call_id, item_id};

/// The ids of the items of a chain. Only their hashes are kept: an id that is taken for another by chance gets a
/// fresh one, which harms nobody.
#[derive(Debug, Default)]
pub(crate) struct TakenIds {
    hasher: RandomState,
    seen: HashSet<u64>,
}

impl TakenIds {
    /// The ids of what came before.
    pub(crate) fn of(context: &[Item]) -> Self {
        let mut taken = Self::default();
        taken.seen.reserve(context.len());
        for id in context.iter().filter_map(|item| item.id.as_deref()) {
            taken.claim(id);
        }
        taken
    }

    /// Takes an id; says whether it was free.
    fn claim(&mut self, id: &str) -> bool {
        self.seen.insert(self.hasher.hash_one(id))
    }

    /// Takes an id of Trilith's own making: the usual one, unless an upstream was faster with the very same.
    fn mint(&mut self, response: &str, body: &ItemBody, index: u32) -> Box<str> {
        let mut ids = (0..0x80).map(|again| item_id(response, body, index | again << 24));
        ids.find(|id| self.claim(id)).unwrap_or_else(|| item_id(response, body, index))
    }
}

/// Fills the ids of an item that begins, and changes one that the chain has already: upstreams may count from
/// nought in each answer, and an id must name one item.
pub(crate) fn fill_ids(response: &str, taken: &mut TakenIds, event: &mut Event) {
    let Event::ItemAdded { index, item, .. } = event else { return };
    let own = item.id.as_deref().is_some_and(|id| !id.is_empty() && taken.claim(id));
    if !own {
        item.id = Some(taken.mint(response, &item.body, *index));
    }
    if let ItemBody::Call(call) = &mut item.body
        && call.call_id.as_deref().is_none_or(str::is_empty)
        && call.detail.is_none()
    {
        call.call_id = Some(call_id(response, *index));
    }
    item.status = Some(ItemStatus::InProgress);
}

/// What is open at the moment.
#[derive(Debug, Default)]
pub(crate) struct OpenItems(Vec<OpenItem>);

#[derive(Debug)]
struct OpenItem {
    index: u32,
    parts: VecDeque<(u32, PartSpace)>,
}

impl OpenItems {
    /// Keeps account of what an event, which the response took, opens or closes.
    pub(crate) fn record(&mut self, event: &Event) {
        match event {
            Event::ItemAdded { index, .. } => {
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

    /// The events that close everything, cut short.
    pub(crate) fn close_all(&mut self) -> Vec<Event> {
        self.close(|_| true, |_| false)
    }

    /// The events that close the parts of an item that is about to be closed itself.
    pub(crate) fn close_parts(&mut self, index: u32) -> Vec<Event> {
        let parts = self.find(index).map(|open| std::mem::take(&mut open.parts)).unwrap_or_default();
        parts.into_iter().map(|(part, space)| Event::PartDone { index, part, space }).collect()
    }

    /// The events that close what is still open of the items that are `meant`, in the order in which it was
    /// opened: cut short, but for the items that are `whole`.
    pub(crate) fn close(&mut self, meant: impl Fn(u32) -> bool, whole: impl Fn(u32) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        for open in self.0.extract_if(.., |open| meant(open.index)) {
            let index = open.index;
            events.extend(open.parts.into_iter().map(|(part, space)| Event::PartDone { index, part, space }));
            let status = if whole(index) { ItemStatus::Completed } else { ItemStatus::Incomplete };
            let (carriers, extra) = (Vec::new(), Extra::EMPTY);
            events.push(Event::ItemDone { index, status, carriers, detail: None, extra });
        }
        events
    }

    fn find(&mut self, index: u32) -> Option<&mut OpenItem> {
        self.0.iter_mut().find(|open| open.index == index)
    }
}
