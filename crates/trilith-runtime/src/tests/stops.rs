//! Stop strings, cut here for upstreams that have none.

use std::sync::{Arc, atomic::Ordering};

use proptest::prelude::*;
use trilith_core::{
    Abilities, Disposition, Event, Finish, FinishReason, ItemBody, ItemStatus, Logprob, Loss, Status,
    TopLogprob, Turn, Usage,
};

use super::{
    events::{added, done, done_with, finish, function, message, part, part_done, saying, text, usage},
    fakes::{Script, Scripted, World, request, turn, upstream},
};
use crate::emulate::{Filter, Flow, StopCutter};

fn cutter(stops: &[&str]) -> StopCutter {
    let stops: Vec<_> = stops.iter().filter(|stop| !stop.is_empty()).map(|stop| (*stop).into()).collect();
    let mut cutter = StopCutter::new(&stops, 1);
    cutter.take(vec![added(0, message()), part(0, 0)], &mut Vec::new()).unwrap();
    cutter
}

/// The stop string that ended the answer, if one did.
fn stopped_at(events: &[Event]) -> Option<String> {
    let reason = events.iter().find_map(|event| match event {
        Event::Finish(Finish { reason: FinishReason::StopString(stop), .. }) => stop.as_deref(),
        _ => None,
    });
    reason.map(str::to_owned)
}

fn shown(events: &[Event]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        Event::TextDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

/// What the rule says of a whole text: where it is cut, and by what.
fn first_match<'s>(whole: &str, stops: &[&'s str]) -> Option<(usize, &'s str)> {
    let found = stops.iter().filter(|stop| !stop.is_empty());
    found
        .filter_map(|stop| Some((whole.find(stop)?, *stop)))
        .min_by_key(|(at, stop)| (*at, usize::MAX - stop.len()))
}

fn letters(length: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    let letter = proptest::sample::select(vec!["a", "b", "c", "é", "漢", "🙂"]);
    proptest::collection::vec(letter, length).prop_map(|letters| letters.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_text_is_cut_at_the_first_match_however_it_comes(
        whole in letters(0..24),
        stops in proptest::collection::vec(letters(0..4), 0..4),
        cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ends_with_part in any::<bool>(),
    ) {
        let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
        let longest = stops.iter().map(|stop| stop.len()).max().unwrap_or(0);
        let mut borders: Vec<usize> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
        borders.retain(|at| whole.is_char_boundary(*at));
        borders.extend([0, whole.len()]);
        borders.sort_unstable();
        let mut cutter = cutter(&stops);
        let (mut out, mut said) = (Vec::new(), 0);
        for pair in borders.windows(2) {
            let piece = &whole[pair[0]..pair[1]];
            said += piece.len();
            let flow = cutter.take(vec![text(0, 0, piece)], &mut out).unwrap();
            prop_assert_eq!(flow == Flow::Enough, stopped_at(&out).is_some());
            if flow == Flow::Enough {
                break;
            }
            let held = said - shown(&out).len();
            prop_assert!(held == 0 || held < longest, "{} bytes held back", held);
        }
        if stopped_at(&out).is_none() {
            if ends_with_part {
                cutter.take(vec![part_done(0, 0)], &mut out).unwrap();
            }
            cutter.finish(&mut out).unwrap();
        }
        let expected = first_match(&whole, &stops);
        let until = expected.map_or(whole.len(), |(at, _)| at);
        prop_assert_eq!(shown(&out), &whole[..until]);
        prop_assert_eq!(stopped_at(&out), expected.map(|(_, stop)| stop.to_owned()));
        let deltas = out.iter().filter(|event| matches!(event, Event::TextDelta { .. }));
        prop_assert!(deltas.clone().all(|event| !shown(std::slice::from_ref(event)).is_empty()));
    }

    #[test]
    fn tokens_go_with_their_text(
        tokens in proptest::collection::vec(letters(1..3), 1..12),
        stops in proptest::collection::vec(letters(1..4), 1..3),
    ) {
        let stops: Vec<&str> = stops.iter().map(String::as_str).collect();
        let mut cutter = cutter(&stops);
        let mut out = Vec::new();
        for token in &tokens {
            let delta = Event::TextDelta { index: 0, part: 0, delta: token.clone(), logprobs: vec![logprob(token)] };
            if cutter.take(vec![delta], &mut out).unwrap() == Flow::Enough {
                break;
            }
        }
        if stopped_at(&out).is_none() {
            cutter.take(vec![part_done(0, 0)], &mut out).unwrap();
        }
        let told: Vec<String> = out.iter().flat_map(|event| match event {
            Event::TextDelta { logprobs, .. } => logprobs.iter().map(|told| told.chosen.token.to_string()).collect(),
            _ => Vec::new(),
        }).collect();
        let text = shown(&out);
        // Every token whose text was shown whole, and no other.
        let mut end = 0;
        let whole = tokens.iter().take_while(|token| {
            end += token.len();
            end <= text.len()
        });
        let whole: Vec<String> = whole.cloned().collect();
        if stopped_at(&out).is_none() {
            prop_assert_eq!(&told, &tokens);
        }
        prop_assert_eq!(told, whole);
    }
}

fn logprob(token: &str) -> Logprob {
    let chosen = TopLogprob { token: token.into(), logprob: -0.5, bytes: None };
    Logprob { chosen, top: Vec::new() }
}

#[test]
fn what_is_held_back_comes_out_when_its_item_or_the_answer_ends() {
    let mut cut = cutter(&["END"]);
    let mut out = Vec::new();
    let begun = vec![added(1, message()), part(1, 0)];
    cut.take(begun, &mut Vec::new()).unwrap();
    cut.take(vec![text(0, 0, "the EN"), text(1, 0, "an E")], &mut out).unwrap();
    assert_eq!(shown(&out), "the an ");
    assert_eq!(cut.take(vec![done(0)], &mut out), Ok(Flow::More));
    assert_eq!(out[out.len() - 2..], [text(0, 0, "EN"), done(0)]);
    cut.finish(&mut out).unwrap();
    assert_eq!(out.last(), Some(&text(1, 0, "E")));
    // Only a message's own text counts.
    let mut out = Vec::new();
    let thought = Event::PartDelta {
        index: 1,
        part: 0,
        space: trilith_core::PartSpace::Reasoning,
        delta: "END".into(),
    };
    assert_eq!(cut.take(vec![thought.clone()], &mut out), Ok(Flow::More));
    assert_eq!(out, [thought]);
}

fn in_answer(choice: u16, index: u32) -> Event {
    Event::ItemAdded { index, choice, item: Box::new(trilith_core::Item::new(message())) }
}

#[test]
fn of_several_answers_one_is_cut_while_the_others_go_on() {
    let mut cut = StopCutter::new(&["END".into()], 3);
    let mut out = Vec::new();
    let begun = vec![in_answer(0, 0), part(0, 0), in_answer(1, 1), part(1, 0)];
    assert_eq!(cut.take(begun.clone(), &mut out), Ok(Flow::More));
    assert_eq!(std::mem::take(&mut out), begun);
    // Nothing more of an answer that was cut, its new items and its own end included.
    let batch = vec![text(0, 0, "a END b"), text(1, 0, "c"), in_answer(0, 2), part(2, 0), in_answer(2, 3)];
    assert_eq!(cut.take(batch, &mut out), Ok(Flow::More));
    let reason = FinishReason::StopString(Some("END".into()));
    let ended = |choice, reason| Event::Finish(Finish { choice, reason });
    let expected = [
        text(0, 0, "a "),
        part_done(0, 0),
        done(0),
        ended(0, reason.clone()),
        text(1, 0, "c"),
        in_answer(2, 2),
    ];
    assert_eq!(std::mem::take(&mut out), expected);
    let batch = vec![text(2, 0, "b"), ended(0, FinishReason::Length), ended(2, FinishReason::Stop)];
    assert_eq!(cut.take(batch, &mut out), Ok(Flow::More));
    assert_eq!(std::mem::take(&mut out), [ended(2, FinishReason::Stop)]);
    // The last that was wanted ends the call.
    assert_eq!(cut.take(vec![text(1, 0, "d END"), text(1, 0, "e")], &mut out), Ok(Flow::Enough));
    assert_eq!(out, [text(1, 0, "d "), part_done(1, 0), done(1), ended(1, reason)]);
    // An item out of order is the target's fault, and nothing is guessed.
    assert!(cut.take(vec![in_answer(0, 9)], &mut out).is_err());
    assert!(cut.take(vec![text(9, 0, "")], &mut out).is_err());
}

fn stopping(stops: &[&str]) -> Turn {
    let mut turn = turn(Vec::new());
    let mut settings = (*turn.settings).clone();
    settings.sampling.stop = stops.iter().map(|stop| (*stop).into()).collect();
    turn.settings = Arc::new(settings);
    turn
}

#[tokio::test]
async fn a_stop_string_closes_everything_in_order_and_cancels_the_call() {
    let world = World::new();
    let mut events = vec![added(0, function("look")), added(1, message()), part(1, 0), part(1, 1)];
    events.extend([text(1, 1, "beside E"), text(1, 0, "one E"), text(1, 0, "ND two")]);
    let place = upstream(Script { batches: vec![Ok(events)], hang: true, ..Script::default() });
    let (run, shown) = world.run(request(stopping(&["END"]), &place)).await;
    assert!(place.dropped.load(Ordering::SeqCst));
    let from = shown.iter().position(|event| matches!(event, Event::ItemDone { .. })).unwrap();
    assert_eq!(shown[from], done_with(0, ItemStatus::Incomplete));
    let reason = FinishReason::StopString(Some("END".into()));
    assert_eq!(
        shown[from + 1..from + 5],
        [part_done(1, 0), part_done(1, 1), done(1), finish(reason.clone())]
    );
    assert!(matches!(shown.last(), Some(Event::End(end)) if end.status == Status::Completed));
    assert_eq!(run.response().finishes, [Some(reason)]);
    assert!(run.response().usage.clone().unwrap().estimated);
    let ItemBody::Message(message) = &run.response().output[1].item.body else { panic!() };
    assert_eq!(message.parts[0].as_text(), Some("one "));
    assert_eq!(
        message.parts[1].as_text(),
        Some("beside E"),
        "what was held back beside it is no stop string"
    );
    assert_eq!(world.committed(), *run.response());
}

#[tokio::test]
async fn held_text_is_not_lost_when_the_upstream_breaks_or_ends() {
    for broken in [false, true] {
        let world = World::new();
        let mut batches = vec![Ok(saying("almost EN"))];
        if broken {
            batches.push(Err(trilith_core::Error::upstream("gone")));
        } else {
            batches.push(Ok(vec![finish(FinishReason::Length)]));
        }
        let place = upstream(Script { batches, ..Script::default() });
        let (run, _) = world.run(request(stopping(&["END"]), &place)).await;
        let ItemBody::Message(message) = &run.response().output[0].item.body else { panic!() };
        assert_eq!(message.parts[0].as_text(), Some("almost EN"));
        let status = if broken { Status::Failed } else { Status::Incomplete };
        assert_eq!(run.response().status, status);
    }
}

#[tokio::test]
async fn token_counts_are_the_upstreams_own_or_marked_as_estimated() {
    let counted = |usage: Usage| (usage.input_total, usage.output_total, usage.estimated);
    // What comes with the rest of a whole answer counts.
    let mut whole = saying("a END b");
    whole.extend([part_done(0, 0), done(0), usage(1, 1), usage(4, 2), finish(FinishReason::Stop)]);
    // Counts from the start of a stream are not all of it: its end, cut off, would have told.
    let mut begun = vec![usage(40, 1)];
    begun.extend(saying("a whole sentence END"));
    let silent = saying("a whole sentence END");
    for (events, expected) in [(whole, (4, 2, false)), (begun, (40, 5, true)), (silent, (0, 5, true))] {
        let world = World::new();
        let place = upstream(Script { batches: vec![Ok(events)], hang: true, ..Script::default() });
        let (run, _) = world.run(request(stopping(&["END"]), &place)).await;
        assert_eq!(counted(run.response().usage.clone().unwrap()), expected);
        let told = run.losses().iter().any(|loss| &*loss.path == "usage");
        assert_eq!(told, expected.2, "an estimate is told");
    }
}

#[tokio::test]
async fn a_target_is_told_as_many_stop_strings_as_it_takes() {
    let taking =
        |stop_strings, blank_stop_strings| Abilities { stop_strings, blank_stop_strings, ..Abilities::ALL };
    // What the target takes, what was asked for, what it is told (nothing, where all are cut here).
    let table: &[(Abilities, &[&str], &[&str])] = &[
        (taking(4, true), &["END", "", " "], &["END", " "]),
        (taking(4, true), &["END", "B", "C", "D", "F"], &[]),
        (taking(usize::MAX, false), &["END", "B", "C", "D", "F"], &["END", "B", "C", "D", "F"]),
        (taking(usize::MAX, false), &["END", "\n\n"], &[]),
        (taking(0, true), &["END"], &[]),
        (taking(0, true), &["", ""], &[]),
    ];
    for (can, asked, told) in table {
        let world = World::new();
        let mut events = saying("one END two");
        events.extend([part_done(0, 0), done(0), usage(1, 1), finish(FinishReason::Stop)]);
        let place = Arc::new(Scripted::new("vendor", trilith_core::DialectId::Chat).can(*can).plays(events));
        let (run, _) = world.run(request(stopping(asked), &place)).await;
        let sent = place.calls.lock().unwrap()[0].turn.settings.sampling.stop.clone();
        assert_eq!(sent.iter().map(|stop| &**stop).collect::<Vec<_>>(), *told);
        let cut = told.is_empty() && asked.contains(&"END");
        let ItemBody::Message(message) = &run.response().output[0].item.body else { panic!() };
        assert_eq!(message.parts[0].as_text(), Some(if cut { "one " } else { "one END two" }), "{asked:?}");
        let emulated = |loss: &Loss| &*loss.path == "stop" && loss.disposition == Disposition::Emulate;
        assert_eq!(run.losses().iter().any(emulated), cut, "{asked:?}");
        // The response keeps what the caller wrote.
        assert_eq!(run.response().settings.sampling.stop.len(), asked.len());
    }
}
