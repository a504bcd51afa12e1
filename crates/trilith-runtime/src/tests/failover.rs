//! Who is tried next.

use std::sync::Arc;

use bytes::Bytes;

use trilith_core::{Compaction, DialectId, Error, Item, ItemBody, Role, Status, Wanted};

use super::{
    events::{answer, saying},
    fakes::{Policy, Script, Scripted, World, candidate, request, turn, upstream},
};
use crate::{Request, relay};

fn broken() -> Error {
    Error::upstream("broken")
}

fn place(name: &'static str) -> Scripted {
    Scripted::new(name, DialectId::Chat)
}

fn over(places: &[&Arc<Scripted>], input: Vec<Item>) -> Request {
    let mut request = request(turn(input), places[0]);
    request.candidates = places.iter().map(|place| candidate(place)).collect();
    request
}

#[tokio::test]
async fn candidates_are_tried_as_the_policy_says() {
    let world = World::new();
    let first = Arc::new(place("first").fails(broken()).fails(broken()));
    let second = Arc::new(place("second").fails(broken()).plays(answer("hi")));
    let mut policy = Policy::of(&[(1, 0), (0, 250), (1, 0)]);
    let request = over(&[&first, &second], vec![Item::message(Role::User, "hello")]);
    let mut run = world.runtime.start(request, &mut policy).await.unwrap();
    assert_eq!(
        policy.log.lines(),
        [
            "failed 0 upstream_broken",
            "failed 1 upstream_broken",
            "pause 250",
            "failed 0 upstream_broken",
            "answered 1",
        ]
    );
    assert_eq!(run.upstream(), "second");
    for place in [&first, &second] {
        assert_eq!(place.count(), 2);
        assert_eq!(place.heard(0), place.heard(1));
        assert_eq!(place.heard(0).len(), 1, "every try has the whole context");
    }
    run.complete().await;
    assert_eq!(run.response().status, Status::Completed);
    assert_eq!(world.store.begun.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_retry_sends_the_very_same_call() {
    let world = World::new();
    let only = Arc::new(place("only").fails(broken()).plays(answer("hi")));
    let request = over(&[&only], vec![Item::message(Role::User, "hello")]);
    world.runtime.start(request, &mut Policy::of(&[(0, 1)])).await.unwrap();
    let calls = only.calls.lock().unwrap();
    assert!(Arc::ptr_eq(&calls[0].turn, &calls[1].turn));
    assert_eq!(&*calls[1].model, "up-small");
}

#[tokio::test]
async fn nothing_is_tried_again_after_the_first_answer() {
    let world = World::new();
    let script = Script { batches: vec![Ok(saying("h")), Err(broken())], ..Script::default() };
    let first = Arc::new(place("first").plays(script));
    let second = Arc::new(place("second").plays(answer("never")));
    let mut policy = Policy::of(&[(1, 0)]);
    let mut run = world.runtime.start(over(&[&first, &second], Vec::new()), &mut policy).await.unwrap();
    run.complete().await;
    assert_eq!(run.response().status, Status::Failed);
    assert_eq!(second.count(), 0);
    assert_eq!(policy.log.lines(), ["answered 0"]);
}

#[tokio::test]
async fn the_last_failure_is_told_and_nothing_is_kept() {
    let world = World::new();
    let first = Arc::new(place("first").fails(broken()));
    let last = Error::upstream("broken too");
    let second = Arc::new(place("second").fails(last.clone()));
    let error =
        world.runtime.start(over(&[&first, &second], Vec::new()), &mut Policy::of(&[(1, 0)])).await.err();
    assert_eq!(error, Some(last));
    assert!(world.log.lines().is_empty());
}

#[tokio::test]
async fn a_mistake_of_the_caller_is_not_tried_elsewhere() {
    let world = World::new();
    let mistake = Error::bad_request("tools", "no such tool");
    let first = Arc::new(place("first").fails(mistake.clone()));
    let second = Arc::new(place("second").plays(answer("never")));
    let request = over(&[&first, &second], Vec::new());
    let error = world.runtime.start(request, &mut Policy::of(&[(1, 0)])).await.err();
    assert_eq!((error, second.count()), (Some(mistake), 0));
}

#[tokio::test]
async fn a_candidate_that_cannot_read_the_history_does_not_hide_the_failure_of_one_that_can() {
    let world = World::new();
    let compacted = Item::new(ItemBody::Compaction(Compaction { encrypted: "native".into(), origin: None }));
    let first = Arc::new(Scripted::new("first", DialectId::Responses).fails(broken()));
    let second = Arc::new(place("second").plays(answer("never")));
    let request = over(&[&first, &second], vec![compacted]);
    let error = world.runtime.start(request, &mut Policy::of(&[(1, 0)])).await.err();
    assert_eq!((error, second.count()), (Some(broken()), 0));
}

#[tokio::test]
async fn no_candidate_is_an_error_that_says_so() {
    let world = World::new();
    let mut policy = Policy { none: true, ..Policy::default() };
    let error = world.runtime.start(request(turn(Vec::new()), &upstream(answer("x"))), &mut policy).await;
    assert_eq!(error.err().unwrap().kind, trilith_core::ErrorKind::Overloaded);
    let mut astray = Policy::of(&[(7, 0)]);
    let only = Arc::new(place("only").fails(broken()));
    let error = world.runtime.start(request(turn(Vec::new()), &only), &mut astray).await;
    assert_eq!(error.err().unwrap().kind, trilith_core::ErrorKind::Internal);
}

#[tokio::test]
async fn bytes_go_to_the_first_that_takes_them() {
    let first = Arc::new(place("first").fails(broken()));
    let second = Arc::new(place("second").plays(Script::default()));
    let candidates = [candidate(&first), candidate(&second)];
    let mut policy = Policy::of(&[(1, 9)]);
    let body = |candidate: &crate::Candidate| Bytes::from(candidate.model.to_string());
    let (answer, place) =
        relay(&candidates, Wanted::Answer, true, &Vec::new(), &mut policy, &body).await.unwrap();
    assert_eq!((answer.status, place), (200, 1));
    assert_eq!(policy.log.lines(), ["failed 0 upstream_broken", "pause 9", "answered 1"]);
}
