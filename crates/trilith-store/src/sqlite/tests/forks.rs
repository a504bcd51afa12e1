//! Branches: what goes on from the same place does not see each other.

use super::*;

async fn trunk(store: &Sqlite, turns: usize) {
    for n in 0..turns {
        let parent = n.checked_sub(1).map(|n| format!("r{n}"));
        turn(store, &format!("r{n}"), parent.as_deref(), &[&format!("q{n}")], &[&format!("a{n}")]).await;
    }
}

fn trunk_texts(turns: usize) -> Vec<String> {
    (0..turns).flat_map(|n| [format!("q{n}"), format!("a{n}")]).collect()
}

#[test]
fn a_fork_at_each_turn_sees_the_turns_before_it_alone() {
    on_both(async |store| {
        trunk(store, 5).await;
        for round in ["x", "y"] {
            for n in 0..5 {
                let (id, said) = (format!("{round}{n}"), format!("{round} at {n}"));
                turn(store, &id, Some(&format!("r{n}")), &[&said], &["ok"]).await;
                let mut expected = trunk_texts(n + 1);
                expected.extend([said, "ok".into()]);
                assert_eq!(context(store, &id).await.unwrap(), expected);
            }
        }
        assert_eq!(context(store, "r4").await.unwrap(), trunk_texts(5));
        // The first to go on from the last turn stays on the trunk; every other opens a branch.
        assert_eq!(rows(store, "segment").await, 1 + 9);
    });
}

#[test]
fn siblings_that_say_nothing_yet_do_not_share_a_place() {
    on_both(async |store| {
        trunk(store, 1).await;
        let (a, b) = (begin(store, "a", Some("r0"), &[]).await, begin(store, "b", Some("r0"), &[]).await);
        store.commit(TENANT, ended(&b, &["from b"])).await.unwrap();
        store.commit(TENANT, ended(&a, &["from a"])).await.unwrap();
        assert_eq!(context(store, "a").await.unwrap(), ["q0", "a0", "from a"]);
        assert_eq!(context(store, "b").await.unwrap(), ["q0", "a0", "from b"]);
    });
}

#[test]
fn an_empty_turn_that_is_deleted_does_not_give_its_child_away() {
    on_both(async |store| {
        trunk(store, 1).await;
        turn(store, "empty", Some("r0"), &[], &[]).await;
        let child = begin(store, "child", Some("empty"), &[]).await;
        assert!(store.delete(TENANT, "empty").await.unwrap());
        let other = begin(store, "other", Some("r0"), &[]).await;
        store.commit(TENANT, ended(&other, &["other"])).await.unwrap();
        store.commit(TENANT, ended(&child, &["child"])).await.unwrap();
        assert_eq!(context(store, "child").await.unwrap(), ["q0", "a0", "child"]);
        assert_eq!(context(store, "other").await.unwrap(), ["q0", "a0", "other"]);
    });
}

#[test]
fn forks_from_many_threads_at_once_each_keep_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = Sqlite::open(&folder.path().join("t.db"), Sync::Normal, 30).unwrap();
    run(trunk(&store, 3));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                run(async {
                    for n in 0..20 {
                        let parent = format!("r{}", n % 3);
                        let (id, said) = (format!("t{thread}n{n}"), format!("{thread} says {n}"));
                        turn(store, &id, Some(&parent), &[&said], &[&format!("re: {said}")]).await;
                        let again = format!("{id}+");
                        turn(store, &again, Some(&id), &["more"], &[]).await;
                    }
                });
            });
        }
    });
    run(async {
        for thread in 0..8 {
            for n in 0..20 {
                let mut expected = trunk_texts(n % 3 + 1);
                let said = format!("{thread} says {n}");
                expected.extend([said.clone(), format!("re: {said}"), "more".into()]);
                assert_eq!(context(&store, &format!("t{thread}n{n}+")).await.unwrap(), expected);
            }
        }
    });
}
