//! Callers who leave.

use std::{
    sync::atomic::Ordering,
    task::{Context, Poll, Waker},
};

use trilith_core::{DialectId, ItemStatus, Status};

use super::{
    events::{answer, saying},
    fakes::{Script, World, request, turn, unstored, upstream},
};
use crate::{Run, Step};

fn poll(run: &mut Run) -> Poll<Step> {
    run.poll_step(&mut Context::from_waker(Waker::noop()), &mut |_, _| {})
}

fn stalled() -> Script {
    Script { batches: vec![Ok(saying("half a sen"))], hang: true, ..Script::default() }
}

#[tokio::test]
async fn a_caller_who_leaves_ends_a_stored_response_as_cancelled_once() {
    // Before the first step, after the beginning, in the middle, and while the upstream is silent.
    for steps in 0..4 {
        let world = World::new();
        let place = upstream(stalled());
        let mut run = world.start(request(turn(Vec::new()), &place)).await.unwrap();
        for _ in 0..steps {
            let _ = poll(&mut run);
        }
        assert!(!place.dropped.load(Ordering::SeqCst));
        drop(run);
        assert!(place.dropped.load(Ordering::SeqCst), "the call goes on");
        world.tasks.settle().await;
        assert_eq!(world.tasks.count.load(Ordering::SeqCst), 1);
        let committed = world.committed();
        assert_eq!((committed.status, committed.error.clone()), (Status::Cancelled, None));
        assert_eq!(committed.output.len(), usize::from(steps >= 2));
        for output in &committed.output {
            assert_eq!((output.open, output.item.status), (false, Some(ItemStatus::Incomplete)));
        }
    }
}

#[tokio::test]
async fn a_caller_who_leaves_a_response_that_is_not_kept_leaves_nothing() {
    let world = World::new();
    let place = upstream(stalled());
    let mut run = world.start(request(unstored(turn(Vec::new())), &place)).await.unwrap();
    let _ = poll(&mut run);
    let _ = poll(&mut run);
    drop(run);
    assert_eq!(world.tasks.count.load(Ordering::SeqCst), 0);
    assert!(world.log.lines().is_empty());

    let mut chat = request(turn(Vec::new()), &upstream(stalled()));
    chat.client = DialectId::Chat;
    drop(world.start(chat).await.unwrap());
    assert_eq!(world.tasks.count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn an_end_that_is_being_written_is_written() {
    let world = World::new();
    let mut run = world.start(request(turn(Vec::new()), &upstream(answer("hi")))).await.unwrap();
    world.store.close_gate();
    for _ in 0..3 {
        assert_eq!(poll(&mut run), Poll::Ready(Step::More));
    }
    assert_eq!(poll(&mut run), Poll::Pending);
    assert_eq!(run.response().status, Status::InProgress);
    drop(run);
    world.store.open_gate();
    world.tasks.settle().await;
    assert_eq!(world.committed().status, Status::Completed);
}

#[tokio::test]
async fn a_caller_who_leaves_while_the_row_is_made_leaves_no_running_row() {
    let world = World::new();
    world.store.close_gate();
    let place = upstream(answer("hi"));
    {
        let start = std::pin::pin!(world.start(request(turn(Vec::new()), &place)));
        let mut start = start;
        assert!(start.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    world.store.open_gate();
    world.tasks.settle().await;
    assert_eq!(world.committed().status, Status::Cancelled);
}

#[tokio::test]
async fn a_row_that_cannot_be_made_is_an_error_and_nothing_else() {
    let world = World::new();
    *world.store.fail.lock().unwrap() = Some("begin");
    let place = upstream(answer("hi"));
    let error = world.start(request(turn(Vec::new()), &place)).await.err().unwrap();
    assert_eq!(error.origin, trilith_core::ErrorOrigin::Trilith);
    assert!(place.dropped.load(Ordering::SeqCst));
    world.tasks.settle().await;
    assert_eq!(world.log.lines(), ["begin"]);
}

#[tokio::test]
async fn a_run_that_ended_stays_ended() {
    let world = World::new();
    let mut run = world.start(request(turn(Vec::new()), &upstream(answer("hi")))).await.unwrap();
    run.complete().await;
    assert_eq!(poll(&mut run), Poll::Ready(Step::Ended));
    drop(run);
    assert_eq!(world.tasks.count.load(Ordering::SeqCst), 0);
    assert_eq!(world.committed().status, Status::Completed);
}
