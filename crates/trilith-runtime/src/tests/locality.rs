//! What may go to local targets only: who holds it, who is tried, what is kept.

use std::{collections::HashSet, sync::Arc};

use trilith_core::{
    Call, CallKind, CallResult, DialectId, Error, ErrorKind, Item, ItemBody, Opaque, Pin, PinRule,
    ResultOutput, Role, Turn,
};

use super::{
    events::{added, answer, done, finish, message, usage},
    fakes::{Policy, Scripted, World, candidate, request, turn, upstream},
};
use crate::{Held, LocalTools, Request};

fn call(kind: CallKind, id: &str, namespace: Option<&str>, name: &str) -> Item {
    Item::new(ItemBody::Call(Call {
        kind,
        call_id: Some(id.into()),
        name: name.into(),
        namespace: namespace.map(Into::into),
        args: "{}".into(),
        caller: None,
        detail: None,
    }))
}

fn result(kind: CallKind, id: &str, name: Option<&str>) -> Item {
    Item::new(ItemBody::Result(CallResult {
        kind,
        call_id: Some(id.into()),
        name: name.map(Into::into),
        namespace: None,
        status: None,
        output: ResultOutput::Text("secret".into()),
        caller: None,
        detail: None,
    }))
}

fn opaque(kind: &str) -> Item {
    let json = trilith_core::Json::from_checked("{}");
    Item::new(ItemBody::Opaque(Opaque { dialect: DialectId::Messages, kind: kind.into(), json }))
}

fn user(text: &str) -> Item {
    Item::message(Role::User, text)
}

fn pin(rule: PinRule, name: &str) -> Arc<Pin> {
    Arc::new(Pin { rule, name: name.into() })
}

fn tools() -> LocalTools {
    LocalTools::new([("crm_public", false), ("crm_*", true), ("hr__find", true), ("file_search", true)])
}

fn world() -> World {
    let mut world = World::new();
    world.runtime.local_tools = Arc::new(tools());
    world
}

fn local(upstream: &Arc<Scripted>) -> crate::Candidate {
    crate::Candidate { local: true, ..candidate(upstream) }
}

/// A call of a tool and its result, as a client holds them.
fn used(name: &str) -> Vec<Item> {
    vec![
        user("who?"),
        call(CallKind::Function, "c1", None, name),
        result(CallKind::Function, "c1", None),
        user("and?"),
    ]
}

fn continuing(parent: &str, input: Vec<Item>) -> Turn {
    let mut turn = turn(input);
    turn.state.previous_response_id = Some(parent.into());
    turn
}

#[test]
fn a_tool_is_found_by_its_name_namespace_kind_and_pattern() {
    let function = |namespace, name| {
        vec![call(CallKind::Function, "c", namespace, name), result(CallKind::Function, "c", None)]
    };
    let cases = [
        (function(None, "crm_find"), Some("crm_*")),
        (function(None, "crm_public"), None),
        (function(None, "weather"), None),
        (function(Some("hr"), "find"), Some("hr__find")),
        (function(Some("it"), "find"), None),
        (function(Some("any"), "crm_find"), Some("crm_*")),
        (function(None, "hr__find"), Some("hr__find")),
        // The model only asks so far.
        (vec![call(CallKind::Function, "c", None, "crm_find")], None),
        (vec![result(CallKind::Custom, "c", Some("crm_find"))], Some("crm_*")),
        (vec![result(CallKind::Custom, "c", Some("weather"))], None),
        // Whose result it is cannot be told.
        (vec![result(CallKind::Function, "c", None)], Some("crm_*")),
        (vec![call(CallKind::FileSearch, "c", None, "")], Some("file_search")),
        (vec![call(CallKind::WebSearch, "c", None, "")], None),
        (vec![call(CallKind::Mcp, "c", None, "crm_find")], Some("crm_*")),
        (vec![result(CallKind::Shell, "c", None)], None),
        (vec![opaque("crm_block")], Some("crm_*")),
        (vec![opaque("other")], None),
    ];
    for (items, expected) in cases {
        let held = Held::by_tools(&tools(), DialectId::Chat, &items);
        assert_eq!(held.as_ref().map(|held| &*held.pin.name), expected, "{items:?}");
    }
    let free = LocalTools::new([("*", false)]);
    assert!(free.is_empty() && Held::by_tools(&free, DialectId::Chat, &used("crm_find")).is_none());
}

#[tokio::test]
async fn a_result_in_the_history_keeps_the_turn_at_home() {
    let world = world();
    let (away, home) = (upstream(answer("never")), upstream(answer("hi")));
    let mut request = request(turn(used("crm_find")), &away);
    request.candidates.push(local(&home));
    let (run, _) = world.run(request).await;
    assert_eq!((away.count(), home.count()), (0, 1));
    assert_eq!(run.pin(), Some(&pin(PinRule::Tool, "crm_*")));
    let input = world.store.begun.lock().unwrap()[0].1.clone();
    let marked: Vec<bool> = input.iter().map(|item| item.pin.is_some()).collect();
    assert_eq!(marked, [false, false, true, false], "what the tool answered is marked, and nothing else");
    let output = &world.committed().output[0].item;
    assert_eq!(output.pin, Some(pin(PinRule::Tool, "crm_*")), "and what was made of it");
}

#[tokio::test]
async fn fall_over_stays_at_home() {
    let world = world();
    let broken = || Error::upstream("broken");
    let home = Arc::new(Scripted::new("home", DialectId::Chat).fails(broken()));
    let away = Arc::new(Scripted::new("away", DialectId::Chat).plays(answer("never")));
    let mut request = request(turn(used("crm_find")), &home);
    request.candidates = vec![local(&home), candidate(&away)];
    let mut policy = Policy::of(&[(1, 0)]);
    let error = world.runtime.start(request, &mut policy).await.err();
    assert_eq!((error, away.count()), (Some(broken()), 0));
    assert_eq!(policy.only, Some(HashSet::from([0])));
}

/// The refusal names the rule, the field and what to do.
async fn refused(world: &World, mut request: Request, field: &str, rule: &str) {
    let away = upstream(answer("never"));
    request.candidates = vec![candidate(&away)];
    let error = world.start(request).await.err().unwrap();
    assert_eq!(away.count(), 0, "nothing is sent");
    assert_eq!((error.kind, error.code.as_deref()), (ErrorKind::Forbidden, Some("local_only")));
    assert_eq!(error.param.as_deref(), Some(field));
    assert!(error.public.contains(rule) && error.public.contains("'small'"), "{}", error.public);
    assert!(error.public.contains("ask for a model"), "{}", error.public);
    assert!(world.store.begun.lock().unwrap().is_empty(), "nothing is kept");
}

#[tokio::test]
async fn without_a_local_target_a_turn_is_refused_and_says_why() {
    let world = world();
    let nowhere = upstream(answer("never"));
    let mut client = request(turn(used("crm_find")), &nowhere);
    refused(&world, client, "input[2]", "tool 'crm_*'").await;
    client = Request { client: DialectId::Chat, ..request(turn(used("crm_find")), &nowhere) };
    refused(&world, client, "messages", "tool 'crm_*'").await;
    for rule in [PinRule::Key, PinRule::Model] {
        let mut whole = request(turn(vec![user("hi")]), &nowhere);
        whole.pin = Some(pin(rule, "house"));
        refused(&world, whole, "model", &format!("{} 'house'", rule.name())).await;
    }
}

#[tokio::test]
async fn marks_travel_with_stored_items() {
    let world = World::new();
    let marked = Item { id: Some("msg_1".into()), pin: Some(pin(PinRule::Key, "ci")), ..user("secret") };
    let free = Item { id: Some("msg_0".into()), ..user("free") };
    {
        let mut contexts = world.store.contexts.lock().unwrap();
        contexts.insert("resp_before".into(), vec![free.clone()]);
        contexts.insert("resp_after".into(), vec![free, marked]);
    }
    let nowhere = upstream(answer("never"));
    let chained = request(continuing("resp_after", vec![user("hi")]), &nowhere);
    refused(&world, chained, "previous_response_id", "key 'ci'").await;
    let reference = Item::new(ItemBody::Reference("msg_1".into()));
    let referring = request(turn(vec![user("look"), reference]), &nowhere);
    refused(&world, referring, "input[1]", "key 'ci'").await;
    // A branch from before the mark is free.
    let away = upstream(answer("hi"));
    let (run, _) = world.run(request(continuing("resp_before", vec![user("hi")]), &away)).await;
    assert_eq!((run.pin(), away.count()), (None, 1));
}

#[tokio::test]
async fn everything_under_a_key_or_a_model_is_marked() {
    for rule in [PinRule::Key, PinRule::Model] {
        let world = World::new();
        let home = upstream(answer("hi"));
        let mut request = request(turn(vec![user("one"), user("two")]), &home);
        request.candidates = vec![local(&home)];
        request.pin = Some(pin(rule, "house"));
        world.run(request).await;
        let input = world.store.begun.lock().unwrap()[0].1.clone();
        let output = world.committed().output.iter().map(|output| output.item.clone()).collect();
        for item in [input, output].concat() {
            assert_eq!(item.pin, Some(pin(rule, "house")));
        }
    }
}

#[tokio::test]
async fn what_follows_a_hosted_tool_of_the_upstream_is_marked_too() {
    let world = world();
    let searched = call(CallKind::FileSearch, "x", None, "").body;
    let script = vec![
        added(0, message()),
        done(0),
        added(1, searched),
        done(1),
        added(2, message()),
        done(2),
        usage(1, 1),
        finish(trilith_core::FinishReason::Stop),
    ];
    let place = upstream(script);
    world.run(request(turn(vec![user("search")]), &place)).await;
    let made = world.committed();
    let marked: Vec<bool> = made.output.iter().map(|output| output.item.pin.is_some()).collect();
    assert_eq!(marked, [false, true, true]);
}
