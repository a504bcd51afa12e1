//! Annotations, both ways.

use serde::Deserialize;
use serde_json::value::RawValue;
use trilith_core::{Annotation, AnnotationKind, DialectId, Extra, Json};

use super::wire::{Number, Text};
use crate::json::Object;

#[derive(Deserialize)]
struct WireAnnotation {
    #[serde(default, rename = "type")]
    kind: Text,
    url_citation: Option<UrlCitation>,
}

#[derive(Deserialize)]
struct UrlCitation {
    #[serde(default)]
    url: Text,
    #[serde(default)]
    title: Text,
    #[serde(default)]
    start_index: Number,
    #[serde(default)]
    end_index: Number,
}

/// The annotations of a message; what is not a list is none.
pub(in crate::chat) fn annotations(raw: &RawValue) -> Vec<Annotation> {
    let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    list.into_iter().map(annotation).collect()
}

fn annotation(raw: &RawValue) -> Annotation {
    let offset = |number: Number| number.0.and_then(|number| u32::try_from(number).ok());
    let (kind, start, end) = match serde_json::from_str::<WireAnnotation>(raw.get()) {
        Ok(WireAnnotation { kind, url_citation: Some(wire) })
            if kind.0.as_deref() == Some("url_citation") =>
        {
            let url = wire.url.0.unwrap_or_default().into();
            let title = wire.title.0.unwrap_or_default().into();
            (AnnotationKind::Url { url, title }, offset(wire.start_index), offset(wire.end_index))
        }
        _ => {
            let json = Json::from_checked(raw.get());
            (AnnotationKind::Opaque { dialect: DialectId::Chat, json }, None, None)
        }
    };
    Annotation { kind, start, end, index: None, extra: Extra::EMPTY }
}

/// Whether this dialect has a form for the annotation.
pub(in crate::chat) const fn has_form(annotation: &Annotation) -> bool {
    matches!(
        annotation.kind,
        AnnotationKind::Url { .. } | AnnotationKind::Opaque { dialect: DialectId::Chat, .. }
    )
}

/// Appends an annotation that has a form here (openai-checklist H22).
pub(in crate::chat) fn write_annotation(annotation: &Annotation, out: &mut Vec<u8>) {
    match &annotation.kind {
        AnnotationKind::Url { url, title } => {
            let mut object = Object::new(out);
            object.string("type", "url_citation");
            let mut citation = object.object("url_citation");
            citation.int("start_index", annotation.start.unwrap_or(0));
            citation.int("end_index", annotation.end.unwrap_or(0));
            citation.string("title", title);
            citation.string("url", url);
            citation.end();
            object.end();
        }
        AnnotationKind::Opaque { json, .. } => out.extend_from_slice(json.as_str().as_bytes()),
        AnnotationKind::File { .. }
        | AnnotationKind::ContainerFile { .. }
        | AnnotationKind::FilePath { .. } => {
            out.extend_from_slice(b"null");
        }
    }
}
