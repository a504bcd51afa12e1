//! A message's content in parts.

use trilith_core::{
    Audio, CacheMark, DialectId, Error, File, Image, Json, MediaSource, Part, PartKind, Text,
};

use super::{
    media,
    wire::{self, Breakpoint, Content},
};
use crate::{
    chat::object::{invalid, keep, missing},
    json::Object,
    values::unknown_word,
};

/// Which parts a role may use.
#[derive(Clone, Copy)]
pub(super) enum Allowed {
    /// Text.
    Text,
    /// Text and refusals.
    Assistant,
    /// Text, images, sound and files.
    User,
}

impl Allowed {
    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["text"],
            Self::Assistant => &["text", "refusal"],
            Self::User => &["text", "image_url", "input_audio", "file"],
        }
    }
}

/// The parts of a content at `at` (`messages[3].content`).
pub(super) fn parts(at: &str, content: Content<'_>, allowed: Allowed) -> Result<Vec<Part>, Error> {
    match content {
        Content::Text(text) => Ok(vec![Part::text(text)]),
        Content::Parts(parts) => {
            let parts = parts.into_iter().enumerate();
            parts.map(|(place, wire)| part(&format!("{at}[{place}]"), wire, allowed)).collect()
        }
    }
}

fn part(at: &str, wire: wire::Part<'_>, allowed: Allowed) -> Result<Part, Error> {
    let kind = wire.kind.ok_or_else(|| missing(&format!("{at}.type")))?;
    if !allowed.words().contains(&&*kind) {
        return Err(unknown_word(&format!("{at}.type"), &kind, allowed.words()));
    }
    let absent = || missing(&format!("{at}.{kind}"));
    let mut extra = trilith_core::Extra::EMPTY;
    let content = match &*kind {
        "text" => PartKind::Text(Text { text: wire.text.ok_or_else(absent)?, ..Text::default() }),
        "refusal" => PartKind::Refusal(wire.refusal.ok_or_else(absent)?),
        "image_url" => image(at, wire.image_url.ok_or_else(absent)?)?,
        "input_audio" => audio(at, wire.input_audio.ok_or_else(absent)?)?,
        _ => {
            let file = file(at, wire.file.ok_or_else(absent)?)?;
            if let MediaSource::FileId(id) = &file.source {
                extra.push(DialectId::Chat, "file", file_reference(id, file.filename.as_deref()));
            }
            PartKind::File(file)
        }
    };
    keep(&mut extra, "", wire.rest);
    let cache_mark = match wire.prompt_cache_breakpoint {
        None => None,
        Some(mark) => Some(cache_mark(&format!("{at}.prompt_cache_breakpoint"), &mark)?),
    };
    Ok(Part { kind: content, cache_mark, extra })
}

/// A file id means something only to the upstream that issued it, so it rides along for this dialect.
fn file_reference(id: &str, filename: Option<&str>) -> Json {
    let mut text = Vec::new();
    let mut object = Object::new(&mut text);
    object.string("file_id", id);
    object.optional_string("filename", filename);
    object.end();
    Json::from_checked(String::from_utf8_lossy(&text).into_owned())
}

fn cache_mark(at: &str, mark: &Breakpoint<'_>) -> Result<CacheMark, Error> {
    match mark.mode.as_deref() {
        Some("explicit") => {}
        Some(word) => return Err(unknown_word(&format!("{at}.mode"), word, &["explicit"])),
        None => return Err(missing(&format!("{at}.mode"))),
    }
    match mark.ttl.as_deref() {
        None | Some("30m") => Ok(CacheMark::M30),
        Some("12h") => Ok(CacheMark::H12),
        Some(word) => Err(unknown_word(&format!("{at}.ttl"), word, &["30m", "12h"])),
    }
}

fn image(at: &str, wire: wire::ImageUrl<'_>) -> Result<PartKind, Error> {
    let param = format!("{at}.image_url.url");
    let url = wire.url.ok_or_else(|| missing(&param))?;
    if let Some(detail) = wire.detail.as_deref() {
        let known = ["auto", "low", "high", "original"];
        if !known.contains(&detail) {
            return Err(unknown_word(&format!("{at}.image_url.detail"), detail, &known));
        }
    }
    Ok(PartKind::Image(Image { source: media::image(&param, &url)?, detail: wire.detail }))
}

fn audio(at: &str, wire: wire::InputAudio<'_>) -> Result<PartKind, Error> {
    let param = format!("{at}.input_audio.data");
    let data = wire.data.ok_or_else(|| missing(&param))?;
    if !media::is_base64(&data) {
        return Err(invalid(&param, format!("Invalid '{param}': the audio data is not base64.")));
    }
    let param = format!("{at}.input_audio.format");
    let format = wire.format.ok_or_else(|| missing(&param))?;
    if !["wav", "mp3"].contains(&&*format) {
        return Err(unknown_word(&param, &format, &["wav", "mp3"]));
    }
    Ok(PartKind::Audio(Audio { base64: data, format: Some(format), ..Audio::default() }))
}

fn file(at: &str, wire: wire::File<'_>) -> Result<File, Error> {
    let source = match (wire.file_id, wire.file_data) {
        (Some(id), None) => MediaSource::FileId(id),
        (None, Some(data)) => media::file_data(&format!("{at}.file.file_data"), &data)?,
        _ => {
            let param = format!("{at}.file");
            return Err(invalid(&param, format!("Invalid '{param}': expected either file_id or file_data.")));
        }
    };
    Ok(File { source, filename: wire.filename, detail: None })
}
