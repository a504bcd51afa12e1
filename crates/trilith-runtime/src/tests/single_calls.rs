//! One tool call at a time, where the target cannot be held to it.

use std::sync::{Arc, atomic::Ordering};

use trilith_core::{
    Abilities, Disposition, Event, Finish, FinishReason, Item, ItemBody, ItemStatus, Json, Settings, Tool,
    ToolChoice, ToolKind, Turn, Usage,
};

use super::{
    events::{added, done, done_with, finish, function, message, part, part_done, text, usage},
    fakes::{Script, Scripted, World, request, turn, unstored},
};

fn tool() -> Tool {
    let kind = ToolKind::Function {
        name: "look".into(),
        description: None,
        parameters: Some(Json::from_checked("{}")),
        strict: None,
    };
    Tool::new(kind)
}

fn one_at_a_time(change: impl FnOnce(&mut Settings)) -> Turn {
    let mut turn = unstored(turn(Vec::new()));
    let settings = Arc::make_mut(&mut turn.settings);
    settings.parallel_tool_calls = Some(false);
    settings.tools = vec![tool()];
    change(settings);
    turn
}

fn place(script: Script) -> Arc<Scripted> {
    let can = Abilities { single_tool_call: false, ..Abilities::ALL };
    Arc::new(Scripted::new("vendor", trilith_core::DialectId::Chat).can(can).plays(script))
}

fn call(index: u32, args: &str) -> Vec<Event> {
    vec![added(index, function("look")), Event::ArgumentsDelta { index, delta: args.into() }, done(index)]
}

/// The arguments of the calls that the caller sees.
fn seen(output: &[trilith_core::OutputItem]) -> Vec<(&str, Option<ItemStatus>)> {
    let call = |output: &'_ trilith_core::OutputItem| match &output.item.body {
        ItemBody::Call(call) => Some((call.args.clone(), output.item.status)),
        _ => None,
    };
    let calls: Vec<_> = output.iter().filter_map(call).collect();
    calls.into_iter().map(|(args, status)| (&*args.leak(), status)).collect()
}

#[tokio::test]
async fn of_several_calls_the_first_is_kept_and_the_upstream_is_left_when_it_goes_on() {
    let world = World::new();
    let speech = vec![usage(30, 1), added(0, message()), part(0, 0), text(0, 0, "Looking.")];
    let second = vec![added(2, function("look"))];
    let batches = vec![Ok(speech), Ok(call(1, "{\"at\":1}")), Ok(second)];
    let place = place(Script { batches, hang: true, ..Script::default() });
    let (run, _) = world.run(request(one_at_a_time(|_| {}), &place)).await;
    let response = run.response();
    assert_eq!(seen(&response.output), [("{\"at\":1}", Some(ItemStatus::Completed))]);
    assert_eq!(response.output[0].item.status, Some(ItemStatus::Completed), "said before the call, so whole");
    assert_eq!(response.finishes, [Some(FinishReason::ToolCalls)]);
    let counted = Usage { input_total: 30, output_total: 4, estimated: true, ..Usage::default() };
    assert_eq!(response.usage, Some(counted));
    assert!(place.dropped.load(Ordering::SeqCst));
    assert_eq!(place.calls.lock().unwrap()[0].turn.settings.parallel_tool_calls, None);
    let told: Vec<_> = run.losses().iter().map(|loss| (&*loss.path, loss.disposition)).collect();
    assert_eq!(told, [("parallel_tool_calls", Disposition::Emulate), ("usage", Disposition::Warn)]);
}

#[tokio::test]
async fn calls_that_come_in_between_each_other_are_told_apart() {
    let world = World::new();
    let arguments = |index, delta: &str| Event::ArgumentsDelta { index, delta: delta.into() };
    let events = vec![
        added(0, function("look")),
        added(1, function("look")),
        arguments(1, "{\"b\""),
        arguments(0, "{\"a\""),
        arguments(1, ":2}"),
        done(1),
        arguments(0, ":1}"),
        done(0),
        added(2, function("look")),
        done(2),
        usage(5, 6),
        finish(FinishReason::ToolCalls),
    ];
    for size in 1..events.len() {
        let batches = events.chunks(size).map(|batch| Ok(batch.to_vec())).collect();
        let place = place(Script { batches, ..Script::default() });
        let (run, _) = world.run(request(one_at_a_time(|_| {}), &place)).await;
        assert_eq!(seen(&run.response().output), [("{\"a\":1}", Some(ItemStatus::Completed))]);
        assert_eq!(run.response().finishes, [Some(FinishReason::ToolCalls)]);
    }
}

#[tokio::test]
async fn one_call_by_itself_is_left_as_it_is() {
    let world = World::new();
    let mut events = call(0, "{}");
    events.extend([usage(5, 6), finish(FinishReason::ToolCalls)]);
    let alone =
        place(Script { batches: events.iter().map(|e| Ok(vec![e.clone()])).collect(), ..Script::default() });
    let (run, _) = world.run(request(one_at_a_time(|_| {}), &alone)).await;
    assert_eq!(run.response().usage, Some(Usage { input_total: 5, output_total: 6, ..Usage::default() }));
    // A call that is cut short ends as the target says, and takes no other's place.
    let events = vec![
        added(0, function("look")),
        done_with(0, ItemStatus::Incomplete),
        added(1, function("look")),
        done(1),
        usage(5, 6),
        finish(FinishReason::Length),
    ];
    let (run, _) = world.run(request(one_at_a_time(|_| {}), &place(events.into()))).await;
    assert_eq!(seen(&run.response().output), [("", Some(ItemStatus::Incomplete))]);
    assert_eq!(run.response().finishes, [Some(FinishReason::Length)]);
}

#[tokio::test]
async fn each_of_several_answers_has_its_first_call() {
    let world = World::new();
    let of = |index, choice| Event::ItemAdded { index, choice, item: Box::new(Item::new(function("look"))) };
    let ended = |choice| Event::Finish(Finish { choice, reason: FinishReason::ToolCalls });
    let mut events = vec![of(0, 0), done(0), of(1, 1), of(2, 0), done(2), of(3, 1), done(1), done(3)];
    events.extend([of(4, 1), done(4), usage(1, 2), ended(0), ended(1)]);
    let turn = one_at_a_time(|settings| settings.sampling.n = Some(2));
    let (run, _) = world.run(request(turn, &place(events.into()))).await;
    let response = run.response();
    assert_eq!(response.output.iter().map(|output| output.choice).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(response.finishes, vec![Some(FinishReason::ToolCalls); 2]);
    assert_eq!(response.usage, Some(Usage { input_total: 1, output_total: 2, ..Usage::default() }));
}

#[tokio::test]
async fn nothing_is_emulated_without_need() {
    let changes: [fn(&mut Settings); 3] = [
        |settings| settings.tools.clear(),
        |settings| settings.tool_choice = Some(ToolChoice::None),
        |settings| settings.parallel_tool_calls = Some(true),
    ];
    for change in changes {
        let world = World::new();
        let mut events = vec![added(0, message()), part(0, 0), text(0, 0, "x"), part_done(0, 0), done(0)];
        events.extend([usage(1, 1), finish(FinishReason::Stop)]);
        let (run, _) = world.run(request(one_at_a_time(change), &place(events.into()))).await;
        assert!(run.losses().is_empty());
    }
}
