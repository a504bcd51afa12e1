//! Telling a whole item: its head, and whatever of it was not told yet.

use trilith_core::{
    Call, CallKind, Carrier, CarrierKind, Event, Extra, Item, ItemBody, ItemStatus, Loss, Message, Part,
    PartKind, PartStart, Reasoning, Text,
};

use super::{
    assembly::{Assembly, close_parts},
    progress,
};

/// The item as it begins; `None` for items that cannot grow and are told whole.
pub(super) fn head(mut item: Item) -> Option<Item> {
    item.status = Some(ItemStatus::InProgress);
    item.extra = Extra::EMPTY;
    match &mut item.body {
        ItemBody::Message(message) => message.parts.clear(),
        ItemBody::Reasoning(reasoning) => *reasoning = Reasoning::default(),
        // A call that does not say yet what is called is told when it does.
        ItemBody::Call(call) if is_nameless(call) => return None,
        ItemBody::Call(call) => call.args.clear(),
        ItemBody::Compaction(compaction) => compaction.encrypted = Box::default(),
        ItemBody::Result(_)
        | ItemBody::CompactionTrigger
        | ItemBody::ConfigurationUpdate(_)
        | ItemBody::ToolsChange(_)
        | ItemBody::Reference(_)
        | ItemBody::Opaque(_) => return None,
    }
    Some(item)
}

fn is_nameless(call: &Call) -> bool {
    call.name.is_empty() && matches!(call.kind, CallKind::Function | CallKind::Custom)
}

/// Tells the rest of an item and closes it.
pub(super) fn complete(
    assembly: &mut Assembly,
    at: usize,
    item: Item,
    status: ItemStatus,
    out: &mut Vec<Event>,
) {
    let mut extra = item.extra.clone();
    if assembly.items.get(at).is_some_and(|told| told.ours.is_none()) {
        extra = Extra::EMPTY;
        let mut whole = item.clone();
        whole.status = Some(ItemStatus::InProgress);
        if let ItemBody::Call(call) = &mut whole.body
            && matches!(call.kind, CallKind::Function | CallKind::Custom)
        {
            call.args.clear();
        }
        assembly.tell(at, whole, out);
    }
    let (mut carriers, mut detail) = (Vec::new(), None);
    match item.body {
        ItemBody::Message(message) => rest_of_message(assembly, at, message, out),
        ItemBody::Reasoning(reasoning) => {
            for (start, texts) in
                [(PartStart::Summary, &reasoning.summary), (PartStart::Reasoning, &reasoning.text)]
            {
                for (n, text) in (0..).zip(texts) {
                    rest_of_part(assembly, at, n, start, PartRest::of(text), out);
                }
            }
            carriers = reasoning.carriers;
        }
        ItemBody::Call(call) => {
            rest_of_stages(assembly, at, &call, status, out);
            detail = call.detail;
        }
        ItemBody::Result(result) => detail = result.detail,
        ItemBody::Compaction(compaction) => carriers.push(Carrier {
            kind: CarrierKind::Encrypted,
            data: compaction.encrypted,
            origin: compaction.origin,
        }),
        ItemBody::CompactionTrigger
        | ItemBody::ConfigurationUpdate(_)
        | ItemBody::ToolsChange(_)
        | ItemBody::Reference(_)
        | ItemBody::Opaque(_) => {}
    }
    let Some(told) = assembly.items.get_mut(at) else { return };
    told.done = true;
    let Some(index) = told.ours else { return };
    close_parts(told, index, out);
    out.push(Event::ItemDone { index, status, carriers, detail, extra });
}

/// What a final part holds.
struct PartRest<'p> {
    text: &'p str,
    whole: Option<&'p Text>,
}

impl<'p> PartRest<'p> {
    const fn of(text: &'p str) -> Self {
        Self { text, whole: None }
    }
}

fn rest_of_message(assembly: &mut Assembly, at: usize, message: Message, out: &mut Vec<Event>) {
    for (n, Part { kind, .. }) in (0..).zip(&message.parts) {
        match kind {
            PartKind::Text(text) => {
                let rest = PartRest { text: &text.text, whole: Some(text) };
                rest_of_part(assembly, at, n, PartStart::Text, rest, out);
            }
            PartKind::Refusal(refusal) => {
                rest_of_part(assembly, at, n, PartStart::Refusal, PartRest::of(refusal), out);
            }
            other => {
                let path = format!("output[{at}].content[{n}]");
                let why = format!("the upstream sent a part ({}) that has no form here", other.name());
                out.push(Event::Loss(Loss::warn(path, why)));
            }
        }
    }
}

fn rest_of_part(
    assembly: &mut Assembly,
    at: usize,
    theirs: u64,
    start: PartStart,
    rest: PartRest<'_>,
    out: &mut Vec<Event>,
) {
    let Some((index, slot)) = assembly.part(at, theirs, start, out) else { return };
    let Some(part) = assembly.items.get_mut(at).and_then(|told| told.parts.get_mut(slot)) else { return };
    let (ours, space) = (part.ours, part.space);
    if part.done {
        return;
    }
    part.done = true;
    let delta = rest.text.get(part.bytes..).unwrap_or_default().to_owned();
    match rest.whole {
        Some(text) => {
            let logprobs = text.logprobs.get(part.logprobs..).unwrap_or_default().to_vec();
            if !delta.is_empty() || !logprobs.is_empty() {
                out.push(Event::TextDelta { index, part: ours, delta, logprobs });
            }
            for annotation in text.annotations.get(part.annotations..).unwrap_or_default() {
                let annotation = annotation.clone();
                out.push(Event::AnnotationAdded { index, part: ours, annotation });
            }
        }
        None if delta.is_empty() => {}
        None => out.push(Event::PartDelta { index, part: ours, space, delta }),
    }
    out.push(Event::PartDone { index, part: ours, space });
}

/// The steps of a hosted tool that tells none: an item that came whole ran like any other. What was said to
/// the tool belongs after its first step.
fn rest_of_stages(assembly: &mut Assembly, at: usize, call: &Call, status: ItemStatus, out: &mut Vec<Event>) {
    let told = assembly.items.get(at);
    let silent = told.filter(|told| !told.stages).and_then(|told| told.ours);
    let mut stages = progress::stages_of(call.kind, status).iter();
    if let Some((index, first)) = silent.zip(stages.next()) {
        out.push(Event::ToolProgress { index, stage: *first });
    }
    rest_of_args(assembly, at, call, out);
    if let Some(index) = silent {
        out.extend(stages.map(|stage| Event::ToolProgress { index, stage: *stage }));
    }
}

fn rest_of_args(assembly: &mut Assembly, at: usize, call: &Call, out: &mut Vec<Event>) {
    let Some(told) = assembly.items.get_mut(at) else { return };
    let delta = call.args.get(told.args..).unwrap_or_default();
    if let Some(index) = told.ours
        && !delta.is_empty()
    {
        told.args += delta.len();
        out.push(Event::ArgumentsDelta { index, delta: delta.to_owned() });
    }
}
