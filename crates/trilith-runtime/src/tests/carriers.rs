//! Opaque carriers: sealed on their way in, opened for their own origin only.

use std::sync::Arc;

use trilith_core::{
    CarrierKind, Compaction, DialectId, Event, Extra, FinishReason, Item, ItemBody, ItemStatus, Origin,
    Reasoning, Role,
};

use super::{
    events::{added, answer, carrier, finish, thought, usage},
    fakes::{Scripted, TENANT, World, request, sealed, turn, upstream},
};
use crate::envelope::{PURPOSE, pack};

pub(super) fn origin(upstream: &str, account: &str) -> Origin {
    Origin {
        dialect: DialectId::Responses,
        upstream: upstream.into(),
        model: "any".into(),
        account: account.into(),
    }
}

pub(super) fn envelope(data: &str, origin: &Origin) -> String {
    sealed(TENANT, PURPOSE, &pack(CarrierKind::Encrypted, data, origin))
}

fn compaction(encrypted: &str) -> Item {
    Item::new(ItemBody::Compaction(Compaction { encrypted: encrypted.into(), origin: None }))
}

fn carriers(item: &Item) -> Vec<&str> {
    match &item.body {
        ItemBody::Reasoning(reasoning) => reasoning.carriers.iter().map(|carrier| &*carrier.data).collect(),
        ItemBody::Compaction(compaction) => vec![&compaction.encrypted],
        _ => Vec::new(),
    }
}

/// What an upstream is sent of `input`.
async fn sent(client: DialectId, input: Vec<Item>, place: Scripted) -> (Vec<Item>, Vec<String>) {
    let world = World::new();
    let place = Arc::new(place.plays(answer("ok")));
    let mut request = request(turn(input), &place);
    request.client = client;
    let (run, _) = world.run(request).await;
    let losses = run.losses().iter().map(|loss| loss.path.to_string()).collect();
    (place.heard(0), losses)
}

fn vendor() -> Scripted {
    Scripted::new("vendor", DialectId::Responses)
}

#[tokio::test]
async fn nobody_but_the_upstream_sees_a_carrier() {
    let world = World::new();
    let early = Reasoning { carriers: vec![carrier("SECRET-1")], ..Reasoning::default() };
    let done = |index, data: &str| Event::ItemDone {
        index,
        status: ItemStatus::Completed,
        carriers: vec![carrier(data)],
        detail: None,
        extra: Extra::EMPTY,
    };
    let events = vec![
        added(0, ItemBody::Reasoning(early)),
        done(0, "SECRET-2"),
        added(1, compaction("SECRET-3").body),
        done(1, "SECRET-4"),
        usage(1, 1),
        finish(FinishReason::Stop),
    ];
    let (run, shown) = world.run(request(turn(Vec::new()), &upstream(events))).await;
    let all = format!("{shown:?}{:?}{:?}", run.response(), world.committed());
    assert!(!all.contains("SECRET"));
    let expected = [envelope_of(&run, "SECRET-2"), envelope_of(&run, "SECRET-4")];
    let found: Vec<&str> = run.response().output.iter().flat_map(|output| carriers(&output.item)).collect();
    assert_eq!(found, expected);
}

fn envelope_of(run: &crate::Run, data: &str) -> String {
    let made = Origin { model: "up-small".into(), ..origin(run.upstream(), "account-1") };
    envelope(data, &made)
}

#[tokio::test]
async fn a_carrier_goes_back_to_the_account_that_made_it() {
    let made = origin("vendor", "account-1");
    let input = vec![thought(&envelope("abc", &made)), compaction(&envelope("def", &made))];
    let (heard, losses) = sent(DialectId::Responses, input.clone(), vendor()).await;
    assert_eq!(heard.iter().flat_map(carriers).collect::<Vec<_>>(), ["abc", "def"]);
    assert!(losses.is_empty());
    // A chat client brings them back in its own words; they open all the same.
    let (heard, _) = sent(DialectId::Chat, input, vendor()).await;
    assert_eq!(heard.iter().flat_map(carriers).collect::<Vec<_>>(), ["abc", "def"]);
}

#[tokio::test]
async fn another_place_is_sent_no_carrier_and_the_caller_is_told() {
    let made = origin("vendor", "account-1");
    let input = vec![Item::message(Role::User, "hi"), thought(&envelope("abc", &made))];
    let elsewhere = [
        vendor().account("account-2"),
        Scripted::new("rival", DialectId::Responses),
        Scripted::new("vendor", DialectId::Messages),
        vendor().wireless(),
    ];
    for place in elsewhere {
        let (heard, losses) = sent(DialectId::Responses, input.clone(), place).await;
        assert!(heard.iter().flat_map(carriers).next().is_none());
        assert_eq!(losses, ["input[1].encrypted_content"]);
    }
}

#[tokio::test]
async fn strict_mode_refuses_what_another_place_made() {
    let world = World::new();
    let place = upstream(answer("ok"));
    let foreign = thought(&envelope("abc", &origin("rival", "account-1")));
    let mut strict = request(turn(vec![foreign]), &place);
    strict.strict = true;
    let error = world.start(strict).await.err().unwrap();
    assert_eq!(error.param.as_deref(), Some("input[0].encrypted_content"));
    assert_eq!(place.count(), 0);
}

#[tokio::test]
async fn a_forged_envelope_is_refused_where_it_stands() {
    let good = envelope("abc", &origin("vendor", "account-1"));
    let of_another_tenant = good.replacen(TENANT, "evil", 1);
    let cut = &good[..good.len() - 5];
    let unknown = sealed(TENANT, PURPOSE, b"\x02future");
    for bad in [&*of_another_tenant, cut, "tl1.", "tl1.zz", &unknown] {
        for item in [thought(bad), compaction(bad)] {
            let world = World::new();
            let mut turn = turn(vec![reference("msg_old"), Item::message(Role::User, "hi"), item]);
            turn.state.previous_response_id = Some("resp_parent".into());
            world.store.contexts.lock().unwrap().insert("resp_parent".into(), vec![named("msg_old")]);
            let place = upstream(answer("ok"));
            let error = world.start(request(turn, &place)).await.err().unwrap();
            // The reference before it counts, although the model never sees it.
            assert_eq!(error.param.as_deref(), Some("input[2].encrypted_content"), "{bad}");
            assert_eq!(error.kind, trilith_core::ErrorKind::BadRequest);
            assert_eq!(place.count(), 0);
        }
    }
    let world = World::new();
    let mut chat = request(turn(vec![thought("tl1.zz")]), &upstream(answer("ok")));
    chat.client = DialectId::Chat;
    let error = world.start(chat).await.err().unwrap();
    assert_eq!(error.param.as_deref(), Some("messages.reasoning_details"));
}

fn reference(id: &str) -> Item {
    Item::new(ItemBody::Reference(id.into()))
}

fn named(id: &str) -> Item {
    Item { id: Some(id.into()), ..Item::message(Role::Assistant, "before") }
}

#[tokio::test]
async fn a_broken_envelope_of_the_history_names_the_history() {
    let world = World::new();
    world.store.contexts.lock().unwrap().insert("resp_parent".into(), vec![thought("tl1.zz")]);
    let mut turn = turn(Vec::new());
    turn.state.previous_response_id = Some("resp_parent".into());
    let error = world.start(request(turn, &upstream(answer("ok")))).await.err().unwrap();
    assert_eq!(error.param.as_deref(), Some("previous_response_id"));
}

#[tokio::test]
async fn compacted_history_of_another_place_is_refused() {
    for foreign in [envelope("abc", &origin("rival", "account-1")), "native".to_owned()] {
        let world = World::new();
        let place = Arc::new(Scripted::new("vendor", DialectId::Messages).plays(answer("ok")));
        let error = world.start(request(turn(vec![compaction(&foreign)]), &place)).await.err().unwrap();
        assert_eq!(error.param.as_deref(), Some("input[0].encrypted_content"));
        assert_eq!(error.kind, trilith_core::ErrorKind::BadRequest);
        assert_eq!(place.count(), 0);
    }
}

#[tokio::test]
async fn native_carriers_of_a_client_go_to_its_own_dialect_only() {
    let input = || vec![thought("native"), compaction("native too")];
    let (heard, losses) = sent(DialectId::Responses, input(), vendor()).await;
    assert_eq!(heard.iter().flat_map(carriers).collect::<Vec<_>>(), ["native", "native too"]);
    assert!(losses.is_empty());
    let (heard, losses) =
        sent(DialectId::Chat, vec![thought("native")], Scripted::new("vendor", DialectId::Messages)).await;
    assert!(heard.iter().flat_map(carriers).next().is_none());
    assert_eq!(losses, ["messages.reasoning_details"]);
}

#[tokio::test]
async fn what_the_store_is_given_stays_sealed() {
    let world = World::new();
    let secret = envelope("abc", &origin("vendor", "account-1"));
    world.run(request(turn(vec![thought(&secret)]), &upstream(answer("ok")))).await;
    let (_, input) = world.store.begun.lock().unwrap()[0].clone();
    assert_eq!(carriers(&input[0]), [secret]);
}
