//! What is deleted is gone for its caller, and stays for those who still need it.

use super::*;

async fn three(store: &Sqlite) {
    turn(store, "r1", None, &["q1"], &["a1"]).await;
    turn(store, "r2", Some("r1"), &["q2"], &["a2"]).await;
    turn(store, "r3", Some("r2"), &["q3"], &["a3"]).await;
}

const ALL: [&str; 6] = ["q1", "a1", "q2", "a2", "q3", "a3"];

#[test]
fn children_keep_their_context_and_the_deleted_cannot_be_continued() {
    on_both(async |store| {
        three(store).await;
        for id in ["r1", "r2"] {
            assert!(store.delete(TENANT, id).await.unwrap());
            assert!(!store.delete(TENANT, id).await.unwrap());
            assert!(store.get(TENANT, id).await.unwrap().is_none());
            assert_eq!(context(store, id).await, None);
            let child = begin(store, "late", Some(id), &["x"]).await;
            assert!(store.commit(TENANT, ended(&child, &[])).await.is_err());
            assert_eq!(context(store, "r3").await.unwrap(), ALL);
        }
        turn(store, "r4", Some("r3"), &["q4"], &[]).await;
        assert_eq!(context(store, "r4").await.unwrap(), ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]);
        assert_eq!(rows(store, "item").await, 7);
        assert!(store.delete(TENANT, "r3").await.unwrap());
        assert!(store.delete(TENANT, "r4").await.unwrap());
        assert_empty(store).await;
    });
}

#[test]
fn the_space_of_a_deleted_end_is_given_back_at_once_and_used_again() {
    on_both(async |store| {
        three(store).await;
        assert!(store.delete(TENANT, "r3").await.unwrap());
        assert_eq!(rows(store, "item").await, 4);
        assert!(store.delete(TENANT, "r2").await.unwrap());
        assert_eq!(rows(store, "item").await, 2);
        turn(store, "r5", Some("r1"), &["q5"], &["a5"]).await;
        assert_eq!(context(store, "r5").await.unwrap(), ["q1", "a1", "q5", "a5"]);
        assert_eq!(rows(store, "segment").await, 1);
    });
}

#[test]
fn a_branch_holds_its_trunk_and_lets_it_go() {
    on_both(async |store| {
        three(store).await;
        turn(store, "f1", Some("r1"), &["f"], &["g"]).await;
        turn(store, "f2", Some("f1"), &["h"], &[]).await;
        turn(store, "ff", Some("f1"), &["i"], &[]).await;
        for id in ["r1", "r3", "r2", "f1"] {
            assert!(store.delete(TENANT, id).await.unwrap());
        }
        assert_eq!(context(store, "f2").await.unwrap(), ["q1", "a1", "f", "g", "h"]);
        assert_eq!(context(store, "ff").await.unwrap(), ["q1", "a1", "f", "g", "i"]);
        assert_eq!(rows(store, "item").await, 6, "what came after the fork is gone");
        assert!(store.delete(TENANT, "f2").await.unwrap());
        assert_eq!(context(store, "ff").await.unwrap(), ["q1", "a1", "f", "g", "i"]);
        assert!(store.delete(TENANT, "ff").await.unwrap());
        assert_empty(store).await;
    });
}

#[test]
fn deleting_a_running_response_ends_it_for_everyone() {
    on_both(async |store| {
        turn(store, "r1", None, &["q1"], &["a1"]).await;
        let running = begin(store, "r2", Some("r1"), &["q2"]).await;
        assert!(store.delete(TENANT, "r2").await.unwrap());
        assert!(store.get(TENANT, "r2").await.unwrap().is_none());
        // Its place is free again: another takes it before the first one ends.
        turn(store, "r3", Some("r1"), &["q3"], &["a3"]).await;
        store.commit(TENANT, ended(&running, &["a2"])).await.unwrap();
        assert!(store.get(TENANT, "r2").await.unwrap().is_none());
        assert_eq!(context(store, "r3").await.unwrap(), ["q1", "a1", "q3", "a3"]);
        assert_eq!(rows(store, "segment").await, 1);
    });
}

#[test]
fn a_running_response_keeps_its_place_when_its_parents_go() {
    on_both(async |store| {
        three(store).await;
        let running = begin(store, "r4", Some("r3"), &["q4"]).await;
        for id in ["r3", "r1", "r2"] {
            assert!(store.delete(TENANT, id).await.unwrap());
        }
        store.commit(TENANT, ended(&running, &["a4"])).await.unwrap();
        let expected: Vec<&str> = ALL.into_iter().chain(["q4", "a4"]).collect();
        assert_eq!(context(store, "r4").await.unwrap(), expected);
    });
}

#[test]
fn what_never_began_can_be_deleted_too() {
    on_both(async |store| {
        let orphan = begin(store, "r1", Some("gone"), &["x"]).await;
        assert!(store.delete(TENANT, "r1").await.unwrap());
        assert!(store.get(TENANT, "r1").await.unwrap().is_none());
        store.commit(TENANT, ended(&orphan, &[])).await.unwrap();
        assert_empty(store).await;
    });
}
