//! What a turn continues from, and what is kept of it.

use trilith_core::{DialectId, Disposition, Error, Instructions, Item, ItemBody, Role, Turn};

use super::{
    events::answer,
    fakes::{World, request, turn, unstored, upstream},
};

fn said(id: &str, role: Role, text: &str) -> Item {
    Item { id: Some(id.into()), ..Item::message(role, text) }
}

fn texts(items: &[Item]) -> Vec<&str> {
    let messages = items.iter().filter_map(|item| match &item.body {
        ItemBody::Message(message) => message.parts[0].as_text(),
        _ => panic!("{item:?}"),
    });
    messages.collect()
}

fn with_parent() -> World {
    let world = World::new();
    let items = vec![said("msg_1", Role::User, "first"), said("msg_2", Role::Assistant, "second")];
    world.store.contexts.lock().unwrap().insert("resp_parent".into(), items);
    world
}

fn continuing(input: Vec<Item>) -> Turn {
    let mut turn = turn(input);
    turn.state.previous_response_id = Some("resp_parent".into());
    turn
}

async fn refused(world: &World, turn: Turn) -> Error {
    let place = upstream(answer("ok"));
    let error = world.start(request(turn, &place)).await.err().unwrap();
    assert_eq!(place.count(), 0, "nothing is sent");
    assert!(world.store.begun.lock().unwrap().is_empty(), "nothing is kept");
    error
}

#[tokio::test]
async fn the_context_is_the_history_and_then_the_input() {
    let world = with_parent();
    let place = upstream(answer("fourth"));
    let turn = continuing(vec![Item::message(Role::User, "third")]);
    let (run, _) = world.run(request(turn, &place)).await;
    assert_eq!(texts(&place.heard(0)), ["first", "second", "third"]);
    // Only what this request brought is its own input.
    let (begun, input) = world.store.begun.lock().unwrap()[0].clone();
    assert_eq!(texts(&input), ["third"]);
    assert_eq!(begun.previous_response_id.as_deref(), Some("resp_parent"));
    assert_eq!(run.response().previous_response_id.as_deref(), Some("resp_parent"));
    // What was set before the parent's conversation is not said again.
    assert_eq!(place.calls.lock().unwrap()[0].turn.settings.instructions, None::<Instructions>);
}

#[tokio::test]
async fn a_response_that_is_not_kept_may_continue_one_that_is() {
    let world = with_parent();
    let place = upstream(answer("ok"));
    let turn = unstored(continuing(vec![Item::message(Role::User, "third")]));
    world.run(request(turn, &place)).await;
    assert_eq!(texts(&place.heard(0)), ["first", "second", "third"]);
    assert!(world.store.begun.lock().unwrap().is_empty() && world.store.committed.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_parent_is_the_callers_mistake() {
    let world = World::new();
    let error = refused(&world, continuing(Vec::new())).await;
    assert_eq!(error.kind, trilith_core::ErrorKind::BadRequest);
    assert_eq!(error.code.as_deref(), Some("previous_response_not_found"));
    assert_eq!(error.param.as_deref(), Some("previous_response_id"));
    // However long the id is, it is not repeated whole.
    let mut long = turn(Vec::new());
    long.state.previous_response_id = Some("漢".repeat(5000).into());
    assert!(refused(&world, long).await.public.len() < 400);
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_our_own_mistake() {
    let world = with_parent();
    *world.store.fail.lock().unwrap() = Some("context");
    let error = refused(&world, continuing(Vec::new())).await;
    assert_eq!(error.origin, trilith_core::ErrorOrigin::Trilith);
    assert!(!error.public.contains("disk"));
}

#[tokio::test]
async fn references_name_what_the_context_holds() {
    let reference = |id: &str| Item::new(ItemBody::Reference(id.into()));
    let world = with_parent();
    let place = upstream(answer("ok"));
    let input = vec![
        reference("msg_2"),
        said("msg_mine", Role::User, "third"),
        reference("msg_mine"),
        reference("msg_1"),
    ];
    world.run(request(continuing(input), &place)).await;
    // Nothing is said twice, neither to the model nor to the store.
    assert_eq!(texts(&place.heard(0)), ["first", "second", "third"]);
    assert_eq!(texts(&world.store.begun.lock().unwrap()[0].1), ["third"]);

    let world = with_parent();
    let error = refused(&world, continuing(vec![reference("msg_2"), reference("msg_gone")])).await;
    assert_eq!(error.param.as_deref(), Some("input[1].id"));
    assert!(error.public.contains("msg_gone"));
    // A reference to what comes later names nothing yet.
    let later = vec![reference("msg_mine"), said("msg_mine", Role::User, "third")];
    assert_eq!(refused(&world, continuing(later)).await.param.as_deref(), Some("input[0].id"));
}

#[tokio::test]
async fn references_name_any_stored_item_and_it_stands_in_their_place() {
    let reference = |id: &str| Item::new(ItemBody::Reference(id.into()));
    let world = with_parent();
    let other = vec![said("msg_8", Role::User, "elsewhere"), said("msg_9", Role::Assistant, "far")];
    world.store.contexts.lock().unwrap().insert("resp_other".into(), other);
    let input =
        || vec![reference("msg_9"), said("a", Role::User, "mine"), reference("msg_8"), reference("msg_9")];
    // With a chain and without one, kept or not.
    for (turn, past) in [(continuing(input()), &["first", "second"][..]), (unstored(turn(input())), &[])] {
        let place = upstream(answer("ok"));
        world.run(request(turn, &place)).await;
        assert_eq!(texts(&place.heard(0)), [past, &["far", "mine", "elsewhere"]].concat());
    }
    let begun = world.store.begun.lock().unwrap();
    assert_eq!((begun.len(), texts(&begun[0].1)), (1, vec!["far", "mine", "elsewhere"]));
}

#[tokio::test]
async fn too_many_references_and_a_store_that_cannot_be_read_are_refused() {
    let references =
        |count: usize| (0..count).map(|n| Item::new(ItemBody::Reference(format!("msg_{n}").into())));
    let world = World::new();
    let error = refused(&world, turn(references(1_001).collect())).await;
    assert_eq!(error.param.as_deref(), Some("input"));
    *world.store.fail.lock().unwrap() = Some("items");
    let error = refused(&world, turn(references(1).collect())).await;
    assert_eq!(error.origin, trilith_core::ErrorOrigin::Trilith);
}

#[tokio::test]
async fn what_the_chain_holds_is_not_said_again() {
    let world = with_parent();
    let input = vec![said("msg_new", Role::User, "third"), said("msg_1", Role::User, "first")];
    let error = refused(&world, continuing(input)).await;
    assert_eq!(error.param.as_deref(), Some("input[1].id"));
    assert!(error.public.starts_with("Duplicate item found with id msg_1."));
}

#[tokio::test]
async fn every_input_has_an_id_that_stays() {
    let kept = || async {
        let world = World::new();
        let input = vec![
            Item::message(Role::User, "a"),
            said("msg_mine", Role::User, "b"),
            Item::message(Role::User, "c"),
        ];
        let (run, _) = world.run(request(turn(input), &upstream(answer("ok")))).await;
        let (_, input) = world.store.begun.lock().unwrap()[0].clone();
        let ids: Vec<String> = input.iter().map(|item| item.id.as_deref().unwrap().to_owned()).collect();
        let output = run.response().output[0].item.id.as_deref().unwrap().to_owned();
        (run.response().id.to_string(), ids, output)
    };
    let (response, ids, output) = kept().await;
    let stem = response.strip_prefix("resp_").unwrap();
    assert_eq!(ids, [format!("msg_{stem}80000000"), "msg_mine".to_owned(), format!("msg_{stem}80000002")]);
    assert!(!ids.contains(&output));
    assert_eq!((response, ids, output), kept().await);
}

#[tokio::test]
async fn what_is_not_served_is_said_so() {
    let world = World::new();
    let mut background = turn(Vec::new());
    background.state.background = true;
    let mut conversation = turn(Vec::new());
    conversation.state.conversation = Some("conv_1".into());
    for (turn, param) in [(background, "background"), (conversation, "conversation")] {
        let error = refused(&world, turn).await;
        assert_eq!(
            (error.param.as_deref(), error.code.as_deref()),
            (Some(param), Some("unsupported_parameter"))
        );
    }
}

#[tokio::test]
async fn a_chat_client_is_told_that_nothing_was_kept() {
    for (store, told) in [(Some(true), 1), (Some(false), 0), (None, 0)] {
        let world = World::new();
        let mut turn = turn(Vec::new());
        turn.state.store = store;
        let mut request = request(turn, &upstream(answer("ok")));
        request.client = DialectId::Chat;
        let (run, _) = world.run(request).await;
        let losses = run.losses().iter().filter(|loss| &*loss.path == "store");
        assert_eq!(losses.filter(|loss| loss.disposition == Disposition::Warn).count(), told);
        assert!(!run.response().store);
        assert!(world.store.begun.lock().unwrap().is_empty());
    }
}
