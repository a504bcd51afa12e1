//! Several answers by several calls.

use std::sync::{Arc, atomic::Ordering};

use futures_util::FutureExt;
use proptest::prelude::*;
use trilith_core::{
    Abilities, Disposition, Error, ErrorKind, Event, FinishReason, ItemBody, OutputItem, PartKind, Settings,
    Status, Turn, Usage,
};

use super::{
    events::{added, carrier, done, done_with, finish, function, message, part, part_done, text, usage},
    fakes::{Policy, Script, Scripted, World, block_on, candidate, request, turn, unstored},
};

fn asking(n: u32, change: impl FnOnce(&mut Settings)) -> Turn {
    let mut turn = unstored(turn(Vec::new()));
    let settings = Arc::make_mut(&mut turn.settings);
    settings.sampling.n = Some(n);
    change(settings);
    turn
}

/// A place that gives one answer to a call.
fn place(scripts: impl IntoIterator<Item = Script>) -> Arc<Scripted> {
    let can = Abilities { several_answers: false, stop_strings: 0, ..Abilities::ALL };
    let place = Scripted::new("vendor", trilith_core::DialectId::Messages).can(can);
    Arc::new(scripts.into_iter().fold(place, Scripted::plays))
}

fn answer(said: &str, counts: (u64, u64)) -> Vec<Event> {
    let begin = trilith_core::Begin { upstream_id: Some(said.into()), ..Default::default() };
    let mut events = vec![Event::Begin(Box::new(begin)), added(0, message()), part(0, 0), text(0, 0, said)];
    events.extend([part_done(0, 0), done(0), usage(counts.0, counts.1), finish(FinishReason::Stop)]);
    events
}

fn said(output: &OutputItem) -> String {
    let ItemBody::Message(message) = &output.item.body else { return "?".to_owned() };
    message.parts.iter().filter_map(|part| part.as_text()).collect()
}

#[tokio::test]
async fn each_answer_is_a_call_and_all_are_one_response() {
    let world = World::new();
    let answers = [("one", (10, 3)), ("two", (10, 4)), ("three", (10, 5))];
    let place = place(answers.map(|(said, counts)| Script::from(answer(said, counts))));
    let (run, shown) = world.run(request(asking(3, |_| {}), &place)).await;
    let response = run.response();
    let output: Vec<_> = response.output.iter().map(|output| (output.choice, said(output))).collect();
    assert_eq!(output, [(0, "one".to_owned()), (1, "two".to_owned()), (2, "three".to_owned())]);
    assert_eq!(response.finishes, vec![Some(FinishReason::Stop); 3]);
    // What was written is summed; the prompt is one.
    let counted = Usage { input_total: 10, output_total: 12, ..Usage::default() };
    assert_eq!(response.usage, Some(counted));
    assert_eq!(response.upstream.upstream_id.as_deref(), Some("one"));
    assert_eq!(shown.iter().filter(|event| matches!(event, Event::Begin(_))).count(), 1);
    let asked = place.calls.lock().unwrap();
    assert!(asked.iter().all(|call| call.turn.settings.sampling.n.is_none()));
    assert_eq!(response.settings.sampling.n, Some(3), "the response keeps what the caller wrote");
    let told: Vec<_> = run.losses().iter().map(|loss| (&*loss.path, loss.disposition)).collect();
    assert_eq!(told, [("n", Disposition::Emulate)]);
}

#[tokio::test]
async fn equal_seeds_would_draw_equal_answers() {
    let world = World::new();
    let place = place([1, 2, 3].map(|_| Script::from(answer("x", (1, 1)))));
    world.run(request(asking(3, |settings| settings.sampling.seed = Some(7)), &place)).await;
    let asked = place.calls.lock().unwrap();
    let seeds: Vec<_> = asked.iter().map(|call| call.turn.settings.sampling.seed).collect();
    assert_eq!(seeds, [Some(7), Some(8), Some(9)]);
}

#[tokio::test]
async fn a_target_that_can_is_asked_once_and_too_many_are_refused() {
    let world = World::new();
    let able = Arc::new(Scripted::new("able", trilith_core::DialectId::Chat).plays(answer("x", (1, 1))));
    world.run(request(asking(100, |_| {}), &able)).await;
    assert_eq!(able.count(), 1);
    let place = place([]);
    let error = world.start(request(asking(9, |_| {}), &place)).await.err().unwrap();
    assert_eq!((error.kind, error.param.as_deref()), (ErrorKind::BadRequest, Some("n")));
    assert!(error.public.contains("at most 8") && error.public.contains("limits.max_choices"), "{error:?}");
    assert_eq!(place.count(), 0);
}

#[tokio::test]
async fn stop_strings_are_cut_in_each_answer() {
    let world = World::new();
    let scripts = [answer("a END b", (5, 9)), answer("c", (5, 1)), answer("END", (5, 9))];
    let place = place(scripts.map(Script::from));
    let turn = asking(3, |settings| settings.sampling.stop = vec!["END".into()]);
    let (run, _) = world.run(request(turn, &place)).await;
    let response = run.response();
    assert_eq!(response.output.iter().map(said).collect::<Vec<_>>(), ["a ", "c", ""]);
    let stopped = || Some(FinishReason::StopString(Some("END".into())));
    assert_eq!(response.finishes, [stopped(), Some(FinishReason::Stop), stopped()]);
}

#[tokio::test]
async fn a_failure_before_anything_was_shown_is_tried_again_alone() {
    let world = World::new();
    let can = Abilities { several_answers: false, ..Abilities::ALL };
    let place = Scripted::new("vendor", trilith_core::DialectId::Messages).can(can);
    let place =
        place.plays(answer("one", (1, 1))).fails(Error::upstream("gone")).plays(answer("two", (1, 1)));
    let place = Arc::new(place);
    let mut run =
        world.runtime.start(request(asking(2, |_| {}), &place), &mut Policy::of(&[(0, 0)])).await.unwrap();
    world.watch(&mut run).await;
    assert_eq!(run.response().status, Status::Completed);
    assert_eq!(place.count(), 3, "the answer that had begun was kept");
    // Another target gets all of it.
    let first = Arc::new(
        Scripted::new("first", trilith_core::DialectId::Messages)
            .can(can)
            .plays(answer("never", (1, 1)))
            .fails(Error::upstream("gone")),
    );
    let second = Arc::new(Scripted::new("second", trilith_core::DialectId::Chat).plays(answer("x", (1, 1))));
    let mut request = request(asking(2, |_| {}), &first);
    request.candidates.push(candidate(&second));
    let run = world.runtime.start(request, &mut Policy::of(&[(1, 0)])).await.unwrap();
    assert_eq!(run.upstream(), "second");
    assert_eq!(second.calls.lock().unwrap()[0].turn.settings.sampling.n, Some(2));
    assert!(first.dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn one_answer_that_breaks_off_ends_the_stream() {
    let world = World::new();
    let broken = Script { batches: vec![Err(Error::upstream("gone"))], ..Script::default() };
    let hanging = Script { batches: vec![Ok(answer("x", (3, 2)))], hang: true, ..Script::default() };
    let place = place([hanging, broken]);
    let (run, _) = world.run(request(asking(2, |_| {}), &place)).await;
    assert_eq!(run.response().status, Status::Failed);
    assert_eq!(run.response().error.as_ref().map(|error| &*error.public), Some("gone"));
    assert!(place.dropped.load(Ordering::SeqCst));
    // An answer that just stops is one that broke off.
    let place = self::place([Script::from(answer("x", (3, 2))), Script::from(vec![added(0, message())])]);
    let (run, _) = world.run(request(asking(2, |_| {}), &place)).await;
    assert_eq!(run.response().status, Status::Failed);
}

#[tokio::test]
async fn a_client_that_leaves_cancels_every_call() {
    let world = World::new();
    let hanging = || Script { batches: vec![Ok(vec![added(0, message())])], hang: true, ..Script::default() };
    let place = place([hanging(), hanging(), hanging()]);
    let mut run = world.start(request(asking(3, |_| {}), &place)).await.unwrap();
    let mut events = Vec::new();
    for _ in 0..4 {
        world.step(&mut run, &mut events).await;
    }
    assert!(world.step(&mut run, &mut events).now_or_never().is_none(), "{events:?}");
    assert_eq!(place.alive.load(Ordering::SeqCst), 3);
    drop(run);
    assert_eq!(place.alive.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn counts_that_are_missing_are_estimated_and_marked() {
    let world = World::new();
    let mut silent = answer("twelve bytes", (0, 0));
    silent.retain(|event| !matches!(event, Event::Usage(_)));
    let place = place([silent, answer("x", (10, 5))].map(Script::from));
    let (run, _) = world.run(request(asking(2, |_| {}), &place)).await;
    let counted = Usage { input_total: 10, output_total: 8, estimated: true, ..Usage::default() };
    assert_eq!(run.response().usage, Some(counted));
    assert!(run.losses().iter().any(|loss| &*loss.path == "usage"));
}

/// An answer of the generator: its kind of items, in pieces.
fn answers() -> impl Strategy<Value = Vec<Vec<Vec<Event>>>> {
    let item = (0_u8..3, proptest::collection::vec("[abé🙂 ]{0,4}", 0..4));
    let one = (proptest::collection::vec(item, 1..4), 1_usize..4, 0_u64..50);
    proptest::collection::vec(one, 2..5).prop_map(|all| {
        all.into_iter()
            .map(|(items, size, output)| {
                let mut events = Vec::new();
                for (index, (kind, pieces)) in items.into_iter().enumerate() {
                    events.extend(an_item(index as u32, kind, pieces));
                }
                events.extend([usage(20, output), finish(FinishReason::Stop)]);
                events.chunks(size).map(<[Event]>::to_vec).collect()
            })
            .collect()
    })
}

fn an_item(index: u32, kind: u8, pieces: Vec<String>) -> Vec<Event> {
    let mut events = match kind {
        0 => vec![added(index, message()), part(index, 0)],
        1 => vec![added(index, function("look"))],
        _ => vec![added(index, ItemBody::Reasoning(trilith_core::Reasoning::default()))],
    };
    events.extend(pieces.into_iter().map(|piece| match kind {
        0 => text(index, 0, &piece),
        1 => Event::ArgumentsDelta { index, delta: piece },
        _ => Event::Detail {
            index: Some(index),
            dialect: trilith_core::DialectId::Messages,
            json: trilith_core::Json::from_checked("{}"),
        },
    }));
    let mut end = done_with(index, trilith_core::ItemStatus::Completed);
    if let (2, Event::ItemDone { carriers, .. }) = (kind, &mut end) {
        carriers.push(carrier("secret"));
    }
    events.push(end);
    events
}

/// What an answer holds, whatever its place among others.
fn content(response: &trilith_core::Response, choice: u16) -> (Vec<String>, Option<FinishReason>) {
    let own = response.output.iter().filter(|output| output.choice == choice);
    let items = own.map(|output| match &output.item.body {
        ItemBody::Message(message) => {
            let text = |part: &trilith_core::Part| match &part.kind {
                PartKind::Text(text) => text.text.clone(),
                other => format!("{other:?}"),
            };
            message.parts.iter().map(text).collect()
        }
        ItemBody::Call(call) => format!("{}({})", call.name, call.args),
        ItemBody::Reasoning(reasoning) => format!("thinks, {} carriers", reasoning.carriers.len()),
        other => format!("{other:?}"),
    });
    (items.collect(), response.finishes.get(usize::from(choice)).cloned().flatten())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// However the answers come in between each other, they are what each would have been alone.
    #[test]
    fn answers_are_the_same_together_as_alone(
        answers in answers(),
        waits in proptest::collection::vec(0_u8..4, 0..40),
    ) {
        block_on(async {
            let script = |batches: Vec<Vec<Event>>, waits: Vec<u8>| Script {
                batches: batches.into_iter().map(Ok).collect(),
                waits,
                ..Script::default()
            };
            let world = World::new();
            let n = answers.len();
            let scripts = answers.iter().enumerate().map(|(at, batches)| {
                // Each call keeps its own time.
                let waits = waits.iter().skip(at).step_by(n).copied().collect();
                script(batches.clone(), waits)
            });
            let (run, shown) = world.run(request(asking(n as u32, |_| {}), &place(scripts))).await;
            let together = trilith_core::Response::fold(&shown).unwrap();
            assert_eq!(together, *run.response());
            let mut written = 0;
            for (choice, batches) in answers.iter().enumerate() {
                let lone = place([script(batches.clone(), Vec::new())]);
                let (run, _) = world.run(request(asking(1, |_| {}), &lone)).await;
                assert_eq!(content(&together, choice as u16), content(run.response(), 0));
                written += run.response().usage.as_ref().unwrap().output_total;
            }
            let counted = together.usage.clone().unwrap();
            assert_eq!((counted.input_total, counted.output_total), (20, written));
        });
    }
}

/// A completion of that many prompts, `a`, `b` and so on.
fn prompted(prompts: u8, n: u32) -> Turn {
    let prompt = |place: u8| trilith_core::Item::message(trilith_core::Role::User, char::from(b'a' + place));
    let more_prompts = (1..prompts).map(|place| vec![prompt(place)]).collect();
    let mut turn = asking(n, |settings| settings.sampling.seed = Some(7));
    turn.input = vec![prompt(0)];
    turn.completion = Some(trilith_core::Completion { more_prompts, ..Default::default() });
    turn
}

/// What each call was sent: its prompts, its seed and how many answers it is to give.
fn sent(place: &Scripted) -> Vec<(String, usize, Option<i64>, Option<u32>)> {
    let calls = place.calls.lock().unwrap();
    let one = |call: &trilith_core::ModelCall| {
        let sampling = &call.turn.settings.sampling;
        let [trilith_core::Item { body: ItemBody::Message(message), .. }] = call.turn.input.as_slice() else {
            panic!("{:?}", call.turn.input)
        };
        let text = message.parts.iter().filter_map(|part| part.as_text()).collect();
        let more = call.turn.completion.as_ref().unwrap().more_prompts.len();
        (text, more, sampling.seed, sampling.n)
    };
    calls.iter().map(one).collect()
}

#[tokio::test]
async fn each_prompt_is_a_call_and_its_answers_stand_together() {
    let none = Abilities { several_answers: false, several_prompts: false, ..Abilities::ALL };
    let counts = [(10, 1), (10, 1), (20, 1), (20, 1)];
    let place = counts.map(|counts| Script::from(answer("x", counts)));
    let place = place
        .into_iter()
        .fold(Scripted::new("vendor", trilith_core::DialectId::Messages).can(none), Scripted::plays);
    let place = Arc::new(place);
    let world = World::new();
    let (run, _) = world.run(request(prompted(2, 2), &place)).await;
    let own = |text: &str, seed| (text.to_owned(), 0, Some(seed), None);
    assert_eq!(sent(&place), [own("a", 7), own("a", 8), own("b", 7), own("b", 8)]);
    let numbers: Vec<u16> = run.response().output.iter().map(|output| output.choice).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
    // Each prompt is read once.
    let counted = Usage { input_total: 30, output_total: 4, ..Usage::default() };
    assert_eq!(run.response().usage, Some(counted));
    assert_eq!(run.losses()[0].path.as_ref(), "prompt");
}

#[tokio::test]
async fn a_target_of_several_answers_is_called_once_for_each_prompt() {
    let can = Abilities { several_prompts: false, ..Abilities::ALL };
    let both = || {
        let mut events = answer("x", (5, 2));
        let last = events.pop().unwrap();
        let item = trilith_core::Event::ItemAdded {
            index: 1,
            choice: 1,
            item: match added(1, message()) {
                Event::ItemAdded { item, .. } => item,
                _ => unreachable!(),
            },
        };
        events.extend([item, done(1), last]);
        events.push(Event::Finish(trilith_core::Finish { choice: 1, reason: FinishReason::Stop }));
        Script::from(events)
    };
    let place = Scripted::new("vendor", trilith_core::DialectId::Chat).can(can).plays(both()).plays(both());
    let place = Arc::new(place);
    let (run, _) = World::new().run(request(prompted(2, 2), &place)).await;
    let own = |text: &str| (text.to_owned(), 0, Some(7), Some(2));
    assert_eq!(sent(&place), [own("a"), own("b")]);
    let mut numbers: Vec<u16> = run.response().output.iter().map(|output| output.choice).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [0, 1, 2, 3]);
    assert_eq!(
        run.response().usage.as_ref().map(|usage| (usage.input_total, usage.output_total)),
        Some((10, 4))
    );
}

#[tokio::test]
async fn a_target_of_several_prompts_is_called_once() {
    let place = Scripted::new("vendor", trilith_core::DialectId::Completions).plays(answer("x", (5, 2)));
    let place = Arc::new(place);
    World::new().run(request(prompted(2, 1), &place)).await;
    assert_eq!(sent(&place), [("a".to_owned(), 1, Some(7), Some(1))]);
}

#[tokio::test]
async fn more_prompts_than_calls_are_allowed_are_refused_by_name() {
    let can = Abilities { several_prompts: false, ..Abilities::ALL };
    let place = Arc::new(Scripted::new("vendor", trilith_core::DialectId::Chat).can(can));
    let error = World::new().start(request(prompted(26, 2), &place)).await.err().unwrap();
    assert_eq!(error.param.as_deref(), Some("prompt"));
    assert!(error.public.contains("needs 26 calls") && error.public.contains("at most 8"), "{error:?}");
}
