//! The fold: what it builds, and what it refuses.

use std::sync::Arc;

use crate::{
    ApplyError, Call, CallKind, Created, End, Event, Finish, FinishReason, Item, ItemBody, ItemStatus,
    Message, PartSpace, PartStart, Response, ResponseId, Role, Settings, Status, call_id, item_id,
};

fn created() -> Event {
    Event::Created(Box::new(Created {
        id: "resp_00".into(),
        created_at: 1,
        settings: Arc::new(Settings::default()),
        store: true,
        background: false,
        previous_response_id: None,
        conversation: None,
    }))
}

fn message_head() -> Box<Item> {
    Box::new(Item::new(ItemBody::Message(Message {
        role: Role::Assistant,
        parts: Vec::new(),
        phase: None,
        name: None,
    })))
}

fn end(status: Status) -> Event {
    Event::End(Box::new(End { status, incomplete: None, error: None, at: 2 }))
}

fn done(index: u32) -> Event {
    Event::ItemDone {
        index,
        status: ItemStatus::Completed,
        carriers: Vec::new(),
        detail: None,
        extra: crate::Extra::EMPTY,
    }
}

fn text(index: u32, delta: &str) -> Event {
    Event::TextDelta { index, part: 0, delta: delta.into(), logprobs: Vec::new() }
}

#[test]
fn a_message_and_a_call_are_folded() {
    let call = Item::new(ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: Some("call_1".into()),
        name: "f".into(),
        namespace: None,
        args: String::new(),
        caller: None,
        detail: None,
    }));
    let response = Response::fold(&[
        created(),
        Event::ItemAdded { index: 0, choice: 0, item: message_head() },
        Event::PartAdded { index: 0, part: 0, start: PartStart::Text },
        text(0, "Hel"),
        text(0, "lo"),
        Event::PartDone { index: 0, part: 0, space: PartSpace::Content },
        done(0),
        Event::ItemAdded { index: 1, choice: 0, item: Box::new(call) },
        Event::ArgumentsDelta { index: 1, delta: "{\"a\":".into() },
        Event::ArgumentsDelta { index: 1, delta: "1}".into() },
        done(1),
        Event::Finish(Finish { choice: 0, reason: FinishReason::ToolCalls }),
        end(Status::Completed),
    ])
    .unwrap();
    let ItemBody::Message(message) = &response.output[0].item.body else { panic!("not a message") };
    assert_eq!(message.parts[0].as_text(), Some("Hello"));
    let ItemBody::Call(call) = &response.output[1].item.body else { panic!("not a call") };
    assert_eq!(call.args, "{\"a\":1}");
    assert_eq!(response.status, Status::Completed);
    assert_eq!(response.finishes, [Some(FinishReason::ToolCalls)]);
}

#[test]
fn illegal_orders_are_refused() {
    let start = || {
        let Event::Created(created) = created() else { panic!("not created") };
        Response::new(&created)
    };
    let mut response = start();
    assert_eq!(response.apply(&text(0, "x")), Err(ApplyError::NoOpenItem));
    assert_eq!(
        response.apply(&Event::ItemAdded { index: 1, choice: 0, item: message_head() }),
        Err(ApplyError::ItemOutOfOrder)
    );
    response.apply(&Event::ItemAdded { index: 0, choice: 0, item: message_head() }).unwrap();
    assert_eq!(response.apply(&text(0, "x")), Err(ApplyError::NoSuchPart));
    assert_eq!(response.apply(&end(Status::Completed)), Err(ApplyError::ItemLeftOpen));
    response.apply(&done(0)).unwrap();
    assert_eq!(response.apply(&done(0)), Err(ApplyError::NoOpenItem));
    assert_eq!(response.apply(&end(Status::Queued)), Err(ApplyError::NotAnEnd));
    response.apply(&end(Status::Completed)).unwrap();
    assert_eq!(response.apply(&end(Status::Completed)), Err(ApplyError::AfterEnd));
}

#[test]
fn minted_ids_sort_by_age_and_derive_stable_children() {
    let older = ResponseId::mint(1_700_000_000_000, [255; 10]).response();
    let newer = ResponseId::mint(1_700_000_000_001, [0; 10]).response();
    assert!(older < newer);
    let body = message_head().body;
    assert_eq!(item_id(&older, &body, 3), item_id(&older, &body, 3));
    assert_ne!(item_id(&older, &body, 3), item_id(&older, &body, 4));
    assert!(call_id(&older, 0).len() <= 64);
}
