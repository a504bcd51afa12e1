//! Parts, on the way out.

use std::borrow::Cow;

use trilith_core::{CacheMark, DialectId, Error, File, Image, Json, Loss, MediaSource, Part, PartKind};

use super::encode::Encoder;
use crate::{
    capability::UNNAMED_IMAGE,
    chat::json::{List, Object},
    scan::write_string,
};

/// The most cache marks an upstream honours; of more, the first and the last ones are kept.
const MAX_MARKS: usize = 4;

/// Where cache marks are in a request, counted while it is written.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) total: usize,
    pub(super) seen: usize,
}

impl Marks {
    const fn keeps(&mut self) -> bool {
        let place = self.seen;
        self.seen += 1;
        self.total <= MAX_MARKS || place == 0 || place + MAX_MARKS > self.total
    }
}

impl Encoder<'_> {
    /// A content: one string where it is nothing but one plain text.
    pub(super) fn content(
        &mut self,
        at: &str,
        parts: &[Part],
        marks: &mut Marks,
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        match parts {
            [] => write_string(out, ""),
            [Part { kind: PartKind::Text(text), cache_mark: None, extra }] if extra.is_empty() => {
                write_string(out, &text.text);
            }
            parts => {
                let mut list = List::new(out);
                for (place, part) in parts.iter().enumerate() {
                    let mut object = list.object();
                    self.part(&format!("{at}[{place}]"), part, marks, &mut object)?;
                    object.end();
                }
                list.end();
            }
        }
        Ok(())
    }

    pub(super) fn part(
        &mut self,
        at: &str,
        part: &Part,
        marks: &mut Marks,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        match &part.kind {
            PartKind::Text(text) => text_part(&text.text, out),
            PartKind::Refusal(refusal) => {
                out.string("type", "refusal");
                out.string("refusal", refusal);
            }
            PartKind::Image(image) => self.image(at, image, out)?,
            PartKind::Audio(audio) => {
                let Some(format) = &audio.format else {
                    return Err(unsayable(at, "audio without a format"));
                };
                out.string("type", "input_audio");
                let mut object = out.object("input_audio");
                object.string("data", &audio.base64);
                object.string("format", format);
                object.end();
            }
            PartKind::Video(_) => return Err(unsayable(at, "video")),
            PartKind::File(file) => self.file(at, file, part.extra.get(DialectId::Chat, "file"), out)?,
            PartKind::SearchResult(json) | PartKind::Json(json) => {
                self.losses.push(Loss::emulate(at, "sent as the text of its JSON"));
                text_part(json.as_str(), out);
            }
            PartKind::Opaque { .. } => return Err(unsayable(at, "a part of another dialect")),
        }
        if let Some(mark) = part.cache_mark {
            self.mark(at, mark, marks, out);
        }
        for field in part.extra.of(DialectId::Chat).filter(|field| &*field.name != "file") {
            out.json(&field.name, &field.value);
        }
        self.foreign(at, &part.extra);
        Ok(())
    }

    fn mark(&mut self, at: &str, mark: CacheMark, marks: &mut Marks, out: &mut Object<'_>) {
        if !marks.keeps() || !self.target.quirks.takes("prompt_cache_breakpoint") {
            self.losses.push(Loss::hint(at, "the cache mark is left out"));
            return;
        }
        let mut object = out.object("prompt_cache_breakpoint");
        object.string("mode", "explicit");
        object.string(
            "ttl",
            match mark {
                CacheMark::M5 | CacheMark::M30 => "30m",
                CacheMark::H1 | CacheMark::H12 => "12h",
            },
        );
        object.end();
    }

    fn image(&mut self, at: &str, image: &Image, out: &mut Object<'_>) -> Result<(), Error> {
        self.target.can.check_image(&self.turn.settings.model, at, image)?;
        let url: Cow<'_, str> = match &image.source {
            MediaSource::Url(url) => Cow::Borrowed(url),
            MediaSource::Data { mime, base64 } => {
                Cow::Owned(data_url(mime.as_deref(), base64, UNNAMED_IMAGE))
            }
            MediaSource::FileId(_) => return Err(foreign_file(at)),
        };
        out.string("type", "image_url");
        let mut object = out.object("image_url");
        object.string("url", &url);
        object.optional_string("detail", image.detail.as_deref());
        object.end();
        Ok(())
    }

    fn file(&mut self, at: &str, file: &File, own: Option<&Json>, out: &mut Object<'_>) -> Result<(), Error> {
        self.target.can.check_file(&self.turn.settings.model, at, file)?;
        let data: Cow<'_, str> = match (&file.source, own) {
            (MediaSource::FileId(_), Some(own)) => {
                out.string("type", "file");
                out.json("file", own);
                return Ok(());
            }
            (MediaSource::FileId(_), None) => return Err(foreign_file(at)),
            (MediaSource::Url(_), _) => return Err(unsayable(at, "the address of a file")),
            (MediaSource::Data { mime: Some(mime), base64 }, _) => {
                Cow::Owned(data_url(Some(mime), base64, "application/octet-stream"))
            }
            (MediaSource::Data { mime: None, base64 }, _) => Cow::Borrowed(base64),
        };
        out.string("type", "file");
        let mut object = out.object("file");
        object.string("file_data", &data);
        object.optional_string("filename", file.filename.as_deref());
        object.end();
        if file.detail.is_some() {
            self.losses.push(Loss::warn(format!("{at}.detail"), "Chat Completions has no detail for files"));
        }
        Ok(())
    }
}

pub(super) fn text_part(text: &str, out: &mut Object<'_>) {
    out.string("type", "text");
    out.string("text", text);
}

fn data_url(mime: Option<&str>, base64: &str, unnamed: &str) -> String {
    format!("data:{};base64,{base64}", mime.unwrap_or(unnamed))
}

pub(super) fn unsayable(at: &str, what: &str) -> Error {
    let text = format!(
        "'{at}' is {what}, which a Chat Completions upstream cannot take. Send it in another form or choose a \
         model whose provider takes it."
    );
    Error::bad_request(at, text).with_code("unsupported_parameter")
}

fn foreign_file(at: &str) -> Error {
    let text = format!(
        "'{at}' names a file by an id that this model's upstream did not issue. Send the file's data instead."
    );
    Error::bad_request(at, text).with_code("unsupported_parameter")
}
