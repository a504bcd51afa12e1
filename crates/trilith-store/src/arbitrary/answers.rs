//! Responses: as rows, and as the events that make them.

use std::sync::Arc;

use proptest::{collection::vec, option, prelude::*, sample::select};
use trilith_core::{
    Annotation, Begin, CacheWrite, Carrier, Created, End, Error, ErrorKind, ErrorOrigin, Event, Extra,
    Finish, FinishReason, Item, ItemBody, ItemStatus, Logprob, PartSpace, PartStart, Status, UpstreamFault,
    Usage,
};

use super::{extra, items, maybe_word, settings, text, word};
use crate::codec::{Listed, StoredResponse};

pub(crate) fn stored_response() -> BoxedStrategy<StoredResponse> {
    let finishes = vec(option::of(finish()).prop_map(Listed), 0..4);
    let what = (begin(), finishes, vec(any::<u16>(), 0..4), option::of(usage()));
    (what, option::of(finish()), option::of(error()), maybe_word(), any::<bool>())
        .prop_map(|(what, incomplete, error, conversation, background)| StoredResponse {
            upstream: what.0,
            finishes: what.1,
            choices: what.2,
            usage: what.3,
            incomplete,
            error: error.as_ref().map(Into::into),
            conversation,
            background,
        })
        .boxed()
}

fn begin() -> BoxedStrategy<Begin> {
    (maybe_word(), maybe_word(), option::of(any::<i64>()), maybe_word(), maybe_word(), extra())
        .prop_map(|(upstream_id, model, created_at, service_tier, system_fingerprint, extra)| Begin {
            upstream_id,
            model,
            created_at,
            service_tier,
            system_fingerprint,
            extra,
        })
        .boxed()
}

fn finish() -> BoxedStrategy<FinishReason> {
    prop_oneof![
        select(vec![
            FinishReason::Stop,
            FinishReason::ToolCalls,
            FinishReason::Length,
            FinishReason::ContextWindow,
            FinishReason::ContentFilter,
            FinishReason::Refusal,
            FinishReason::Paused,
            FinishReason::MalformedCall,
        ]),
        maybe_word().prop_map(FinishReason::StopString),
        word().prop_map(FinishReason::Other),
    ]
    .boxed()
}

fn usage() -> BoxedStrategy<Usage> {
    let more = || option::of(any::<u64>());
    let cache = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>())
        .prop_map(|(m5, m30, h1, h12)| CacheWrite { m5, m30, h1, h12 });
    (any::<[u64; 4]>(), cache, (more(), more(), more(), more()), any::<bool>())
        .prop_map(|(counts, cache_write, more, estimated)| Usage {
            input_total: counts[0],
            cache_read: counts[1],
            cache_write,
            output_total: counts[2],
            reasoning: counts[3],
            input_audio: more.0,
            output_audio: more.1,
            accepted_prediction: more.2,
            rejected_prediction: more.3,
            estimated,
        })
        .boxed()
}

fn error() -> BoxedStrategy<Error> {
    let kind = select(vec![
        ErrorKind::BadRequest,
        ErrorKind::Unauthorized,
        ErrorKind::QuotaExhausted,
        ErrorKind::Forbidden,
        ErrorKind::NotFound,
        ErrorKind::MethodNotAllowed,
        ErrorKind::Conflict,
        ErrorKind::TooLarge,
        ErrorKind::UnsupportedMediaType,
        ErrorKind::ContextTooLong,
        ErrorKind::RateLimited,
        ErrorKind::Overloaded,
        ErrorKind::Timeout,
        ErrorKind::UpstreamBroken,
        ErrorKind::Internal,
        ErrorKind::UpgradeRequired,
    ]);
    let origin = select(vec![ErrorOrigin::Caller, ErrorOrigin::Upstream, ErrorOrigin::Trilith]);
    let fault = (option::of(any::<u16>()), maybe_word(), maybe_word())
        .prop_map(|(status, code, kind)| Box::new(UpstreamFault { status, code, kind }));
    (kind, origin, text(), maybe_word(), option::of(text()), option::of(fault))
        .prop_map(|(kind, origin, public, param, code, upstream)| {
            let mut error = Error::new(kind, origin, public);
            error.param = param;
            error.code = code.map(Into::into);
            error.upstream = upstream;
            error
        })
        .boxed()
}

/// The whole life of a response, from `Created` to `End`. Its times are small enough to add a retention to.
pub(crate) fn events() -> BoxedStrategy<Vec<Event>> {
    let head = (settings::settings(), 0..2_000_000_000i64, any::<bool>(), maybe_word(), begin());
    let finishes = vec((0..4u16, finish()), 0..3);
    (head, vec(output(), 0..4), finishes, option::of(usage()), end())
        .prop_map(|(head, outputs, finishes, usage, end)| {
            let (settings, created_at, background, conversation, begin) = head;
            let mut events = vec![
                Event::Created(Box::new(Created {
                    id: "resp_p".into(),
                    created_at,
                    settings: Arc::new(settings),
                    store: true,
                    background,
                    previous_response_id: None,
                    conversation,
                })),
                Event::Begin(Box::new(begin)),
            ];
            for (index, output) in outputs.into_iter().enumerate() {
                events.extend(output.events(index as u32));
            }
            let finish = |(choice, reason)| Event::Finish(Finish { choice, reason });
            events.extend(finishes.into_iter().map(finish));
            events.extend(usage.map(Event::Usage));
            events.push(Event::End(Box::new(end)));
            events
        })
        .boxed()
}

fn end() -> BoxedStrategy<End> {
    let status = select(vec![Status::Completed, Status::Incomplete, Status::Failed, Status::Cancelled]);
    (status, option::of(finish()), option::of(error()), any::<i64>())
        .prop_map(|(status, incomplete, error, at)| End { status, incomplete, error, at })
        .boxed()
}

/// One item of the output, which still needs its place.
#[derive(Clone, Debug)]
struct Output {
    item: Item,
    choice: u16,
    status: ItemStatus,
    delta: String,
    logprobs: Vec<Logprob>,
    annotations: Vec<Annotation>,
    carriers: Vec<Carrier>,
    extra: Extra,
}

fn output() -> BoxedStrategy<Output> {
    let done = select(vec![ItemStatus::Completed, ItemStatus::Incomplete, ItemStatus::Failed]);
    let text = (text(), vec(items::logprob(), 0..2), vec(items::annotation(), 0..2));
    let carriers = vec(items::carrier(), 0..2);
    (items::item(), 0..4u16, done, text, carriers, extra())
        .prop_map(|(item, choice, status, (delta, logprobs, annotations), carriers, extra)| Output {
            item,
            choice,
            status,
            delta,
            logprobs,
            annotations,
            carriers,
            extra,
        })
        .boxed()
}

impl Output {
    fn events(self, index: u32) -> Vec<Event> {
        let Self { item, choice, status, delta, logprobs, annotations, carriers, extra } = self;
        let mut events = vec![Event::ItemAdded { index, choice, item: Box::new(item.clone()) }];
        events.extend(content(index, &item, &delta));
        if let ItemBody::Message(message) = &item.body {
            let part = message.parts.len() as u32;
            events.push(Event::PartAdded { index, part, start: PartStart::Text });
            events.push(Event::TextDelta { index, part, delta, logprobs });
            let mark = |annotation| Event::AnnotationAdded { index, part, annotation };
            events.extend(annotations.into_iter().map(mark));
            events.push(Event::PartDone { index, part, space: PartSpace::Content });
        }
        events.push(Event::ItemDone { index, status, carriers, detail: None, extra });
        events
    }
}

/// Growth of items other than messages.
fn content(index: u32, item: &Item, delta: &str) -> Vec<Event> {
    let delta: String = delta.into();
    match &item.body {
        ItemBody::Call(_) => vec![Event::ArgumentsDelta { index, delta }],
        ItemBody::Reasoning(reasoning) => {
            let (part, space) = (reasoning.summary.len() as u32, PartSpace::Summary);
            vec![
                Event::PartAdded { index, part, start: PartStart::Summary },
                Event::PartDelta { index, part, space, delta },
                Event::PartDone { index, part, space },
            ]
        }
        _ => Vec::new(),
    }
}
