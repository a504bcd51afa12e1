//! Annotations on output text, both directions.

use trilith_core::{Annotation, AnnotationKind, DialectId, Extra};

use crate::{responses::object::Object, tape::Value};

/// One annotation. One of an unknown shape is kept as it is.
pub(in crate::responses) fn decode_annotation(value: Value<'_>) -> Annotation {
    let text = |name: &str| value.str(name).map(Box::<str>::from);
    let number = |name: &str| value.get(name).and_then(Value::u64).and_then(|n| u32::try_from(n).ok());
    let word = value.str("type").unwrap_or_default();
    let kind = match &*word {
        "url_citation" => {
            text("url").map(|url| AnnotationKind::Url { url, title: text("title").unwrap_or_default() })
        }
        "file_citation" => text("file_id")
            .map(|file_id| AnnotationKind::File { file_id, filename: text("filename").unwrap_or_default() }),
        "container_file_citation" => {
            text("file_id").zip(text("container_id")).map(|(file_id, container_id)| {
                AnnotationKind::ContainerFile {
                    container_id,
                    file_id,
                    filename: text("filename").unwrap_or_default(),
                }
            })
        }
        "file_path" => text("file_id").map(|file_id| AnnotationKind::FilePath { file_id }),
        _ => None,
    };
    let Some(kind) = kind else {
        let kind = AnnotationKind::Opaque { dialect: DialectId::Responses, json: value.json() };
        return Annotation { kind, start: None, end: None, index: None, extra: Extra::EMPTY };
    };
    let known =
        ["type", "url", "title", "file_id", "filename", "container_id", "start_index", "end_index", "index"];
    let mut extra = Extra::EMPTY;
    for (name, value) in value.members().filter(|(name, value)| !known.contains(&&**name) && !value.is_null())
    {
        extra.push(DialectId::Responses, &*name, value.json());
    }
    Annotation { kind, start: number("start_index"), end: number("end_index"), index: number("index"), extra }
}

/// Writes one annotation; `false` when this wire has no form for it and nothing was written.
pub(super) fn write(out: &mut Vec<u8>, annotation: &Annotation) -> bool {
    if let AnnotationKind::Opaque { dialect, json } = &annotation.kind {
        let own = *dialect == DialectId::Responses;
        if own {
            out.extend_from_slice(json.as_str().as_bytes());
        }
        return own;
    }
    let mut object = Object::open(out);
    let ranged = match &annotation.kind {
        AnnotationKind::Url { url, title } => {
            object.str("type", "url_citation");
            object.str("url", url);
            object.str("title", title);
            true
        }
        AnnotationKind::File { file_id, filename } => {
            object.str("type", "file_citation");
            object.str("file_id", file_id);
            object.str("filename", filename);
            false
        }
        AnnotationKind::ContainerFile { container_id, file_id, filename } => {
            object.str("type", "container_file_citation");
            object.str("container_id", container_id);
            object.str("file_id", file_id);
            object.str("filename", filename);
            true
        }
        AnnotationKind::FilePath { file_id } => {
            object.str("type", "file_path");
            object.str("file_id", file_id);
            false
        }
        AnnotationKind::Opaque { .. } => false,
    };
    if ranged {
        object.int("start_index", annotation.start.unwrap_or(0));
        object.int("end_index", annotation.end.unwrap_or(0));
    } else {
        object.int("index", annotation.index.unwrap_or(0));
    }
    for field in annotation.extra.of(DialectId::Responses) {
        object.raw(&field.name, field.value.as_str());
    }
    object.close();
    true
}
