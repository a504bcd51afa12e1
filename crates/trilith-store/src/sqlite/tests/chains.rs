//! A response from its first byte to the thousandth that goes on from it.

use super::*;

#[test]
fn a_response_is_seen_from_its_beginning_and_continued_from_its_end() {
    on_both(async |store| {
        let response = begin(store, "r1", None, &["hi"]).await;
        let seen = store.get(TENANT, "r1").await.unwrap().unwrap();
        assert_eq!(seen.status, Status::InProgress);
        let page = InputPage { limit: 20, ascending: true, after: None };
        assert_eq!(texts(&store.input_items(TENANT, "r1", page).await.unwrap().unwrap().items), ["hi"]);
        assert_eq!(context(store, "r1").await, None, "what has not ended cannot be continued");

        let end = ended(&response, &["hello"]);
        store.commit(TENANT, Arc::clone(&end)).await.unwrap();
        assert_eq!(store.get(TENANT, "r1").await.unwrap().unwrap(), *end);
        assert_eq!(context(store, "r1").await.unwrap(), ["hi", "hello"]);
    });
}

#[test]
fn unknown_and_foreign_ids_look_alike() {
    on_both(async |store| {
        turn(store, "r1", None, &["mine"], &["yours"]).await;
        for (tenant, id) in [("other", "r1"), (TENANT, "r2"), ("", "r1"), (TENANT, "")] {
            assert!(store.context(tenant, id).await.unwrap().is_none());
            assert!(store.get(tenant, id).await.unwrap().is_none());
            assert!(!store.delete(tenant, id).await.unwrap());
            let page = InputPage { limit: 20, ascending: true, after: None };
            assert!(store.input_items(tenant, id, page).await.unwrap().is_none());
        }
        let response = begun("r3", Some("r1"));
        store.begin("other", Arc::new(response.clone()), vec![]).await.unwrap();
        assert!(store.commit("other", ended(&response, &[])).await.is_err());
        assert!(store.get("other", "r3").await.unwrap().is_none());
        // The same id may be used by two tenants.
        let response = begun("r1", None);
        store.begin("other", Arc::new(response.clone()), said_all(&["theirs"])).await.unwrap();
        store.commit("other", ended(&response, &[])).await.unwrap();
        assert_eq!(texts(&store.context("other", "r1").await.unwrap().unwrap().items), ["theirs"]);
        assert_eq!(context(store, "r1").await.unwrap(), ["mine", "yours"]);
    });
}

#[test]
fn turns_without_input_or_output_keep_their_place() {
    on_both(async |store| {
        turn(store, "r1", None, &[], &[]).await;
        assert_eq!(context(store, "r1").await.unwrap(), [""; 0]);
        turn(store, "r2", Some("r1"), &["a"], &[]).await;
        turn(store, "r3", Some("r2"), &[], &[]).await;
        turn(store, "r4", Some("r3"), &[], &["b"]).await;
        assert_eq!(context(store, "r3").await.unwrap(), ["a"]);
        assert_eq!(context(store, "r4").await.unwrap(), ["a", "b"]);
        assert_eq!(rows(store, "segment").await, 1);
    });
}

#[test]
fn an_end_without_a_beginning_or_a_second_one_is_refused() {
    on_both(async |store| {
        let response = begun("r1", None);
        assert!(store.commit(TENANT, ended(&response, &["x"])).await.is_err());
        turn(store, "r1", None, &["a"], &["b"]).await;
        assert!(store.commit(TENANT, ended(&response, &["x"])).await.is_err());
        assert_eq!(context(store, "r1").await.unwrap(), ["a", "b"]);
    });
}

#[test]
fn what_cannot_begin_leaves_its_neighbours_alone() {
    on_both(async |store| {
        turn(store, "r1", None, &["a"], &["b"]).await;
        // One transaction holds them all; the second begins an id that exists, the third a lost parent's child.
        let (first, twin, orphan) = (begun("r2", Some("r1")), begun("r1", None), begun("r3", Some("gone")));
        for response in [&first, &twin, &orphan] {
            store.begin(TENANT, Arc::new(response.clone()), said_all(&["c"])).await.unwrap();
        }
        let (first, orphan) =
            (store.commit(TENANT, ended(&first, &["d"])), store.commit(TENANT, ended(&orphan, &["d"])));
        assert!(orphan.await.is_err());
        first.await.unwrap();
        assert_eq!(context(store, "r2").await.unwrap(), ["a", "b", "c", "d"]);
        assert!(store.get(TENANT, "r3").await.unwrap().is_none());
        assert_eq!(rows(store, "segment").await, 1);
        assert_eq!(rows(store, "item").await, 4);
    });
}

#[test]
fn a_thousand_turns_are_kept_once_and_in_order() {
    const TURNS: usize = 1_000;
    // Text that does not compress to nothing: about what people and models write.
    let mut seed = 1u32;
    let mut word = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("{:05x} ", seed >> 12)
    };
    let content: Vec<String> =
        (0..TURNS * 2).map(|n| format!("{n}: ") + &(0..150).map(|_| word()).collect::<String>()).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let store = Sqlite::open(&path, Sync::Normal, 30).unwrap();
    run(async {
        let mut parent: Option<String> = None;
        for n in 0..TURNS {
            let id = format!("resp_{n:032x}");
            let item = |place: usize, role| {
                let id = Some(format!("msg_{n:032x}{place:08x}").into());
                Item { id, ..Item::message(role, &*content[2 * n + place]) }
            };
            let mut response = begun(&id, parent.as_deref());
            store.begin(TENANT, Arc::new(response.clone()), vec![item(0, Role::User)]).await.unwrap();
            let item = Box::new(item(1, Role::Assistant));
            response.apply(&Event::ItemAdded { index: 0, choice: 0, item }).unwrap();
            response.apply(&whole(0)).unwrap();
            store.commit(TENANT, ended(&response, &[])).await.unwrap();
            parent = Some(id);
        }
        assert_eq!(context(&store, &format!("resp_{:032x}", 999)).await.unwrap(), content);
        assert_eq!(context(&store, &format!("resp_{:032x}", 499)).await.unwrap(), content[..1_000]);
        assert_eq!(rows(&store, "segment").await, 1);
        assert_eq!(rows(&store, "settings").await, 1);
    });
    drop(store);
    let bytes: usize = content.iter().map(String::len).sum();
    let size = usize::try_from(fs::metadata(&path).unwrap().len()).unwrap();
    println!("{bytes} bytes of content in {size} bytes of file");
    assert!(size <= 3 * bytes, "{size} bytes for {bytes} bytes of content");
}
