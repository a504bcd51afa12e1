//! An upstream that never stops.

use std::sync::atomic::Ordering;

use trilith_core::{Event, Extra, FinishReason, ItemStatus, Json, Response, Status};

use super::{
    events::{added, answer, finish, function, message, part, saying, text},
    fakes::{Script, World, request, turn, upstream},
};

/// One thing, said until it is too much.
fn endless(first: Vec<Event>, again: impl Fn(u32) -> Vec<Event>) -> Script {
    let batches = (0..20_000).map(|n| Ok(again(n)));
    Script { batches: std::iter::once(Ok(first)).chain(batches).collect(), hang: true, ..Script::default() }
}

#[tokio::test]
async fn an_answer_is_cut_off_at_the_limit_whatever_it_is_made_of() {
    let long = || "x".repeat(1000);
    let whole = |index, detail| Event::ItemDone {
        index,
        status: ItemStatus::Completed,
        carriers: vec![],
        detail,
        extra: Extra::EMPTY,
    };
    let scripts = [
        endless(saying(""), |_| vec![text(0, 0, &long())]),
        endless(vec![added(0, function("f"))], |_| vec![Event::ArgumentsDelta { index: 0, delta: long() }]),
        endless(vec![], |n| vec![added(n, message()), whole(n, None)]),
        endless(vec![added(0, message())], |n| vec![part(0, n)]),
        endless(vec![], |n| {
            vec![added(n, function("f")), whole(n, Some(Json::from_checked(format!("\"{}\"", long()))))]
        }),
    ];
    for script in scripts {
        let world = World::new();
        let place = upstream(script);
        let (run, shown) = world.run(request(turn(Vec::new()), &place)).await;
        assert!(place.dropped.load(Ordering::SeqCst), "the upstream goes on");
        let error = run.response().error.clone().unwrap();
        assert!(error.public.contains("1048576 bytes") && error.public.contains("limits.max_answer_bytes"));
        assert_eq!((run.response().status, run.response().usage.is_none()), (Status::Failed, true));
        assert_eq!(Response::fold(&shown).unwrap(), *run.response());
        assert_eq!(world.committed(), *run.response());
    }
}

#[tokio::test]
async fn what_is_within_the_limit_is_whole() {
    let mut world = World::new();
    let long = "x".repeat(10_000);
    world.runtime.max_answer_bytes = 10_000 + 256 + 64;
    let (run, _) = world.run(request(turn(Vec::new()), &upstream(answer(&long)))).await;
    assert_eq!(run.response().status, Status::Completed);
    world.runtime.max_answer_bytes -= 1;
    let mut events = saying(&long);
    events.push(finish(FinishReason::Stop));
    let world = World { store: World::new().store, ..world };
    let (run, _) = world.run(request(turn(Vec::new()), &upstream(events))).await;
    assert_eq!(run.response().status, Status::Failed);
}
