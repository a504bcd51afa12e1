//! Content parts toward the wire.

use trilith_core::{
    Annotation, CacheMark, DialectId, File, Image, Logprob, MediaSource, Part, PartKind, Text, TopLogprob,
};

use super::{annotation, media::address_of};
use crate::{
    responses::object::{Object, write_float, write_int, write_list},
    scan::write_string,
};

/// Who speaks: text of the model has other words than text to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::responses) enum Voice {
    /// To the model.
    Input,
    /// Of the model, told to a model again.
    History,
    /// Of the model, with log-probabilities if asked for.
    Output {
        /// Whether they are shown.
        logprobs: bool,
    },
}

/// The parts that have a form here, as an array.
pub(super) fn write_parts(out: &mut Vec<u8>, parts: &[Part], voice: Voice) {
    let own = |part: &&Part| match &part.kind {
        PartKind::Opaque { dialect, .. } => *dialect == DialectId::Responses,
        PartKind::Text(_)
        | PartKind::Refusal(_)
        | PartKind::Image(_)
        | PartKind::Audio(_)
        | PartKind::Video(_)
        | PartKind::File(_)
        | PartKind::SearchResult(_)
        | PartKind::Json(_) => true,
    };
    write_list(out, parts.iter().filter(own), |out, part| write_part(out, part, voice));
}

/// One part. Sound has no form: what was said stands in its place. Data without a form becomes its text.
pub(in crate::responses) fn write_part(out: &mut Vec<u8>, part: &Part, voice: Voice) {
    if let PartKind::Opaque { json, .. } = &part.kind {
        return out.extend_from_slice(json.as_str().as_bytes());
    }
    let mut object = Object::open(out);
    match &part.kind {
        PartKind::Text(text) => write_text(&mut object, text, voice),
        PartKind::Audio(audio) => plain(&mut object, audio.transcript.as_deref().unwrap_or(""), voice),
        PartKind::SearchResult(json) | PartKind::Json(json) => plain(&mut object, json.as_str(), voice),
        PartKind::Refusal(refusal) => {
            object.str("type", "refusal");
            object.str("refusal", refusal);
        }
        PartKind::Image(image) => write_image(&mut object, image),
        PartKind::File(file) => write_file(&mut object, file),
        PartKind::Video(source) => {
            object.str("type", "input_video");
            object.opt_str("video_url", address_of(source, "video/mp4").as_deref());
            if let MediaSource::FileId(id) = source {
                object.str("file_id", id);
            }
        }
        PartKind::Opaque { .. } => {}
    }
    if let Some(mark) = part.cache_mark {
        let ttl = match mark {
            CacheMark::M5 | CacheMark::M30 => "30m",
            CacheMark::H1 | CacheMark::H12 => "12h",
        };
        let mut mark = Object::open(object.key("prompt_cache_breakpoint"));
        mark.str("mode", "explicit");
        mark.str("ttl", ttl);
        mark.close();
    }
    for field in part.extra.of(DialectId::Responses) {
        object.raw(&field.name, field.value.as_str());
    }
    object.close();
}

fn plain(object: &mut Object<'_>, text: &str, voice: Voice) {
    write_text(object, &Text { text: text.to_owned(), ..Text::default() }, voice);
}

fn write_text(object: &mut Object<'_>, text: &Text, voice: Voice) {
    match voice {
        Voice::Input => {
            object.str("type", "input_text");
            object.str("text", &text.text);
        }
        Voice::History | Voice::Output { .. } => {
            object.str("type", "output_text");
            object.str("text", &text.text);
            write_annotations(object.key("annotations"), &text.annotations);
            match voice {
                Voice::Output { logprobs: true } => write_logprobs(object.key("logprobs"), &text.logprobs),
                Voice::Output { logprobs: false } => object.raw("logprobs", "[]"),
                Voice::History | Voice::Input if text.logprobs.is_empty() => {}
                Voice::History | Voice::Input => write_logprobs(object.key("logprobs"), &text.logprobs),
            }
        }
    }
}

fn write_annotations(out: &mut Vec<u8>, annotations: &[Annotation]) {
    out.push(b'[');
    let mut first = true;
    for annotation in annotations {
        let before = out.len();
        if !first {
            out.push(b',');
        }
        if annotation::write(out, annotation) {
            first = false;
        } else {
            out.truncate(before);
        }
    }
    out.push(b']');
}

/// One annotation; null when this wire has no form for it.
pub(in crate::responses) fn write_annotation(out: &mut Vec<u8>, annotation: &Annotation) {
    if !annotation::write(out, annotation) {
        out.extend_from_slice(b"null");
    }
}

/// A list of log-probabilities.
pub(in crate::responses) fn write_logprobs(out: &mut Vec<u8>, logprobs: &[Logprob]) {
    write_list(out, logprobs, |out, entry| {
        out.push(b'{');
        write_token(out, &entry.chosen);
        out.extend_from_slice(b",\"top_logprobs\":");
        write_list(out, &entry.top, |out, top| {
            out.push(b'{');
            write_token(out, top);
            out.push(b'}');
        });
        out.push(b'}');
    });
}

fn write_token(out: &mut Vec<u8>, token: &TopLogprob) {
    out.extend_from_slice(b"\"token\":");
    write_string(out, &token.token);
    out.extend_from_slice(b",\"bytes\":");
    // The type asks for bytes; they are the token's own where the upstream gave none.
    let bytes = token.bytes.as_deref().unwrap_or(token.token.as_bytes());
    write_list(out, bytes, |out, byte| write_int(out, *byte));
    out.extend_from_slice(b",\"logprob\":");
    write_float(out, token.logprob);
}

fn write_image(object: &mut Object<'_>, image: &Image) {
    object.str("type", "input_image");
    object.opt_str("image_url", address_of(&image.source, "image/png").as_deref());
    if let MediaSource::FileId(id) = &image.source {
        object.str("file_id", id);
    }
    object.opt_str("detail", image.detail.as_deref());
}

fn write_file(object: &mut Object<'_>, file: &File) {
    object.str("type", "input_file");
    match &file.source {
        MediaSource::FileId(id) => object.str("file_id", id),
        MediaSource::Url(url) => object.str("file_url", url),
        MediaSource::Data { mime: None, base64 } => object.str("file_data", base64),
        MediaSource::Data { mime: Some(mime), base64 } => {
            object.str("file_data", &format!("data:{mime};base64,{base64}"));
        }
    }
    object.opt_str("filename", file.filename.as_deref());
    object.opt_str("detail", file.detail.as_deref());
}
