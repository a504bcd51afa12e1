//! A store that fails: before, while and after the model is asked.

use super::{
    events::answer,
    fakes::{Script, World, request, turn, unstored, upstream},
};
use trilith_core::{ErrorKind, ErrorOrigin, Status};

#[tokio::test]
async fn no_model_is_asked_for_what_cannot_be_kept() {
    let world = World::new();
    *world.store.fail.lock().unwrap() = Some("check");
    let place = upstream(answer("hi"));
    let error = world.start(request(turn(Vec::new()), &place)).await.err().unwrap();
    assert_eq!((error.kind, error.origin), (ErrorKind::Overloaded, ErrorOrigin::Trilith));
    assert!(error.public.contains("store") && !error.public.contains("disk"));
    assert_eq!(place.count(), 0);
    // What is not kept needs no store.
    world.run(request(unstored(turn(Vec::new())), &place)).await;
    assert_eq!(place.count(), 1);
}

#[tokio::test]
async fn a_streamed_response_whose_row_cannot_be_made_is_an_error_and_nothing_else() {
    let world = World::new();
    *world.store.fail.lock().unwrap() = Some("begun");
    let mut streamed = turn(Vec::new());
    streamed.stream.stream = true;
    let place = upstream(answer("hi"));
    assert!(world.start(request(streamed, &place)).await.is_err());
    assert!(place.dropped.load(std::sync::atomic::Ordering::SeqCst));
    world.tasks.settle().await;
    assert_eq!(world.log.lines(), ["begin", "begun"]);
}

#[tokio::test]
async fn the_end_that_is_shown_is_the_one_to_be_written_later() {
    let world = World::new();
    *world.store.fail.lock().unwrap() = Some("commit");
    let (run, _) = world.run(request(turn(Vec::new()), &upstream(answer("hi")))).await;
    assert_eq!(world.store.owed.lock().unwrap().as_slice(), [run.response().clone()]);
    assert_eq!(run.response().status, Status::Failed);
}

#[tokio::test]
async fn a_caller_who_leaves_owes_the_end_too() {
    let world = World::new();
    *world.store.fail.lock().unwrap() = Some("commit");
    let script = Script { hang: true, ..Script::default() };
    drop(world.start(request(turn(Vec::new()), &upstream(script))).await.unwrap());
    world.tasks.settle().await;
    assert_eq!(world.store.owed.lock().unwrap()[0].status, Status::Cancelled);
}
