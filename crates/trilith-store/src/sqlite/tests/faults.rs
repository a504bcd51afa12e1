//! A storage that fails for a while: who is told, and what is there once it works again.

use super::*;

const NOW: i64 = 5_000;

/// Lets the writer's connection write nothing, as a full disk or a read-only file system would, or everything again.
async fn broken(store: &Sqlite, broken: bool) {
    let set = move |done: Done<()>| {
        Write::Ask(Box::new(move |connection| {
            done.send(connection.pragma_update(None, "query_only", broken).map_err(read::fail)).ok();
        }))
    };
    store.write(set).await.unwrap();
}

/// How the runtime ends a response that could not be stored.
fn failed(begun: &Response) -> Arc<Response> {
    let mut response = begun.clone();
    let error = Some(Error::internal("could not be stored"));
    let end = End { status: Status::Failed, incomplete: None, error, at: 3_000 };
    response.apply(&Event::End(Box::new(end))).unwrap();
    Arc::new(response)
}

async fn status(store: &Sqlite, id: &str) -> Option<Status> {
    store.get(TENANT, id).await.unwrap().map(|response| response.status)
}

#[test]
fn a_check_writes_and_tells() {
    on_both(async |store| {
        store.check(NOW).await.unwrap();
        broken(store, true).await;
        store.check(NOW + 1).await.unwrap();
        assert!(store.check(NOW + 2).await.is_err(), "no write is known of for a while, so one is tried");
        assert!(store.check(NOW + 2).await.is_err());
        broken(store, false).await;
        store.check(NOW + 2).await.unwrap();
    });
}

#[test]
fn a_write_that_fails_is_enough_to_know() {
    on_both(async |store| {
        store.check(NOW).await.unwrap();
        broken(store, true).await;
        begin(store, "r1", None, &["q"]).await;
        assert!(store.begun(TENANT, "r1").await.is_err());
        assert!(store.check(NOW).await.is_err());
        assert_eq!(status(store, "r1").await, None, "whoever was told of it does not end it");
        broken(store, false).await;
        // What a caller did wrongly says nothing about the storage.
        store.check(NOW).await.unwrap();
        begin(store, "r2", Some("nobody"), &["q"]).await;
        assert!(store.begun(TENANT, "r2").await.is_err());
        store.check(NOW).await.unwrap();
    });
}

#[test]
fn writes_that_succeed_are_proof_without_another() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&folder.path().join("t.db"), Sync::Normal, 30).unwrap();
        let count = || async {
            let changes = |connection: &Connection| {
                connection
                    .query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0))
                    .map_err(read::fail)
            };
            store.ask(changes).await.unwrap()
        };
        store.check(NOW).await.unwrap();
        let before = count().await;
        for _ in 0..100 {
            store.check(NOW + 1).await.unwrap();
        }
        assert_eq!(count().await, before);
    });
}

#[test]
fn an_end_that_could_not_be_written_is_shown_and_written_later() {
    on_both(async |store| {
        turn(store, "r1", None, &["q1"], &["a1"]).await;
        let known = begin(store, "r2", Some("r1"), &["q2"]).await;
        store.begun(TENANT, "r2").await.unwrap();
        broken(store, true).await;
        let unknown = begin(store, "r3", None, &["q3"]).await;
        for response in [&known, &unknown] {
            assert!(store.commit(TENANT, ended(response, &["a"])).await.is_err());
            assert_eq!(status(store, &response.id).await, Some(Status::InProgress));
            store.end_later(TENANT, failed(response));
            assert_eq!(status(store, &response.id).await, Some(Status::Failed));
        }
        assert!(store.check(NOW).await.is_err());
        assert_eq!(status(store, "r2").await, Some(Status::Failed));
        broken(store, false).await;
        store.check(NOW).await.unwrap();
        assert_eq!(store.recover(NOW).await.unwrap(), 0, "nothing is left running");
        for response in [&known, &unknown] {
            assert_eq!(store.get(TENANT, &response.id).await.unwrap().unwrap(), *failed(response));
        }
        assert_eq!(context(store, "r2").await.unwrap(), ["q1", "a1", "q2"]);
        assert_eq!(context(store, "r3").await.unwrap(), ["q3"]);
    });
}

#[test]
fn a_beginning_that_failed_is_made_up_for_at_the_end() {
    on_both(async |store| {
        broken(store, true).await;
        let response = begin(store, "r1", None, &["q"]).await;
        store.flush().await.unwrap();
        broken(store, false).await;
        store.commit(TENANT, ended(&response, &["a"])).await.unwrap();
        assert_eq!(context(store, "r1").await.unwrap(), ["q", "a"]);
    });
}

#[test]
fn what_is_owed_can_be_deleted_and_is_written_when_the_store_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    run(async {
        broken(&store, true).await;
        for id in ["r1", "r2"] {
            let response = begin(&store, id, None, &["q"]).await;
            assert!(store.commit(TENANT, ended(&response, &[])).await.is_err());
            store.end_later(TENANT, failed(&response));
        }
        broken(&store, false).await;
        assert!(store.delete(TENANT, "r1").await.unwrap());
        assert_eq!(status(&store, "r1").await, None);
    });
    drop(store);
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    assert_eq!(run(status(&store, "r1")), None);
    assert_eq!(run(status(&store, "r2")), Some(Status::Failed));
}

#[test]
fn an_end_that_can_never_be_written_is_not_tried_for_ever() {
    on_both(async |store| {
        let orphan = begin(store, "r1", Some("gone"), &["x"]).await;
        assert!(store.commit(TENANT, ended(&orphan, &[])).await.is_err());
        store.end_later(TENANT, failed(&orphan));
        assert_eq!(status(store, "r1").await, None);
        store.check(NOW).await.unwrap();
    });
}

#[test]
fn a_file_that_is_gone_or_replaced_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    let aside = folder.path().join("aside");
    run(async {
        store.check(NOW).await.unwrap();
        fs::rename(&path, &aside).unwrap();
        turn(&store, "r1", None, &["q"], &[]).await;
        assert!(
            store.check(NOW + 11).await.unwrap_err().0.contains("found"),
            "a write that succeeds proves little"
        );
        fs::write(&path, "").unwrap();
        assert!(store.check(NOW + 11).await.unwrap_err().0.contains("replaced"));
        fs::rename(&aside, &path).unwrap();
        store.check(NOW + 11).await.unwrap();
    });
}
