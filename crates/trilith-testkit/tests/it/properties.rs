//! What holds for every dialect and any content.

use std::sync::Arc;

use proptest::prelude::*;
use trilith_core::{DialectId, Response, Settings, StreamOptions, Turn};
use trilith_dialect::{ALL_CAPABILITIES, DIALECTS, NameMap, Quirks, Target};
use trilith_testkit::{
    order,
    pipeline::{self, Heard, Played},
    strategy,
};

const STREAM: StreamOptions =
    StreamOptions { stream: true, include_usage: true, include_obfuscation: Some(false) };

fn settings() -> Arc<Settings> {
    Arc::new(Settings { model: "m".into(), ..Settings::default() })
}

pub(crate) fn play(heard: Heard) -> Played {
    pipeline::play(&settings(), heard).unwrap()
}

/// What two views of one answer must agree on.
pub(crate) fn content(response: &Response) -> String {
    let mut text = String::new();
    for output in &response.output {
        let mut item = output.item.clone();
        item.id = None;
        text.push_str(&format!("{item:?}\n"));
    }
    format!("{text}{:?} {:?} {:?}", response.finishes, response.usage, response.status)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_written_stream_obeys_the_order(heard in strategy::heard()) {
        let played = play(heard);
        for dialect in DIALECTS {
            let stream = pipeline::write_stream(*dialect, STREAM, &played.events).unwrap();
            if let Err(why) = order::check(dialect.id(), &stream) {
                panic!("{}: {why}\n{}", dialect.id().name(), String::from_utf8_lossy(&stream));
            }
        }
    }

    #[test]
    fn a_stream_in_any_pieces_says_what_the_whole_answer_says(
        heard in strategy::heard(),
        places in proptest::collection::vec(0.0_f64..1.0, 0..12),
    ) {
        let played = play(heard);
        for dialect in DIALECTS {
            let stream = pipeline::write_stream(*dialect, STREAM, &played.events).unwrap();
            let (status, whole) = pipeline::write_whole(*dialect, &played.response);
            prop_assert_eq!(status, 200);
            let mut cuts: Vec<usize> =
                places.iter().map(|place| (place * stream.len() as f64) as usize).collect();
            cuts.sort_unstable();
            let names = NameMap::default();
            let uncut = pipeline::hear_stream(*dialect, names.clone(), &stream, &[]);
            let cut = pipeline::hear_stream(*dialect, names.clone(), &stream, &cuts);
            prop_assert_eq!(&uncut.events, &cut.events);
            let from_stream = play(cut).response;
            let from_whole = play(pipeline::hear_whole(*dialect, &names, &whole)).response;
            prop_assert_eq!(content(&from_stream), content(&from_whole), "{}", dialect.id().name());
        }
    }

    #[test]
    fn token_counts_survive_every_dialect(answer in strategy::answer()) {
        let played = play(Heard { events: answer.events(), fault: None });
        for dialect in DIALECTS {
            let (_, whole) = pipeline::write_whole(*dialect, &played.response);
            let read = play(pipeline::hear_whole(*dialect, &NameMap::default(), &whole)).response;
            let usage = read.usage.clone().unwrap();
            prop_assert_eq!(usage.input_total, answer.usage().input_total);
            prop_assert_eq!(usage.output_total, answer.usage().output_total);
            prop_assert_eq!(usage.cache_read, answer.usage().cache_read);
        }
    }

    #[test]
    fn a_request_says_the_same_after_any_way_through_the_dialects(turn in strategy::turn()) {
        // A conversation is more than one text.
        let speak = || DIALECTS.iter().filter(|dialect| dialect.id() != DialectId::Completions);
        for first in speak() {
            let once = encode(*first, &turn);
            let read = first.decode_request(&once).unwrap();
            prop_assert_eq!(text_of(&encode(*first, &read)), text_of(&once), "{} is not stable", first.id().name());
            // Messages knows no developers, no free-form calls and no request without a limit, so that another
            // dialect hears the same in other words from it.
            if first.id() == DialectId::Messages {
                continue;
            }
            for second in speak() {
                let direct = encode(*second, &turn);
                let around = encode(*second, &read);
                prop_assert_eq!(
                    text_of(&around), text_of(&direct), "{} after {}", second.id().name(), first.id().name()
                );
            }
        }
    }
}

fn encode(dialect: &dyn trilith_dialect::Dialect, turn: &Turn) -> Vec<u8> {
    let quirks = Quirks::default();
    let target = Target { model: "m", stream: turn.stream.stream, quirks: &quirks, can: &ALL_CAPABILITIES };
    dialect.encode_request(turn, &target).unwrap_or_else(|why| panic!("{why:?}: {turn:?}")).body
}

fn text_of(body: &[u8]) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}
