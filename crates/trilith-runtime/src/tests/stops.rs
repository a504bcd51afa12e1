//! Stop strings, cut here for upstreams that have none.

use std::sync::{Arc, atomic::Ordering};

use proptest::prelude::*;
use trilith_core::{Event, FinishReason, ItemBody, ItemStatus, Logprob, Status, TopLogprob, Turn, Usage};

use super::{
    events::{added, done, done_with, finish, function, message, part, part_done, saying, text, usage},
    fakes::{Script, Scripted, World, request, turn, upstream},
};
use crate::stop::{StopCutter, Stopped};

fn cutter(stops: &[&str]) -> StopCutter {
    StopCutter::new(&stops.iter().map(|stop| (*stop).into()).collect::<Vec<_>>())
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
        let (mut out, mut said, mut stopped) = (Vec::new(), 0, None);
        for pair in borders.windows(2) {
            let piece = &whole[pair[0]..pair[1]];
            said += piece.len();
            stopped = cutter.filter(vec![text(0, 0, piece)], &mut out);
            if stopped.is_some() {
                break;
            }
            let held = said - shown(&out).len();
            prop_assert!(held == 0 || held < longest, "{} bytes held back", held);
        }
        if stopped.is_none() {
            stopped = if ends_with_part {
                cutter.filter(vec![part_done(0, 0)], &mut out)
            } else {
                cutter.finish(&mut out)
            };
        }
        let expected = first_match(&whole, &stops);
        let until = expected.map_or(whole.len(), |(at, _)| at);
        prop_assert_eq!(shown(&out), &whole[..until]);
        prop_assert_eq!(stopped.map(|stopped| stopped.stop), expected.map(|(_, stop)| stop.into()));
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
        let mut stopped = None;
        for token in &tokens {
            let delta = Event::TextDelta { index: 0, part: 0, delta: token.clone(), logprobs: vec![logprob(token)] };
            stopped = cutter.filter(vec![delta], &mut out);
            if stopped.is_some() {
                break;
            }
        }
        if stopped.is_none() {
            stopped = cutter.filter(vec![part_done(0, 0)], &mut out);
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
        if stopped.is_none() {
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
    assert_eq!(cut.filter(vec![text(0, 0, "the EN"), text(1, 0, "an E")], &mut out), None);
    assert_eq!(shown(&out), "the an ");
    assert_eq!(cut.filter(vec![done(0)], &mut out), None);
    assert_eq!(out[out.len() - 2..], [text(0, 0, "EN"), done(0)]);
    assert_eq!(cut.finish(&mut out), None);
    assert_eq!(out.last(), Some(&text(1, 0, "E")));
    // Only a message's own text counts.
    let mut out = Vec::new();
    let thought = Event::PartDelta {
        index: 0,
        part: 0,
        space: trilith_core::PartSpace::Reasoning,
        delta: "END".into(),
    };
    assert_eq!(cut.filter(vec![thought.clone()], &mut out), None);
    assert_eq!(out, [thought]);
}

#[test]
fn token_counts_behind_the_cut_are_kept() {
    let mut out = Vec::new();
    let events = vec![text(0, 0, "a END b"), part_done(0, 0), done(0), usage(1, 1), usage(4, 2)];
    let stopped = cutter(&["END"]).filter(events, &mut out);
    let counted = Usage { input_total: 4, output_total: 2, ..Usage::default() };
    assert_eq!(stopped, Some(Stopped { index: 0, stop: "END".into(), usage: Some(counted) }));
    assert_eq!(out, [text(0, 0, "a ")]);
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
async fn an_upstream_that_knows_stop_strings_is_left_alone() {
    let world = World::new();
    let mut events = saying("one END two");
    events.extend([part_done(0, 0), done(0), usage(1, 1), finish(FinishReason::Stop)]);
    let place = Arc::new(Scripted::new("vendor", trilith_core::DialectId::Chat).plays(events));
    let (run, _) = world.run(request(stopping(&["END"]), &place)).await;
    let ItemBody::Message(message) = &run.response().output[0].item.body else { panic!() };
    assert_eq!(message.parts[0].as_text(), Some("one END two"));
}
