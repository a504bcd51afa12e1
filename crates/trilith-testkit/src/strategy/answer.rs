//! Answers: what a model may say in one turn, as the events that a reader would give.

use proptest::prelude::*;
use trilith_core::{
    Annotation, AnnotationKind, Begin, Call, CallKind, Event, Extra, Finish, FinishReason, Item, ItemBody,
    ItemStatus, Message, PartSpace, PartStart, Reasoning, Role, Usage,
};

use super::{json_object, name, pieces, text};
use crate::pipeline::Heard;

/// What a model says, in the order that every dialect keeps: thoughts, words, calls.
#[derive(Clone, Debug)]
pub struct Answer {
    reasoning: Option<Vec<String>>,
    words: Option<Words>,
    calls: Vec<(bool, String, Vec<String>)>,
    /// Whether the calls' pieces come interleaved.
    interleaved: bool,
    cut: bool,
    usage: Usage,
}

#[derive(Clone, Debug)]
struct Words {
    refusal: bool,
    pieces: Vec<String>,
    citation: Option<String>,
}

/// Arbitrary answers.
pub fn answer() -> impl Strategy<Value = Answer> {
    let words = (any::<bool>(), pieces(), proptest::option::of("[a-z]{1,8}")).prop_map(|parts| {
        let (refusal, pieces, citation) = parts;
        Words { refusal, citation: citation.filter(|_| !refusal), pieces }
    });
    let call = (any::<bool>(), name(), json_object(), text(), 0_usize..40).prop_map(|parts| {
        let (custom, name, arguments, input, at) = parts;
        let whole = if custom { input } else { arguments };
        let at = (0..=at.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        let (a, b) = whole.split_at(at);
        let pieces = [a, b].into_iter().filter(|piece| !piece.is_empty()).map(str::to_owned).collect();
        (custom, name, pieces)
    });
    let counts = (0_u64..1000, 0_u64..1000, 0_u64..1000, 0_u64..1000);
    (
        proptest::option::of(pieces()),
        proptest::option::of(words),
        proptest::collection::vec(call, 0..4),
        any::<bool>(),
        any::<bool>(),
        counts,
    )
        .prop_map(|(reasoning, words, calls, interleaved, cut, (cached, fresh, reasoned, said))| {
            // An answer always says something.
            let empty = words.is_none() && calls.is_empty();
            let words = words.or_else(|| {
                empty.then(|| Words { refusal: false, pieces: vec!["ok".into()], citation: None })
            });
            let usage = Usage {
                input_total: cached + fresh,
                cache_read: cached,
                output_total: reasoned + said,
                reasoning: reasoned,
                ..Usage::default()
            };
            Answer { reasoning, words, cut: cut && calls.is_empty(), calls, interleaved, usage }
        })
}

/// The events of arbitrary answers, as a reader gives them.
pub fn heard() -> impl Strategy<Value = Heard> {
    answer().prop_map(|answer| Heard { events: answer.events(), fault: None })
}

impl Answer {
    /// The answer's token counts.
    pub const fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The events that a reader would give.
    pub fn events(&self) -> Vec<Event> {
        let begin = Begin { model: Some("up-model".into()), created_at: Some(1), ..Begin::default() };
        let mut events = vec![Event::Begin(Box::new(begin))];
        let mut next = 0;
        if let Some(pieces) = &self.reasoning {
            self.item(&mut events, &mut next, ItemBody::Reasoning(Reasoning::default()), |events, index| {
                part(events, index, PartStart::Reasoning, pieces, None);
            });
        }
        if let Some(words) = &self.words {
            let message = Message { role: Role::Assistant, parts: Vec::new(), phase: None, name: None };
            self.item(&mut events, &mut next, ItemBody::Message(message), |events, index| {
                let start = if words.refusal { PartStart::Refusal } else { PartStart::Text };
                part(events, index, start, &words.pieces, words.citation.as_deref());
            });
        }
        self.call_events(&mut events, next);
        events.push(Event::Usage(self.usage.clone()));
        let reason = match (self.cut, self.calls.is_empty()) {
            (true, _) => FinishReason::Length,
            (false, true) => FinishReason::Stop,
            (false, false) => FinishReason::ToolCalls,
        };
        events.push(Event::Finish(Finish { choice: 0, reason }));
        events
    }

    fn item(
        &self,
        events: &mut Vec<Event>,
        next: &mut u32,
        body: ItemBody,
        fill: impl FnOnce(&mut Vec<Event>, u32),
    ) {
        let index = *next;
        *next += 1;
        let message = matches!(body, ItemBody::Message(_));
        events.push(added(index, body));
        fill(events, index);
        let cut = self.cut && message;
        events.push(done(index, if cut { ItemStatus::Incomplete } else { ItemStatus::Completed }));
    }

    fn call_events(&self, events: &mut Vec<Event>, first: u32) {
        let indexed = || (first..).zip(&self.calls);
        let begin = |index: u32, (custom, name, _): &(bool, String, Vec<String>)| {
            added(
                index,
                ItemBody::Call(Call {
                    kind: if *custom { CallKind::Custom } else { CallKind::Function },
                    call_id: Some(format!("call_{index}").into()),
                    name: name.as_str().into(),
                    namespace: None,
                    args: String::new(),
                    caller: None,
                    detail: None,
                }),
            )
        };
        let delta = |index, piece: &String| Event::ArgumentsDelta { index, delta: piece.clone() };
        if !self.interleaved {
            for (index, call) in indexed() {
                events.push(begin(index, call));
                events.extend(call.2.iter().map(|piece| delta(index, piece)));
                events.push(done(index, ItemStatus::Completed));
            }
            return;
        }
        events.extend(indexed().map(|(index, call)| begin(index, call)));
        for round in 0..2 {
            let pieces = indexed().filter_map(|(index, call)| Some((index, call.2.get(round)?)));
            events.extend(pieces.map(|(index, piece)| delta(index, piece)));
        }
        events.extend(indexed().map(|(index, _)| done(index, ItemStatus::Completed)));
    }
}

fn added(index: u32, body: ItemBody) -> Event {
    let mut item = Item::new(body);
    item.status = Some(ItemStatus::InProgress);
    Event::ItemAdded { index, choice: 0, item: Box::new(item) }
}

fn done(index: u32, status: ItemStatus) -> Event {
    Event::ItemDone { index, status, carriers: Vec::new(), detail: None, extra: Extra::EMPTY }
}

fn part(events: &mut Vec<Event>, index: u32, start: PartStart, pieces: &[String], citation: Option<&str>) {
    let (part, space) = (0, start.space());
    events.push(Event::PartAdded { index, part, start });
    for piece in pieces {
        events.push(match start {
            PartStart::Text => Event::TextDelta { index, part, delta: piece.clone(), logprobs: Vec::new() },
            _ => Event::PartDelta { index, part, space, delta: piece.clone() },
        });
    }
    if let (Some(page), PartSpace::Content) = (citation, space) {
        let url = format!("https://example.com/{page}").into();
        events.push(Event::AnnotationAdded {
            index,
            part,
            annotation: Annotation {
                kind: AnnotationKind::Url { url, title: page.into() },
                start: Some(0),
                end: Some(1),
                index: None,
                extra: Extra::EMPTY,
            },
        });
    }
    events.push(Event::PartDone { index, part, space });
}
