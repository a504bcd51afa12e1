//! Items take turns on this wire: the events of one item end before those of the next begin
//! (openai-checklist E21). What an item said before its turn is read from the response; only what the
//! response does not hold is remembered here.

use trilith_core::{Event, Extra, PartSpace};

/// The events that wait.
#[derive(Debug, Default)]
pub(super) struct Turns {
    waiting: Vec<(u32, Event)>,
}

impl Turns {
    /// Remembers what the response cannot tell later.
    pub(super) fn defer(&mut self, event: &Event) {
        let kept = match event {
            Event::PartDone { index, .. } | Event::ToolProgress { index, .. } => (*index, event.clone()),
            Event::Detail { index: Some(index), .. } => (*index, event.clone()),
            Event::ItemDone { index, status, .. } => {
                let (index, status) = (*index, *status);
                let (carriers, detail) = (Vec::new(), None);
                (index, Event::ItemDone { index, status, carriers, detail, extra: Extra::EMPTY })
            }
            _ => return,
        };
        self.waiting.push(kept);
    }

    /// Whether a part ended before its item's turn.
    pub(super) fn is_part_done(&self, index: u32, part: u32, space: PartSpace) -> bool {
        let done = Event::PartDone { index, part, space };
        self.waiting.iter().any(|(_, event)| *event == done)
    }

    /// Everything that waited for an item, in order.
    pub(super) fn take(&mut self, index: u32) -> Vec<Event> {
        let (own, others) = std::mem::take(&mut self.waiting).into_iter().partition(|(of, _)| *of == index);
        self.waiting = others;
        let own: Vec<(u32, Event)> = own;
        own.into_iter().map(|(_, event)| event).collect()
    }
}

/// The item an event belongs to.
pub(super) const fn item_of(event: &Event) -> Option<u32> {
    match event {
        Event::ItemAdded { index, .. }
        | Event::PartAdded { index, .. }
        | Event::TextDelta { index, .. }
        | Event::PartDelta { index, .. }
        | Event::ArgumentsDelta { index, .. }
        | Event::AudioDelta { index, .. }
        | Event::AnnotationAdded { index, .. }
        | Event::PartDone { index, .. }
        | Event::ToolProgress { index, .. }
        | Event::ItemDone { index, .. } => Some(*index),
        Event::Detail { index, .. } => *index,
        Event::Created(_)
        | Event::Status(_)
        | Event::Begin(_)
        | Event::Usage(_)
        | Event::Finish(_)
        | Event::Loss(_)
        | Event::End(_) => None,
    }
}
