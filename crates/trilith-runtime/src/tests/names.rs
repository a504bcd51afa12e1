//! The ids of items: one names one item of its chain.

use std::collections::HashSet;

use trilith_core::{Event, FinishReason, Item, Role};

use super::{
    events::{done, finish, message},
    fakes::{World, request, turn, upstream},
};

fn named(id: &str, mut item: Item) -> Item {
    item.id = Some(id.into());
    item
}

/// An answer of messages with these ids.
fn saying_as(ids: &[&str]) -> Vec<Event> {
    let mut events = vec![Event::Begin(Box::default())];
    for (index, id) in (0..).zip(ids) {
        let item = Box::new(named(id, Item::new(message())));
        events.extend([Event::ItemAdded { index, choice: 0, item }, done(index)]);
    }
    events.push(finish(FinishReason::Stop));
    events
}

#[tokio::test]
async fn an_upstream_may_repeat_its_ids_and_no_two_items_share_one() {
    let stem = |run: &crate::Run| run.response().id.strip_prefix("resp_").unwrap().to_owned();
    let probe = World::new().run(request(turn(Vec::new()), &upstream(saying_as(&["a"])))).await.0;
    // The very ids that Trilith would give, in places where they do not belong.
    let (foreseen, input) =
        (format!("msg_{}00000001", stem(&probe)), format!("msg_{}80000000", stem(&probe)));
    let cases: [&[&str]; 5] = [
        &["msg_0", "msg_0", "msg_0"],
        &["old", "msg_1", "mine"],
        &["", "", ""],
        &[&foreseen, "", "", &foreseen],
        &[&input, &input],
    ];
    for ids in cases {
        let world = World::new();
        let history = vec![named("old", Item::message(Role::Assistant, "before"))];
        world.store.contexts.lock().unwrap().insert("resp_parent".into(), history);
        let mine = named("mine", Item::message(Role::User, "a"));
        let mut turn = turn(vec![Item::message(Role::User, "b"), mine]);
        turn.state.previous_response_id = Some("resp_parent".into());
        let (run, _) = world.run(request(turn, &upstream(saying_as(ids)))).await;
        let (_, input) = world.store.begun.lock().unwrap()[0].clone();
        let given = run.response().output.iter().map(|output| output.item.id.clone().unwrap());
        let all: Vec<_> = given.chain(input.into_iter().filter_map(|item| item.id)).collect();
        assert_eq!(all.len(), ids.len() + 2);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{all:?}");
        assert!(!all.iter().any(|id| &**id == "old"), "{all:?}");
        // An id that is free is kept.
        assert!(!ids.contains(&"msg_1") || all.iter().any(|id| &**id == "msg_1"));
    }
}
