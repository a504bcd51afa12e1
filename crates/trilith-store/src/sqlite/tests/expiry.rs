//! Responses that grow too old.

use super::*;

const DAY: i64 = 86_400;

/// Sweeps until nothing is left to do; gives how many responses went and in how many sweeps.
async fn sweep(store: &Sqlite, now: i64) -> (u64, u32) {
    let (mut responses, mut sweeps) = (0, 0);
    loop {
        let swept = store.expire(now).await.unwrap();
        responses += swept.responses;
        sweeps += 1;
        if !swept.more {
            return (responses, sweeps);
        }
    }
}

async fn turn_at(store: &Sqlite, at: i64, id: &str, parent: Option<&str>, said: &[&str]) {
    let response = Response::new(&Created { created_at: at, ..created(id, parent) });
    store.begin(TENANT, Arc::new(response.clone()), said_all(said)).await.unwrap();
    store.commit(TENANT, ended(&response, &["ok"])).await.unwrap();
}

#[test]
fn responses_go_when_their_time_is_over_and_their_children_keep_their_context() {
    on_both(async |store| {
        turn_at(store, 0, "old", None, &["a"]).await;
        turn_at(store, 20 * DAY, "young", Some("old"), &["b"]).await;
        turn_at(store, 20 * DAY, "fork", Some("old"), &["c"]).await;
        assert_eq!(sweep(store, 30 * DAY - 1).await.0, 0);
        assert_eq!(sweep(store, 30 * DAY).await.0, 1);
        assert!(store.get(TENANT, "old").await.unwrap().is_none());
        assert_eq!(context(store, "young").await.unwrap(), ["a", "ok", "b", "ok"]);
        assert_eq!(context(store, "fork").await.unwrap(), ["a", "ok", "c", "ok"]);
        assert_eq!(sweep(store, 50 * DAY).await.0, 2);
        assert_empty(store).await;
    });
}

#[test]
fn a_running_response_does_not_expire() {
    on_both(async |store| {
        let response = begin(store, "r1", None, &["a"]).await;
        assert_eq!(sweep(store, 1_000 * DAY).await.0, 0);
        store.commit(TENANT, ended(&response, &["b"])).await.unwrap();
        assert_eq!(sweep(store, 1_000 * DAY).await.0, 1);
        assert_empty(store).await;
    });
}

#[test]
fn a_sweep_is_short_and_the_next_one_goes_on_with_it() {
    on_both(async |store| {
        let many: Vec<String> = (0..2_500).map(|n| n.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        turn_at(store, 0, "keep", None, &["k"]).await;
        turn_at(store, 0, "long", Some("keep"), &many).await;
        for n in 0..1_200 {
            turn_at(store, 1, &format!("r{n}"), None, &["x"]).await;
        }
        // A deletion does as much as a sweep would, and is seen at once all the same.
        let before = rows(store, "item").await;
        assert!(store.delete(TENANT, "long").await.unwrap());
        assert!(store.get(TENANT, "long").await.unwrap().is_none());
        assert_eq!(rows(store, "item").await, before - 1_000);
        // What is left behind the place is not read by those who go on from there.
        turn_at(store, 40 * DAY, "next", Some("keep"), &["n"]).await;
        assert_eq!(context(store, "next").await.unwrap(), ["k", "ok", "n", "ok"]);

        let mut before =
            rows(store, "item").await + rows(store, "response").await + rows(store, "segment").await;
        loop {
            let swept = store.expire(40 * DAY).await.unwrap();
            let after =
                rows(store, "item").await + rows(store, "response").await + rows(store, "segment").await;
            assert!(before - after <= 1_005, "{}", before - after);
            before = after;
            if !swept.more {
                break;
            }
        }
        assert_eq!(context(store, "next").await.unwrap(), ["k", "ok", "n", "ok"]);
        assert_eq!(rows(store, "response").await, 1);
        assert_eq!(rows(store, "item").await, 4);
        assert_eq!(rows(store, "segment").await, 2);
        assert_eq!(sweep(store, 70 * DAY).await, (1, 1));
        assert_empty(store).await;
    });
}

#[test]
fn the_file_shrinks_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    let incompressible: String =
        (0u32..200_000).map(|n| char::from(b'!' + (n.wrapping_mul(2_654_435_761) >> 26) as u8)).collect();
    run(async {
        for n in 0..20 {
            turn_at(&store, 0, &format!("r{n}"), None, &[&format!("{n}{incompressible}")]).await;
        }
    });
    drop(store);
    let full = fs::metadata(&path).unwrap().len();
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    run(async {
        assert_eq!(sweep(&store, 31 * DAY).await.0, 20);
        sweep(&store, 31 * DAY).await;
    });
    drop(store);
    let empty = fs::metadata(&path).unwrap().len();
    assert!(empty < full / 4, "{full} bytes became {empty}");
}
