//! Items and parts.

use std::sync::Arc;

use proptest::{collection::vec, option, prelude::*, sample::select};
use trilith_core::{
    Annotation, AnnotationKind, Audio, CacheMark, Call, CallKind, CallResult, Caller, Carrier, CarrierKind,
    Compaction, File, Image, Item, ItemBody, ItemStatus, Logprob, MediaSource, Message, Opaque, Origin, Part,
    PartKind, Phase, Pin, PinRule, Reasoning, ResultOutput, ResultStatus, Role, Text, ToolsChange,
    TopLogprob,
};

use super::{dialect, extra, json, maybe_word, number, settings::tool, text, word};

/// An item of any kind.
pub(crate) fn item() -> BoxedStrategy<Item> {
    let status = option::of(status());
    (maybe_word(), status, body(), option::of(origin()), extra(), option::of(pin()))
        .prop_map(|(id, status, body, origin, extra, pin)| Item { id, status, body, origin, extra, pin })
        .boxed()
}

fn pin() -> BoxedStrategy<Arc<Pin>> {
    let rule = select(vec![PinRule::Key, PinRule::Model, PinRule::Tool]);
    (rule, word()).prop_map(|(rule, name)| Arc::new(Pin { rule, name })).boxed()
}

pub(super) fn status() -> BoxedStrategy<ItemStatus> {
    select(vec![ItemStatus::InProgress, ItemStatus::Completed, ItemStatus::Incomplete, ItemStatus::Failed])
        .boxed()
}

fn body() -> BoxedStrategy<ItemBody> {
    prop_oneof![
        message().prop_map(ItemBody::Message),
        reasoning().prop_map(ItemBody::Reasoning),
        call().prop_map(ItemBody::Call),
        result().prop_map(ItemBody::Result),
        (word(), option::of(origin()))
            .prop_map(|(encrypted, origin)| ItemBody::Compaction(Compaction { encrypted, origin })),
        Just(ItemBody::CompactionTrigger),
        json().prop_map(ItemBody::ConfigurationUpdate),
        (vec(tool(), 0..3), vec(word(), 0..3))
            .prop_map(|(add, remove)| ItemBody::ToolsChange(ToolsChange { add, remove })),
        word().prop_map(ItemBody::Reference),
        (dialect(), word(), json()).prop_map(|(dialect, kind, json)| ItemBody::Opaque(Opaque {
            dialect,
            kind,
            json
        })),
    ]
    .boxed()
}

fn message() -> BoxedStrategy<Message> {
    let role = select(vec![Role::System, Role::Developer, Role::User, Role::Assistant]);
    let phase = option::of(select(vec![Phase::Commentary, Phase::FinalAnswer]));
    (role, vec(part(), 0..3), phase, maybe_word())
        .prop_map(|(role, parts, phase, name)| Message { role, parts, phase, name })
        .boxed()
}

fn reasoning() -> BoxedStrategy<Reasoning> {
    (vec(text(), 0..3), vec(text(), 0..3), vec(carrier(), 0..3))
        .prop_map(|(summary, text, carriers)| Reasoning { summary, text, carriers })
        .boxed()
}

pub(super) fn carrier() -> BoxedStrategy<Carrier> {
    (select(CarrierKind::ALL.to_vec()), word(), option::of(origin()))
        .prop_map(|(kind, data, origin)| Carrier { kind, data, origin })
        .boxed()
}

pub(super) fn origin() -> BoxedStrategy<Arc<Origin>> {
    (dialect(), word(), word(), word())
        .prop_map(|(dialect, upstream, model, account)| {
            Arc::new(Origin { dialect, upstream, model, account })
        })
        .boxed()
}

fn caller() -> BoxedStrategy<Option<Caller>> {
    option::of(prop_oneof![Just(Caller::Direct), word().prop_map(Caller::Program)]).boxed()
}

fn call() -> BoxedStrategy<Call> {
    let kind = select(CallKind::ALL.to_vec());
    (kind, maybe_word(), word(), maybe_word(), text(), caller(), option::of(json()))
        .prop_map(|(kind, call_id, name, namespace, args, caller, detail)| Call {
            kind,
            call_id,
            name,
            namespace,
            args,
            caller,
            detail,
        })
        .boxed()
}

fn result() -> BoxedStrategy<CallResult> {
    let kind = select(CallKind::ALL.to_vec());
    let status = option::of(select(vec![ResultStatus::Ok, ResultStatus::Error]));
    let output =
        prop_oneof![text().prop_map(ResultOutput::Text), vec(part(), 0..3).prop_map(ResultOutput::Parts),];
    (kind, maybe_word(), maybe_word(), maybe_word(), status, output, caller(), option::of(json()))
        .prop_map(|(kind, call_id, name, namespace, status, output, caller, detail)| CallResult {
            kind,
            call_id,
            name,
            namespace,
            status,
            output,
            caller,
            detail,
        })
        .boxed()
}

pub(super) fn cache_mark() -> BoxedStrategy<Option<CacheMark>> {
    option::of(select(vec![CacheMark::M5, CacheMark::M30, CacheMark::H1, CacheMark::H12])).boxed()
}

fn part() -> BoxedStrategy<Part> {
    (part_kind(), cache_mark(), extra())
        .prop_map(|(kind, cache_mark, extra)| Part { kind, cache_mark, extra })
        .boxed()
}

fn part_kind() -> BoxedStrategy<PartKind> {
    prop_oneof![
        (text(), vec(annotation(), 0..3), vec(logprob(), 0..3)).prop_map(|(text, annotations, logprobs)| {
            PartKind::Text(Text { text, annotations, logprobs })
        }),
        text().prop_map(PartKind::Refusal),
        (media(), maybe_word()).prop_map(|(source, detail)| PartKind::Image(Image { source, detail })),
        (text(), maybe_word(), maybe_word(), option::of(text()), option::of(any::<i64>())).prop_map(
            |(base64, format, id, transcript, expires_at)| {
                PartKind::Audio(Audio { base64, format, id, transcript, expires_at })
            }
        ),
        media().prop_map(PartKind::Video),
        (media(), maybe_word(), maybe_word()).prop_map(|(source, filename, detail)| PartKind::File(File {
            source,
            filename,
            detail
        })),
        json().prop_map(PartKind::SearchResult),
        json().prop_map(PartKind::Json),
        (dialect(), json()).prop_map(|(dialect, json)| PartKind::Opaque { dialect, json }),
    ]
    .boxed()
}

fn media() -> BoxedStrategy<MediaSource> {
    prop_oneof![
        (maybe_word(), word()).prop_map(|(mime, base64)| MediaSource::Data { mime, base64 }),
        word().prop_map(MediaSource::Url),
        word().prop_map(MediaSource::FileId),
    ]
    .boxed()
}

pub(super) fn annotation() -> BoxedStrategy<Annotation> {
    let kind = prop_oneof![
        (word(), word()).prop_map(|(url, title)| AnnotationKind::Url { url, title }),
        (word(), word()).prop_map(|(file_id, filename)| AnnotationKind::File { file_id, filename }),
        (word(), word(), word()).prop_map(|(container_id, file_id, filename)| {
            AnnotationKind::ContainerFile { container_id, file_id, filename }
        }),
        word().prop_map(|file_id| AnnotationKind::FilePath { file_id }),
        (dialect(), json()).prop_map(|(dialect, json)| AnnotationKind::Opaque { dialect, json }),
    ];
    let place = || option::of(any::<u32>());
    (kind, place(), place(), place(), extra())
        .prop_map(|(kind, start, end, index, extra)| Annotation { kind, start, end, index, extra })
        .boxed()
}

fn top() -> BoxedStrategy<TopLogprob> {
    (word(), number(), option::of(vec(any::<u8>(), 0..5)))
        .prop_map(|(token, logprob, bytes)| TopLogprob { token, logprob, bytes })
        .boxed()
}

pub(super) fn logprob() -> BoxedStrategy<Logprob> {
    (top(), vec(top(), 0..3)).prop_map(|(chosen, top)| Logprob { chosen, top }).boxed()
}
