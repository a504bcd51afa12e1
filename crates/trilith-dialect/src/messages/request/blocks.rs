//! Content blocks in parts.

use serde_json::value::RawValue;
use trilith_core::{
    Annotation, AnnotationKind, CacheMark, Error, Extra, File, Image, MediaSource, Part, PartKind, Text,
};

use super::{
    CACHE_CONTROL, SOURCE,
    decode::{OWN, Version},
    object::{invalid, json, keep, missing, parse_at, unknown_word},
    wire::{Content, Kind, Mark, Marked, Media, Reference, Source, TextBlock},
};
use crate::deferred::REFERENCE;

/// Whose blocks they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    System,
    User,
    Assistant,
    Tool,
}

/// The type word of a block.
pub(super) fn kind(at: &str, raw: &RawValue) -> Result<Box<str>, Error> {
    parse_at::<Kind<'_>>(at, raw)?.kind.ok_or_else(|| missing(&format!("{at}.type")))
}

/// The parts of a list of blocks at `at`.
pub(super) fn parts(
    at: &str,
    blocks: Vec<&RawValue>,
    speaker: Speaker,
    version: Version,
) -> Result<Vec<Part>, Error> {
    let blocks = blocks.into_iter().enumerate();
    blocks.map(|(place, raw)| part(&format!("{at}.{place}"), raw, speaker, version)).collect()
}

/// One block that is content. Blocks that only this wire knows ride along as they came.
pub(super) fn part(at: &str, raw: &RawValue, speaker: Speaker, version: Version) -> Result<Part, Error> {
    match (&*kind(at, raw)?, speaker) {
        ("text", _) => text(at, raw, speaker, version),
        ("image", Speaker::User | Speaker::Tool) => image(at, raw),
        ("document", Speaker::User | Speaker::Tool) => document(at, raw, version),
        ("search_result", Speaker::User | Speaker::Tool) => search_result(at, raw, version),
        ("tool_reference", Speaker::Tool) => tool_reference(at, raw),
        (word @ ("image" | "document" | "search_result"), Speaker::System) => {
            Err(unknown_word(&format!("{at}.type"), word, &["text"]))
        }
        (word @ ("tool_use" | "thinking" | "redacted_thinking"), Speaker::User | Speaker::System) => {
            Err(invalid(&format!("{at}.type"), format!("'{word}' blocks are only the assistant's")))
        }
        (word @ "tool_result", _) => {
            Err(invalid(&format!("{at}.type"), format!("'{word}' blocks stand in the user's messages only")))
        }
        _ => {
            let marked: Marked<'_> = parse_at(at, raw)?;
            let mut part = Part::new(PartKind::Opaque { dialect: OWN, json: json(raw) });
            mark(at, marked.cache_control, &mut part.cache_mark, &mut Extra::default())?;
            Ok(part)
        }
    }
}

fn text(at: &str, raw: &RawValue, speaker: Speaker, version: Version) -> Result<Part, Error> {
    let block: TextBlock<'_> = parse_at(at, raw)?;
    let citations = block.citations.unwrap_or_default();
    if speaker != Speaker::Assistant && version == Version::Of2026 && !citations.is_empty() {
        return Err(invalid(&format!("{at}.citations"), "Extra inputs are not permitted"));
    }
    let opaque = |raw: &RawValue| Annotation {
        kind: AnnotationKind::Opaque { dialect: OWN, json: json(raw) },
        start: None,
        end: None,
        index: None,
        extra: Extra::EMPTY,
    };
    let mut part = Part::new(PartKind::Text(Text {
        text: block.text.ok_or_else(|| missing(&format!("{at}.text")))?,
        annotations: citations.into_iter().map(opaque).collect(),
        ..Text::default()
    }));
    mark(at, block.cache_control, &mut part.cache_mark, &mut part.extra)?;
    keep(&mut part.extra, "", block.rest);
    Ok(part)
}

fn image(at: &str, raw: &RawValue) -> Result<Part, Error> {
    let block: Media<'_> = parse_at(at, raw)?;
    let param = format!("{at}.source");
    let raw_source = block.source.ok_or_else(|| missing(&param))?;
    let source: Source<'_> = parse_at(&param, raw_source)?;
    let mut extra = Extra::EMPTY;
    let image = match media(&param, &source, raw_source, &mut extra)? {
        Some(source) => PartKind::Image(Image { source, detail: None }),
        None => PartKind::Opaque { dialect: OWN, json: json(raw) },
    };
    finish(at, image, block, extra)
}

/// A document: a file, or a text that other dialects have as a text.
fn document(at: &str, raw: &RawValue, version: Version) -> Result<Part, Error> {
    let mut block: Media<'_> = parse_at(at, raw)?;
    let param = format!("{at}.source");
    let raw_source = block.source.ok_or_else(|| missing(&param))?;
    let mut source: Source<'_> = parse_at(&param, raw_source)?;
    let mut extra = Extra::EMPTY;
    let title = block.title.take();
    let said = match source.kind.as_deref() {
        Some("text") => {
            Some(source.data.take().ok_or_else(|| missing(&format!("{param}.data")))?.into_string())
        }
        Some("content") => {
            let at = format!("{param}.content");
            match source.content.take().ok_or_else(|| missing(&at))? {
                Content::Text(text) => Some(text),
                Content::Blocks(blocks) => {
                    let parts = parts(&at, blocks, Speaker::Tool, version)?;
                    let texts: Option<Vec<&str>> = parts.iter().map(Part::as_text).collect();
                    texts.map(|texts| texts.join("\n\n"))
                }
            }
        }
        _ => None,
    };
    let kind = if let Some(text) = said {
        extra.push(OWN, SOURCE, json(raw_source));
        if let Some(title) = &title {
            extra.push(OWN, "title", crate::json::text_json(title));
        }
        PartKind::Text(Text { text, ..Text::default() })
    } else {
        match media(&param, &source, raw_source, &mut extra)? {
            Some(source) => PartKind::File(File { source, filename: title, detail: None }),
            None => PartKind::Opaque { dialect: OWN, json: json(raw) },
        }
    };
    finish(at, kind, block, extra)
}

/// Adds what every media block may have. An opaque one carries all of it in its own text.
fn finish(at: &str, kind: PartKind, block: Media<'_>, extra: Extra) -> Result<Part, Error> {
    let mut part = Part { kind, cache_mark: None, extra };
    mark(at, block.cache_control, &mut part.cache_mark, &mut part.extra)?;
    if matches!(part.kind, PartKind::Opaque { .. }) {
        part.extra = Extra::EMPTY;
    } else {
        if matches!(part.kind, PartKind::Image(_))
            && let Some(title) = &block.title
        {
            part.extra.push(OWN, "title", crate::json::text_json(title));
        }
        keep(&mut part.extra, "", block.rest);
    }
    Ok(part)
}

/// Where the bytes are; `None` for a form that only this wire has.
fn media(
    at: &str,
    source: &Source<'_>,
    raw: &RawValue,
    extra: &mut Extra,
) -> Result<Option<MediaSource>, Error> {
    let need = |field: &str, value: &Option<Box<str>>| {
        value.clone().ok_or_else(|| missing(&format!("{at}.{field}")))
    };
    Ok(Some(match source.kind.as_deref() {
        None => return Err(missing(&format!("{at}.type"))),
        Some("base64") => MediaSource::Data {
            mime: Some(need("media_type", &source.media_type)?),
            base64: need("data", &source.data)?,
        },
        Some("url") => MediaSource::Url(need("url", &source.url)?),
        Some("file") => {
            // Only the upstream that issued the id can read it, so it rides along for this dialect.
            extra.push(OWN, SOURCE, json(raw));
            MediaSource::FileId(need("file_id", &source.file_id)?)
        }
        Some(_) => return Ok(None),
    }))
}

/// A tool that is callable from here on. Others are told in words, and offered the tool.
fn tool_reference(at: &str, raw: &RawValue) -> Result<Part, Error> {
    let block: Reference<'_> = parse_at(at, raw)?;
    let name = block.tool_name.ok_or_else(|| missing(&format!("{at}.tool_name")))?;
    let text = format!("The tool '{name}' can be called now.");
    let mut part = Part::new(PartKind::Text(Text { text, ..Text::default() }));
    part.extra.push(OWN, REFERENCE, crate::json::text_json(&name));
    mark(at, block.cache_control, &mut part.cache_mark, &mut part.extra)?;
    keep(&mut part.extra, "", block.rest);
    Ok(part)
}

fn search_result(at: &str, raw: &RawValue, version: Version) -> Result<Part, Error> {
    let block: Marked<'_> = parse_at(at, raw)?;
    if version == Version::Of2026
        && let Some((_, content)) = block.rest.iter().find(|(name, _)| &**name == "content")
    {
        let at = format!("{at}.content");
        let texts: Vec<&RawValue> = parse_at(&at, content)?;
        parts(&at, texts, Speaker::Tool, version)?;
    }
    let mut part = Part::new(PartKind::SearchResult(json(raw)));
    mark(at, block.cache_control, &mut part.cache_mark, &mut Extra::default())?;
    Ok(part)
}

/// Reads a cache mark. One that says more than how long it holds rides along as it came, too.
pub(super) fn mark(
    at: &str,
    raw: Option<&RawValue>,
    mark: &mut Option<CacheMark>,
    extra: &mut Extra,
) -> Result<(), Error> {
    let Some(raw) = raw else { return Ok(()) };
    let at = format!("{at}.{CACHE_CONTROL}");
    let wire: Mark<'_> = parse_at(&at, raw)?;
    match wire.kind.as_deref() {
        Some("ephemeral") => {}
        Some(word) => return Err(unknown_word(&format!("{at}.type"), word, &["ephemeral"])),
        None => return Err(missing(&format!("{at}.type"))),
    }
    *mark = Some(match wire.ttl.as_deref() {
        None | Some("5m") => CacheMark::M5,
        Some("1h") => CacheMark::H1,
        Some(word) => return Err(unknown_word(&format!("{at}.ttl"), word, &["5m", "1h"])),
    });
    if !wire.rest.is_empty() {
        extra.push(OWN, CACHE_CONTROL, json(raw));
    }
    Ok(())
}
