//! Items by their ids.

use super::*;

async fn found(store: &Sqlite, tenant: &str, ids: &[&str]) -> Vec<Option<String>> {
    let items = store.items(tenant, ids.iter().map(|id| (*id).into()).collect()).await.unwrap();
    items.iter().map(|item| item.as_ref().map(|item| text_of(item).to_owned())).collect()
}

fn named(id: &str, text: &str) -> Item {
    Item { id: Some(id.into()), ..Item::message(Role::User, text) }
}

#[test]
fn inputs_and_outputs_of_every_chain_are_found_in_the_order_of_the_question() {
    on_both(async |store| {
        turn(store, "r1", None, &["q1"], &["a1"]).await;
        turn(store, "r2", Some("r1"), &["q2"], &[]).await;
        turn(store, "r3", Some("r1"), &["q3"], &["a3"]).await;
        let text = |text: &str| Some(text.to_owned());
        let ids = ["a3", "none", "q1", "q2", "a1", ""];
        let expected = [text("a3"), None, text("q1"), text("q2"), text("a1"), None];
        assert_eq!(found(store, TENANT, &ids).await, expected);
        assert_eq!(found(store, "other", &["a1"]).await, [None]);
    });
}

#[test]
fn of_several_the_newest_counts_and_other_tenants_have_their_own() {
    on_both(async |store| {
        for (tenant, id, text) in [(TENANT, "r1", "old"), (TENANT, "r2", "new"), ("other", "r3", "theirs")] {
            let response = begun(id, None);
            store.begin(tenant, Arc::new(response.clone()), vec![named("msg_0", text)]).await.unwrap();
            store.commit(tenant, ended(&response, &[])).await.unwrap();
        }
        assert_eq!(found(store, TENANT, &["msg_0"]).await, [Some("new".to_owned())]);
        assert_eq!(found(store, "other", &["msg_0"]).await, [Some("theirs".to_owned())]);
        assert!(store.delete(TENANT, "r2").await.unwrap());
        assert_eq!(found(store, TENANT, &["msg_0"]).await, [Some("old".to_owned())]);
    });
}

#[test]
fn what_was_deleted_is_not_found_unless_a_later_response_has_it() {
    on_both(async |store| {
        turn(store, "r1", None, &["q1"], &["a1"]).await;
        turn(store, "r2", Some("r1"), &["q2"], &["a2"]).await;
        // More than one sweep takes away.
        let many: Vec<String> = (0..1_500).map(|n| format!("m{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        turn(store, "r3", Some("r2"), &many, &[]).await;
        assert!(store.delete(TENANT, "r1").await.unwrap());
        assert!(store.delete(TENANT, "r3").await.unwrap());
        assert!(rows(store, "item").await > 4, "some wait for the sweep");
        let expected = [Some("a1".to_owned()), None, None];
        assert_eq!(found(store, TENANT, &["a1", "m0", "m1499"]).await, expected);
    });
}

#[test]
fn a_lookup_reads_an_index_and_no_table() {
    run(async {
        let store = Sqlite::in_memory(30).unwrap();
        let plan = |connection: &Connection| {
            connection
                .prepare("EXPLAIN QUERY PLAN SELECT sid FROM item WHERE tid = 1 AND item_id = 'a' ORDER BY rowid DESC")
                .and_then(|mut plan| plan.query_map([], |row| row.get(3))?.collect::<Result<Vec<String>, _>>())
                .map_err(read::fail)
        };
        assert_eq!(
            store.ask(plan).await.unwrap(),
            ["SEARCH item USING INDEX item_name (tid=? AND item_id=?)"]
        );
    });
}
