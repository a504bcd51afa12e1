//! A stream, the response and the stored row are three views of one list of events.

use std::{collections::HashSet, sync::Arc};

use proptest::prelude::*;
use trilith_core::{
    Error, Event, FinishReason, ItemBody, ItemStatus, PartSpace, PartStart, Reasoning, Response,
};

use super::{
    events::{added, carrier, done_with, finish, function, message, usage},
    fakes::{Script, World, block_on, request, turn, unstored, upstream},
};

/// One wish of the generator: what to do, where, and with which text.
type Wish = (u8, u8, u8, String);

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    proptest::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), "[abEND é🙂]{0,5}"), 0..40)
}

/// An item as the generator knows it: whether it is open, its body, its parts and which of them are open.
struct Known {
    open: bool,
    body: u8,
    parts: Vec<(PartStart, bool)>,
}

/// Turns wishes into events that can follow each other: items open side by side, parts too.
fn legal(wishes: &[Wish]) -> Vec<Event> {
    let mut items: Vec<Known> = Vec::new();
    let mut events = Vec::new();
    for (what, whose, which, said) in wishes {
        let open: Vec<usize> = (0..items.len()).filter(|at| items[*at].open).collect();
        let Some(&at) = open.get(usize::from(*whose) % open.len().max(1)) else {
            begin(&mut items, &mut events, *which);
            continue;
        };
        let (index, item) = (at as u32, &mut items[at]);
        let part = usize::from(*which) % item.parts.len().max(1);
        match what % 8 {
            0 => begin(&mut items, &mut events, *which),
            1 | 2 if item.body != 2 => {
                let start = [PartStart::Text, PartStart::Reasoning][usize::from(item.body)];
                item.parts.push((start, true));
                events.push(Event::PartAdded { index, part: item.parts.len() as u32 - 1, start });
            }
            3..=5 if item.body == 2 => events.push(Event::ArgumentsDelta { index, delta: said.clone() }),
            3..=5 if item.parts.get(part).is_some_and(|(_, open)| *open) => {
                let (start, part, delta) = (item.parts[part].0, part as u32, said.clone());
                events.push(match start.space() {
                    PartSpace::Content => Event::TextDelta { index, part, delta, logprobs: Vec::new() },
                    space => Event::PartDelta { index, part, space, delta },
                });
            }
            6 if item.parts.get(part).is_some_and(|(_, open)| *open) => {
                item.parts[part].1 = false;
                events.push(Event::PartDone { index, part: part as u32, space: item.parts[part].0.space() });
            }
            7 => {
                item.open = false;
                let mut event = done_with(index, ItemStatus::Completed);
                if let (1, Event::ItemDone { carriers, .. }) = (item.body, &mut event) {
                    carriers.push(carrier(said));
                }
                events.push(event);
            }
            _ => events.push(usage(u64::from(*whose), u64::from(*which))),
        }
    }
    events.push(finish(FinishReason::Stop));
    events
}

fn begin(items: &mut Vec<Known>, events: &mut Vec<Event>, which: u8) {
    let body = which % 3;
    events.push(added(items.len() as u32, body_of(body)));
    items.push(Known { open: true, body, parts: Vec::new() });
}

fn body_of(body: u8) -> ItemBody {
    match body {
        0 => message(),
        1 => ItemBody::Reasoning(Reasoning::default()),
        _ => function("look"),
    }
}

/// Turns wishes into events that may follow each other or not.
fn wild(wishes: &[Wish]) -> Vec<Event> {
    let event = |(what, whose, which, said): &Wish| {
        let (index, part) = (u32::from(whose % 3), u32::from(which % 3));
        let starts =
            [PartStart::Text, PartStart::Refusal, PartStart::Audio, PartStart::Reasoning, PartStart::Summary];
        let start = starts[usize::from(which % 5)];
        let space = start.space();
        match what % 9 {
            0 | 1 => added(index, body_of(*which)),
            2 | 3 => Event::PartAdded { index, part, start },
            4 => Event::TextDelta { index, part, delta: said.clone(), logprobs: Vec::new() },
            5 => Event::PartDelta { index, part, space, delta: said.clone() },
            6 => Event::PartDone { index, part, space },
            7 => Event::ArgumentsDelta { index, delta: said.clone() },
            _ => done_with(index, ItemStatus::Completed),
        }
    };
    wishes.iter().map(event).collect()
}

fn in_batches(events: Vec<Event>, size: usize, fault: Option<Error>) -> Script {
    let mut batches: Vec<_> = events.chunks(size).map(|batch| Ok(batch.to_vec())).collect();
    batches.extend(fault.map(Err));
    Script { batches, ..Script::default() }
}

/// Everything that must hold of what was shown.
fn check(shown: &[Event], run: &crate::Run, world: &World, kept: bool) {
    assert!(matches!(shown.first(), Some(Event::Created(_))));
    assert!(matches!(shown.get(1), Some(Event::Status(_))));
    assert!(matches!(shown.last(), Some(Event::End(_))));
    let mut open = HashSet::new();
    for event in &shown[2..shown.len() - 1] {
        match event {
            Event::Created(_) | Event::Status(_) | Event::End(_) => panic!("{event:?} in the middle"),
            Event::ItemAdded { index, .. } => assert!(open.insert((*index, None))),
            Event::PartAdded { index, part, start } => {
                assert!(open.insert((*index, Some((*part, start.space())))));
            }
            Event::PartDone { index, part, space } => {
                assert!(open.remove(&(*index, Some((*part, *space)))), "{event:?}: {shown:?}");
            }
            Event::ItemDone { index, .. } => {
                assert!(open.remove(&(*index, None)));
                assert!(!open.iter().any(|(of, _)| of == index), "a part outlives its item");
            }
            _ => {}
        }
    }
    assert!(open.is_empty());
    assert_eq!(Response::fold(shown).unwrap(), *run.response());
    assert!(run.response().status.is_final());
    if kept {
        assert_eq!(world.committed(), *run.response());
    } else {
        assert!(world.store.committed.lock().unwrap().is_empty());
    }
}

fn play(script: Script, kept: bool, stops: &[&str]) {
    let mut turn = turn(Vec::new());
    let mut settings = (*turn.settings).clone();
    settings.sampling.stop = stops.iter().map(|stop| (*stop).into()).collect();
    turn.settings = Arc::new(settings);
    let turn = if kept { turn } else { unstored(turn) };
    block_on(async {
        let world = World::new();
        let (run, shown) = world.run(request(turn, &upstream(script))).await;
        check(&shown, &run, &world, kept);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn what_is_shown_is_what_is_kept(
        wishes in wishes(),
        size in 1_usize..6,
        breaks in any::<bool>(),
        kept in any::<bool>(),
        stops in any::<bool>(),
    ) {
        let events = legal(&wishes);
        let fault = breaks.then(|| Error::upstream("gone"));
        play(in_batches(events, size, fault), kept, if stops { &["END", "a"] } else { &[] });
    }

    #[test]
    fn an_upstream_that_says_anything_breaks_nothing(
        wishes in wishes(),
        size in 1_usize..6,
        kept in any::<bool>(),
        stops in any::<bool>(),
    ) {
        play(in_batches(wild(&wishes), size, None), kept, if stops { &["END", "a"] } else { &[] });
    }
}
