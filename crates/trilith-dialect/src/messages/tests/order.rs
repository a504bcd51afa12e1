//! The order rules of events, checked over whatever a reader gives.

use std::collections::HashMap;

use trilith_core::{Event, PartSpace};

#[derive(Default)]
struct Open {
    parts: HashMap<PartSpace, (u32, Option<u32>)>,
    done: bool,
}

/// Panics where the events break an order rule.
pub(super) fn check(events: &[Event]) {
    let mut items: Vec<Open> = Vec::new();
    let mut begun = false;
    let mut finished = false;
    for event in events {
        match event {
            Event::Begin(_) => {
                assert!(!begun && items.is_empty(), "begins once, before the first item");
                begun = true;
            }
            Event::ItemAdded { index, .. } => {
                assert!(begun && !finished, "an item comes between begin and finish");
                assert_eq!(*index as usize, items.len(), "indexes are contiguous");
                items.push(Open::default());
            }
            Event::PartAdded { index, part, start } => {
                let item = open(&mut items, *index);
                let (next, current) = item.parts.entry(start.space()).or_default();
                assert_eq!((*part, *current), (*next, None), "parts are contiguous, one is open at a time");
                (*next, *current) = (*part + 1, Some(*part));
            }
            Event::TextDelta { index, part, .. } | Event::AudioDelta { index, part, .. } => {
                in_part(&mut items, *index, PartSpace::Content, *part);
            }
            Event::AnnotationAdded { index, part, .. } => {
                in_part(&mut items, *index, PartSpace::Content, *part);
            }
            Event::PartDelta { index, part, space, .. } => in_part(&mut items, *index, *space, *part),
            Event::PartDone { index, part, space } => {
                in_part(&mut items, *index, *space, *part);
                open(&mut items, *index).parts.entry(*space).or_default().1 = None;
            }
            Event::ArgumentsDelta { index, delta } => {
                assert!(!delta.is_empty());
                open(&mut items, *index);
            }
            Event::ItemDone { index, .. } => {
                let item = open(&mut items, *index);
                assert!(item.parts.values().all(|(_, current)| current.is_none()), "parts close first");
                item.done = true;
            }
            Event::Finish(_) => {
                assert!(items.iter().all(|item| item.done), "items close before the finish");
                finished = true;
            }
            _ => {}
        }
    }
}

fn open(items: &mut [Open], index: u32) -> &mut Open {
    let item = &mut items[index as usize];
    assert!(!item.done, "the item is closed");
    item
}

fn in_part(items: &mut [Open], index: u32, space: PartSpace, part: u32) {
    let current = open(items, index).parts.get(&space).and_then(|(_, current)| *current);
    assert_eq!(current, Some(part), "the part is open");
}
