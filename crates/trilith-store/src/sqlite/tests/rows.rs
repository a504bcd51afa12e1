//! What is read back equals what was written.

use proptest::prelude::*;

use super::*;
use crate::arbitrary;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_restored_response_equals_the_fold_of_its_events(
        events in arbitrary::events(),
        input in proptest::collection::vec(arbitrary::item(), 0..3),
    ) {
        let whole = Response::fold(&events).unwrap();
        let first = Response::fold(&events[..1]).unwrap();
        let store = Sqlite::in_memory(30).unwrap();
        run(async {
            store.begin(TENANT, Arc::new(first), input.clone()).await.unwrap();
            store.commit(TENANT, Arc::new(whole.clone())).await.unwrap();
            let read = store.get(TENANT, &whole.id).await.unwrap().unwrap();
            let context = store.context(TENANT, &whole.id).await.unwrap().unwrap();
            prop_assert_eq!(&read, &whole);
            let outputs = whole.output.iter().map(|output| output.item.clone());
            prop_assert_eq!(context.items, input.into_iter().chain(outputs).collect::<Vec<_>>());
            Ok(())
        })?;
    }
}

#[test]
fn equal_settings_share_a_row_that_goes_with_its_last_response() {
    on_both(async |store| {
        let with = |id: &str, model: &str| {
            let settings = Arc::new(Settings { model: model.into(), ..Settings::default() });
            Response::new(&Created { settings, ..created(id, None) })
        };
        for (id, model) in [("r1", "a"), ("r2", "a"), ("r3", "b")] {
            let response = with(id, model);
            store.begin(TENANT, Arc::new(response.clone()), vec![]).await.unwrap();
            store.commit(TENANT, ended(&response, &[])).await.unwrap();
        }
        assert_eq!(rows(store, "settings").await, 2);
        assert_eq!(&*store.get(TENANT, "r2").await.unwrap().unwrap().settings.model, "a");
        for (id, left) in [("r1", 2), ("r3", 1), ("r2", 0)] {
            assert!(store.delete(TENANT, id).await.unwrap());
            assert_eq!(rows(store, "settings").await, left);
        }
    });
}

#[test]
fn a_hole_or_a_damaged_row_is_an_error_and_never_a_shorter_conversation() {
    on_both(async |store| {
        turn(store, "r1", None, &["a", "b"], &["c"]).await;
        turn(store, "r2", Some("r1"), &["d"], &["e"]).await;
        let damage = |sql: &'static str| {
            store.write(move |done| {
                Write::Ask(Box::new(move |connection| {
                    done.send(connection.execute_batch(sql).map_err(read::fail)).ok();
                }))
            })
        };
        damage("UPDATE item SET body = x'1003' WHERE pos = 1").await.unwrap();
        assert!(store.context(TENANT, "r2").await.is_err());
        damage("DELETE FROM item WHERE pos = 1").await.unwrap();
        assert!(store.context(TENANT, "r2").await.is_err());
        let page = InputPage { limit: 20, ascending: true, after: None };
        assert!(store.input_items(TENANT, "r2", page).await.is_err());
        assert!(store.get(TENANT, "r2").await.unwrap().is_some(), "its own output is whole");
    });
}
