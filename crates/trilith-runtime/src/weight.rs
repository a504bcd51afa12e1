//! How much of an answer is gathered: a response holds everything that its upstream said, so what an upstream may
//! say is bounded.

use trilith_core::{
    Annotation, AnnotationKind, Carrier, Event, Extra, Item, ItemBody, Json, Logprob, TopLogprob,
};

/// Bytes for the structure of an item, beside what it says.
const ITEM: usize = 256;
/// Bytes for the structure of anything smaller.
const PIECE: usize = 64;

/// Roughly how many bytes a response grows by with an event.
pub(crate) fn of(event: &Event) -> usize {
    match event {
        Event::TextDelta { delta, logprobs, .. } => delta.len() + logprobs.iter().map(logprob).sum::<usize>(),
        Event::PartDelta { delta, .. } | Event::ArgumentsDelta { delta, .. } => delta.len(),
        Event::AudioDelta { data, transcript, .. } => data.len() + transcript.len(),
        Event::ItemAdded { item, .. } => ITEM + said(item),
        Event::ItemDone { carriers, detail, extra: further, .. } => {
            carriers.iter().map(carrier).sum::<usize>() + json(detail.as_ref()) + extra(further)
        }
        Event::PartAdded { .. } => PIECE,
        Event::AnnotationAdded { annotation: added, .. } => annotation(added),
        Event::Loss(loss) => PIECE + loss.path.len() + loss.why.len(),
        Event::Begin(begin) => extra(&begin.extra),
        Event::Created(_)
        | Event::Status(_)
        | Event::PartDone { .. }
        | Event::ToolProgress { .. }
        | Event::Detail { .. }
        | Event::Usage(_)
        | Event::Finish(_)
        | Event::End(_) => 0,
    }
}

/// What an item brings along when it begins; its lists and texts are empty then.
fn said(item: &Item) -> usize {
    extra(&item.extra)
        + match &item.body {
            ItemBody::Call(call) => call.name.len() + call.args.len() + json(call.detail.as_ref()),
            ItemBody::Result(result) => json(result.detail.as_ref()),
            ItemBody::Reasoning(reasoning) => reasoning.carriers.iter().map(carrier).sum(),
            ItemBody::Compaction(compaction) => compaction.encrypted.len(),
            ItemBody::Opaque(opaque) => opaque.json.as_str().len(),
            _ => 0,
        }
}

fn carrier(carrier: &Carrier) -> usize {
    PIECE + carrier.data.len()
}

fn json(value: Option<&Json>) -> usize {
    value.map_or(0, |json| json.as_str().len())
}

fn extra(extra: &Extra) -> usize {
    extra.iter().map(|field| PIECE + field.name.len() + field.value.as_str().len()).sum()
}

fn logprob(logprob: &Logprob) -> usize {
    let one = |token: &TopLogprob| PIECE + token.token.len() + token.bytes.as_ref().map_or(0, Vec::len);
    one(&logprob.chosen) + logprob.top.iter().map(one).sum::<usize>()
}

fn annotation(annotation: &Annotation) -> usize {
    let named = match &annotation.kind {
        AnnotationKind::Url { url, title } => url.len() + title.len(),
        AnnotationKind::File { file_id, filename } => file_id.len() + filename.len(),
        AnnotationKind::ContainerFile { container_id, file_id, filename } => {
            container_id.len() + file_id.len() + filename.len()
        }
        AnnotationKind::FilePath { file_id } => file_id.len(),
        AnnotationKind::Opaque { json, .. } => json.as_str().len(),
    };
    PIECE + named + extra(&annotation.extra)
}
