//! Short names for events.

use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, Event, Extra, Finish, FinishReason, Item, ItemBody, ItemStatus,
    Message, PartSpace, PartStart, Reasoning, Role, Usage,
};

pub(super) fn message() -> ItemBody {
    ItemBody::Message(Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None })
}

pub(super) fn function(name: &str) -> ItemBody {
    ItemBody::Call(Call {
        kind: CallKind::Function,
        call_id: None,
        name: name.into(),
        namespace: None,
        args: String::new(),
        caller: None,
        detail: None,
    })
}

pub(super) fn carrier(data: &str) -> Carrier {
    Carrier { kind: CarrierKind::Encrypted, data: data.into(), origin: None }
}

pub(super) fn thought(data: &str) -> Item {
    Item::new(ItemBody::Reasoning(Reasoning { carriers: vec![carrier(data)], ..Reasoning::default() }))
}

pub(super) fn added(index: u32, body: ItemBody) -> Event {
    Event::ItemAdded { index, choice: 0, item: Box::new(Item::new(body)) }
}

pub(super) fn part(index: u32, part: u32) -> Event {
    Event::PartAdded { index, part, start: PartStart::Text }
}

pub(super) fn text(index: u32, part: u32, delta: &str) -> Event {
    Event::TextDelta { index, part, delta: delta.into(), logprobs: Vec::new() }
}

pub(super) fn part_done(index: u32, part: u32) -> Event {
    Event::PartDone { index, part, space: PartSpace::Content }
}

pub(super) fn done(index: u32) -> Event {
    done_with(index, ItemStatus::Completed)
}

pub(super) fn done_with(index: u32, status: ItemStatus) -> Event {
    Event::ItemDone { index, status, carriers: Vec::new(), detail: None, extra: Extra::EMPTY }
}

pub(super) fn finish(reason: FinishReason) -> Event {
    Event::Finish(Finish { choice: 0, reason })
}

pub(super) fn usage(input_total: u64, output_total: u64) -> Event {
    Event::Usage(Usage { input_total, output_total, ..Usage::default() })
}

/// A message that says `said`, still open.
pub(super) fn saying(said: &str) -> Vec<Event> {
    vec![added(0, message()), part(0, 0), text(0, 0, said)]
}

/// A whole answer that says `said`.
pub(super) fn answer(said: &str) -> Vec<Event> {
    let mut events = saying(said);
    events.extend([part_done(0, 0), done(0), usage(3, 2), finish(FinishReason::Stop)]);
    events
}
