//! Lists of input items, page by page.

use super::*;

async fn page(
    store: &Sqlite,
    id: &str,
    limit: usize,
    ascending: bool,
    after: Option<&str>,
) -> Option<(Vec<String>, bool)> {
    let page = InputPage { limit, ascending, after: after.map(Into::into) };
    let page = store.input_items(TENANT, id, page).await.unwrap()?;
    assert!(page.items.iter().all(|item| item.id.is_some() && item.status.is_some()));
    Some((page.items.iter().map(|item| text_of(item).to_owned()).collect(), page.has_more))
}

/// Everything, by following the pages.
async fn all(store: &Sqlite, id: &str, limit: usize, ascending: bool) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    loop {
        let after = found.last().cloned();
        let (items, more) = page(store, id, limit, ascending, after.as_deref()).await.unwrap();
        assert!(items.len() == limit || !more);
        found.extend(items);
        if !more {
            return found;
        }
    }
}

#[test]
fn pages_cover_the_whole_chain_once_in_both_directions() {
    on_both(async |store| {
        turn(store, "r1", None, &["1", "2"], &["3"]).await;
        turn(store, "r2", Some("r1"), &["4"], &["5", "6"]).await;
        turn(store, "trunk", Some("r2"), &["not mine"], &[]).await;
        turn(store, "r3", Some("r2"), &["7", "8"], &["not yet"]).await;
        let expected = ["1", "2", "3", "4", "5", "6", "7", "8"];
        let reversed: Vec<&str> = expected.iter().rev().copied().collect();
        for limit in 1..10 {
            assert_eq!(all(store, "r3", limit, true).await, expected, "{limit}");
            assert_eq!(all(store, "r3", limit, false).await, reversed, "{limit}");
        }
        assert_eq!(page(store, "r1", 20, true, None).await.unwrap().0, ["1", "2"]);
        assert_eq!(
            page(store, "r2", 2, false, Some("3")).await.unwrap(),
            (vec!["2".into(), "1".into()], false)
        );
        assert_eq!(page(store, "r3", 5, true, Some("8")).await.unwrap(), (vec![], false));
        assert_eq!(page(store, "r3", 5, true, Some("not mine")).await, None);
        assert_eq!(page(store, "r3", 5, true, Some("not yet")).await, None);
        assert_eq!(page(store, "r3", 5, true, Some("")).await, None);
    });
}

#[test]
fn a_response_without_input_has_an_empty_list() {
    on_both(async |store| {
        turn(store, "r1", None, &[], &["a"]).await;
        assert_eq!(page(store, "r1", 20, true, None).await.unwrap(), (vec![], false));
    });
}

#[test]
fn paging_ends_even_where_a_caller_brought_an_id_twice() {
    on_both(async |store| {
        turn(store, "r1", None, &["a", "x", "b", "x", "c"], &[]).await;
        for ascending in [true, false] {
            let mut after: Option<String> = None;
            let mut pages = 0;
            while let Some((items, more)) = page(store, "r1", 1, ascending, after.as_deref()).await {
                pages += 1;
                after = items.last().cloned();
                if !more {
                    break;
                }
                assert!(pages < 10);
            }
        }
    });
}
