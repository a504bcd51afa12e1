//! What a run shows, in which order, and what the store is given.

use std::sync::Arc;

use trilith_core::{
    Created, Disposition, Error, Event, FinishReason, ItemBody, ItemStatus, Loss, PartSpace, Response, Status,
};

use super::{
    events::{added, answer, done, finish, function, message, part, part_done, saying, text, usage},
    fakes::{NOW_S, Script, World, request, turn, unstored, upstream},
};

fn said(response: &Response) -> String {
    let texts = response.output.iter().filter_map(|output| match &output.item.body {
        ItemBody::Message(message) => message.parts.first()?.as_text(),
        _ => None,
    });
    texts.collect()
}

#[tokio::test]
async fn a_stored_answer_is_on_disk_before_its_end_is_shown() {
    let world = World::new();
    let (run, events) = world.run(request(turn(Vec::new()), &upstream(answer("hi")))).await;
    assert_eq!(
        world.log.lines(),
        [
            "begin",
            "show Created",
            "show Status",
            "show ItemAdded",
            "show PartAdded",
            "show TextDelta",
            "show PartDone",
            "show ItemDone",
            "show Usage",
            "show Finish",
            "commit completed",
            "show End",
        ]
    );
    assert_eq!(Response::fold(&events).unwrap(), *run.response());
    assert_eq!(world.committed(), *run.response());
    assert_eq!((run.response().ended_at, run.response().created_at), (Some(NOW_S), NOW_S));
    assert_eq!(run.headers().len(), 1);
    assert_eq!(run.upstream(), "vendor");
    assert!(run.losses().is_empty());
    drop(run);
    assert_eq!(world.tasks.count.load(std::sync::atomic::Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_answer_that_is_not_kept_never_meets_the_store() {
    let world = World::new();
    let (_, events) = world.run(request(unstored(turn(Vec::new())), &upstream(answer("hi")))).await;
    assert!(world.log.lines().iter().all(|line| line.starts_with("show ")));
    assert!(matches!(events.last(), Some(Event::End(end)) if end.status == Status::Completed));
}

#[tokio::test]
async fn an_end_that_cannot_be_written_is_a_failure() {
    let world = World::new();
    *world.store.fail.lock().unwrap() = Some("commit");
    let (run, events) = world.run(request(turn(Vec::new()), &upstream(answer("hi")))).await;
    assert_eq!(run.response().status, Status::Failed);
    let error = run.response().error.clone().unwrap();
    assert_eq!(error.origin, trilith_core::ErrorOrigin::Trilith);
    assert!(!error.public.contains("disk is full"));
    assert_eq!(events.iter().filter(|event| matches!(event, Event::End(_))).count(), 1);
    assert_eq!(Response::fold(&events).unwrap(), *run.response());
}

#[tokio::test]
async fn an_upstream_that_breaks_leaves_nothing_open() {
    let world = World::new();
    let mut said_so_far = saying("half a sen");
    said_so_far.push(added(1, function("look")));
    let script = Script { batches: vec![Ok(said_so_far), Err(Error::upstream("gone"))], ..Script::default() };
    let (run, events) = world.run(request(turn(Vec::new()), &upstream(script))).await;
    let tail: Vec<_> = events[events.len() - 4..].to_vec();
    assert_eq!(tail[0], part_done(0, 0));
    assert!(matches!(tail[1], Event::ItemDone { index: 0, status: ItemStatus::Incomplete, .. }));
    assert!(matches!(tail[2], Event::ItemDone { index: 1, status: ItemStatus::Incomplete, .. }));
    assert!(matches!(&tail[3], Event::End(end) if end.status == Status::Failed));
    assert_eq!(said(run.response()), "half a sen");
    assert_eq!(&*run.response().error.clone().unwrap().public, "gone");
    assert_eq!(world.committed(), *run.response());
    // Nobody knows what a broken answer cost.
    assert_eq!(run.response().usage, None);
}

#[tokio::test]
async fn an_answer_that_never_says_why_it_ends_is_broken() {
    let world = World::new();
    let mut events = answer("hi");
    events.pop();
    let (run, _) = world.run(request(turn(Vec::new()), &upstream(events))).await;
    assert_eq!(run.response().status, Status::Failed);
    assert_eq!(said(run.response()), "hi");
    let world = World::new();
    let (run, _) = world.run(request(turn(Vec::new()), &upstream(Script::default()))).await;
    assert_eq!(run.response().status, Status::Failed);
}

#[tokio::test]
async fn events_in_an_impossible_order_fail_the_response() {
    let created = Event::Created(Box::new(Created {
        id: "resp_other".into(),
        created_at: 1,
        settings: Arc::default(),
        store: false,
        background: false,
        previous_response_id: None,
        conversation: None,
    }));
    let end = Event::End(Box::new(trilith_core::End {
        status: Status::Completed,
        incomplete: None,
        error: None,
        at: 1,
    }));
    let impossible: Vec<Vec<Event>> = vec![
        vec![text(0, 0, "no item")],
        vec![added(1, message())],
        vec![added(0, message()), text(0, 0, "no part")],
        vec![added(0, message()), part(0, 1)],
        vec![added(0, message()), part(0, 0), part(0, 0)],
        vec![added(0, message()), added(0, message())],
        vec![added(0, message()), done(0), done(0)],
        vec![added(0, message()), part_done(0, 0)],
        vec![added(0, message()), Event::PartDone { index: 0, part: 0, space: PartSpace::Summary }],
        vec![added(u32::MAX, message())],
        vec![done(7)],
        vec![created],
        vec![end],
        vec![Event::Status(Status::Completed)],
    ];
    for mut events in impossible {
        let what = format!("{events:?}");
        events.push(finish(FinishReason::Stop));
        let world = World::new();
        let (run, shown) = world.run(request(turn(Vec::new()), &upstream(events))).await;
        assert_eq!(run.response().status, Status::Failed, "{what}");
        assert_eq!(world.committed(), *run.response());
        assert_eq!(Response::fold(&shown).unwrap(), *run.response());
        let count = |wanted: fn(&Event) -> bool| shown.iter().filter(|event| wanted(event)).count();
        assert_eq!(count(|event| matches!(event, Event::End(_))), 1, "{what}");
        assert_eq!(
            count(|event| matches!(event, Event::PartDone { .. })),
            count(|event| matches!(event, Event::PartAdded { .. })),
            "{what}"
        );
    }
}

#[tokio::test]
async fn parts_are_closed_before_their_item() {
    let world = World::new();
    let mut events = saying("hi");
    events.extend([part(0, 1), done(0), usage(1, 1), finish(FinishReason::Stop)]);
    let (_, shown) = world.run(request(turn(Vec::new()), &upstream(events))).await;
    let closing: Vec<_> = shown.iter().skip_while(|event| **event != part(0, 1)).skip(1).take(3).collect();
    assert_eq!(closing, [&part_done(0, 0), &part_done(0, 1), &done(0)]);
}

#[tokio::test]
async fn what_has_no_id_gets_one() {
    let world = World::new();
    let mut events = vec![Event::Begin(Box::default())];
    events.extend([added(0, message()), done(0), added(1, function("look")), done(1)]);
    events.push(finish(FinishReason::ToolCalls));
    let (run, _) = world.run(request(turn(Vec::new()), &upstream(events))).await;
    let response = run.response();
    let stem = response.id.strip_prefix("resp_").unwrap();
    assert_eq!(response.output[0].item.id.as_deref(), Some(&*format!("msg_{stem}00000000")));
    assert_eq!(response.output[1].item.id.as_deref(), Some(&*format!("fc_{stem}00000001")));
    let ItemBody::Call(call) = &response.output[1].item.body else { panic!() };
    assert!(call.call_id.as_deref().unwrap().starts_with("call_"));
}

#[tokio::test]
async fn missing_counts_are_estimated_and_told() {
    let world = World::new();
    let mut turn = turn(vec![trilith_core::Item::message(trilith_core::Role::User, "x".repeat(40))]);
    let mut settings = (*turn.settings).clone();
    settings.instructions = Some(trilith_core::Instructions::Text("y".repeat(20)));
    turn.settings = Arc::new(settings);
    let events = saying("12345678").into_iter().chain([finish(FinishReason::Stop)]).collect::<Vec<_>>();
    let (run, shown) = world.run(request(turn, &upstream(events))).await;
    let counted = run.response().usage.clone().unwrap();
    assert_eq!((counted.input_total, counted.output_total, counted.estimated), (15, 2, true));
    assert_eq!(run.losses().len(), 1);
    assert_eq!(run.losses()[0].disposition, Disposition::Warn);
    assert!(shown.contains(&Event::Loss(run.losses()[0].clone())));
    assert_eq!(run.response().status, Status::Completed);
}

#[tokio::test]
async fn a_loss_in_the_stream_is_told_and_in_strict_mode_an_error() {
    for strict in [false, true] {
        let world = World::new();
        let mut events = saying("hi");
        events.push(Event::Loss(Loss::emulate("a", "done here")));
        events.push(Event::Loss(Loss::warn("b", "cannot be said")));
        events.extend([part_done(0, 0), done(0), usage(1, 1), finish(FinishReason::Stop)]);
        let mut request = request(turn(Vec::new()), &upstream(events));
        request.strict = strict;
        let (run, _) = world.run(request).await;
        let code = run.response().error.as_ref().and_then(|error| error.code.clone());
        if strict {
            assert_eq!((run.response().status, code.as_deref()), (Status::Failed, Some("strict_loss")));
        } else {
            assert_eq!((run.response().status, code), (Status::Completed, None));
        }
        assert_eq!(run.losses().len(), 2);
    }
}

#[tokio::test]
async fn losses_of_the_request_are_told_first_and_refused_in_strict_mode() {
    let lossy = || {
        let mut turn = turn(Vec::new());
        turn.losses.push(Loss::warn("seed", "not kept"));
        turn
    };
    let world = World::new();
    let script = Script { losses: vec![Loss::hint("cache", "dropped")], ..answer("hi").into() };
    let (run, _) = world.run(request(lossy(), &upstream(script))).await;
    let told: Vec<_> = run.losses().iter().map(|loss| &*loss.path).collect();
    assert_eq!(told, ["seed", "cache"]);

    let place = upstream(answer("hi"));
    let mut strict = request(lossy(), &place);
    strict.strict = true;
    let error = world.start(strict).await.err().unwrap();
    assert_eq!((error.param.as_deref(), error.code.as_deref()), (Some("seed"), Some("strict_loss")));
    assert_eq!(place.count(), 0);
}
