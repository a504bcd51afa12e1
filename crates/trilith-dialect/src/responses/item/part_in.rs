//! Content parts from the wire (openai-checklist §7).

use trilith_core::{
    CacheMark, DialectId, Error, File, Image, Logprob, MediaSource, Part, PartKind, Text, TopLogprob,
};

use super::{
    annotation::decode_annotation,
    decode::rest,
    media::{BAD_DATA, is_base64, source_of},
};
use crate::responses::field::{Field, Side};
use crate::tape::Value;

const KNOWN: [&str; 8] = [
    "input_text",
    "input_image",
    "input_file",
    "input_video",
    "output_text",
    "refusal",
    "summary_text",
    "reasoning_text",
];

/// One content part.
///
/// # Errors
/// A field is wrong; it is named. An upstream's unknown parts are kept as they are instead.
pub(in crate::responses) fn decode_part(field: &Field<'_, '_>) -> Result<Part, Error> {
    field.object()?;
    let word = field.need("type")?;
    let word = word.text()?;
    let (kind, known): (PartKind, &[&str]) = match &*word {
        "input_text" | "output_text" | "summary_text" | "reasoning_text" => {
            (PartKind::Text(text(field)?), &["text", "annotations", "logprobs"])
        }
        "refusal" => (PartKind::Refusal(field.need("refusal")?.text()?.into_owned()), &["refusal"]),
        "input_image" => (image(field)?, &["image_url", "file_id", "detail"]),
        "input_file" => (file(field)?, &["file_id", "file_url", "file_data", "filename", "detail"]),
        "input_video" => (video(field)?, &["video_url"]),
        word if field.side == Side::Upstream || word.contains(':') => {
            let json = field.value.json();
            return Ok(Part::new(PartKind::Opaque { dialect: DialectId::Responses, json }));
        }
        word => return Err(field.need("type")?.unsupported(word, &KNOWN)),
    };
    let mut part = Part::new(kind);
    part.cache_mark = cache_mark(field)?;
    part.extra = rest(field, &[&["type", "prompt_cache_breakpoint"], known]);
    Ok(part)
}

/// `prompt_cache_breakpoint` of a part or tool.
fn cache_mark(field: &Field<'_, '_>) -> Result<Option<CacheMark>, Error> {
    let Some(mark) = field.get("prompt_cache_breakpoint") else { return Ok(None) };
    mark.object()?;
    if let Some(mode) = mark.get("mode") {
        let word = mode.text()?;
        if word != "explicit" && field.side == Side::Client {
            return Err(mode.unsupported(&word, &["explicit"]));
        }
    }
    match mark.opt_text("ttl")?.as_deref() {
        None | Some("30m") => Ok(Some(CacheMark::M30)),
        Some("12h") => Ok(Some(CacheMark::H12)),
        Some(_) if field.side == Side::Upstream => Ok(None),
        Some(word) => Err(mark.need("ttl")?.unsupported(word, &["30m", "12h"])),
    }
}

fn text(field: &Field<'_, '_>) -> Result<Text, Error> {
    let annotations = match field.get("annotations") {
        Some(list) => list.list()?.map(|annotation| decode_annotation(annotation.value)).collect(),
        None => Vec::new(),
    };
    let logprobs = field.get("logprobs").map(|list| decode_logprobs(list.value)).unwrap_or_default();
    Ok(Text { text: field.need("text")?.text()?.into_owned(), annotations, logprobs })
}

/// A list of log-probabilities. Entries that are none are left out: they only report.
pub(in crate::responses) fn decode_logprobs(list: Value<'_>) -> Vec<Logprob> {
    list.elements()
        .filter_map(|entry| {
            let top = entry.get("top_logprobs").map(|top| top.elements().filter_map(one_logprob).collect());
            Some(Logprob { chosen: one_logprob(entry)?, top: top.unwrap_or_default() })
        })
        .collect()
}

fn one_logprob(entry: Value<'_>) -> Option<TopLogprob> {
    let bytes = entry.get("bytes").map(|bytes| {
        bytes.elements().filter_map(|byte| byte.u64().and_then(|byte| u8::try_from(byte).ok())).collect()
    });
    Some(TopLogprob { token: entry.str("token")?.into(), logprob: entry.get("logprob")?.f64()?, bytes })
}

fn detail(field: &Field<'_, '_>, known: &[&str]) -> Result<Option<Box<str>>, Error> {
    let Some(detail) = field.get("detail") else { return Ok(None) };
    let word = detail.text()?;
    if field.side == Side::Client && !known.contains(&&*word) {
        return Err(detail.unsupported(&word, known));
    }
    Ok(Some(word.into()))
}

/// An address member; its inline data must be base64.
fn address(field: &Field<'_, '_>, name: &str) -> Result<Option<MediaSource>, Error> {
    let Some(url) = field.get(name) else { return Ok(None) };
    let text = url.text()?;
    if text.is_empty() {
        return Err(url.wrong("expected an address, but it is empty", "invalid_value"));
    }
    let source = source_of(&text).ok_or_else(|| url.wrong(BAD_DATA, "invalid_base64"))?;
    if field.side == Side::Client && matches!(&source, MediaSource::Url(address) if !is_web(address)) {
        let code = if name == "image_url" { "invalid_image_url" } else { "invalid_value" };
        return Err(url.wrong("expected an http or https address or a base64 data URL", code));
    }
    Ok(Some(source))
}

/// No model's provider can fetch anything else, and none should try.
fn is_web(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

fn image(field: &Field<'_, '_>) -> Result<PartKind, Error> {
    let file_id = field.opt_box("file_id")?.map(MediaSource::FileId);
    let source = address(field, "image_url")?.or(file_id).ok_or_else(|| field.missing("image_url"))?;
    let detail = detail(field, &["low", "high", "auto", "original"])?;
    Ok(PartKind::Image(Image { source, detail }))
}

fn file(field: &Field<'_, '_>) -> Result<PartKind, Error> {
    let data = match field.get("file_data") {
        None => None,
        Some(data) => {
            let text = data.text()?;
            match source_of(&text) {
                Some(source @ MediaSource::Data { .. }) => Some(source),
                Some(_) if !text.is_empty() && is_base64(&text) => {
                    Some(MediaSource::Data { mime: None, base64: text.into() })
                }
                _ => return Err(data.wrong(BAD_DATA, "invalid_base64")),
            }
        }
    };
    let file_id = field.opt_box("file_id")?.map(MediaSource::FileId);
    let source = match data.or(file_id) {
        Some(source) => source,
        None => address(field, "file_url")?.ok_or_else(|| field.missing("file_id"))?,
    };
    let detail = detail(field, &["low", "high", "auto"])?;
    Ok(PartKind::File(File { source, filename: field.opt_box("filename")?, detail }))
}

fn video(field: &Field<'_, '_>) -> Result<PartKind, Error> {
    address(field, "video_url")?.map(PartKind::Video).ok_or_else(|| field.missing("video_url"))
}
