//! Images and documents, on the way out.

use trilith_core::{DialectId, Error, File, Image, Loss, MediaSource, Part};

use super::{SOURCE, base64, encode::Encoder, write_blocks::unsayable};
use crate::{
    capability::{PDF, UNNAMED_IMAGE, shown, type_of},
    json::Object,
};

impl Encoder<'_> {
    pub(super) fn image(
        &mut self,
        at: &str,
        part: &Part,
        image: &Image,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        if image.detail.as_deref().is_some_and(|detail| detail != "auto") {
            self.losses.push(Loss::warn(format!("{at}.detail"), "Messages has no detail for images"));
        }
        self.target.can.check_image(&self.turn.settings.model, at, image)?;
        out.string("type", "image");
        match &image.source {
            MediaSource::Data { mime, base64 } => {
                bytes(mime.as_deref().unwrap_or(UNNAMED_IMAGE), base64, out);
            }
            MediaSource::Url(url) => address(url, out),
            MediaSource::FileId(_) => own_file(at, part, out)?,
        }
        Ok(())
    }

    pub(super) fn file(
        &mut self,
        at: &str,
        part: &Part,
        file: &File,
        out: &mut Object<'_>,
    ) -> Result<(), Error> {
        if file.detail.is_some() {
            self.losses.push(Loss::warn(format!("{at}.detail"), "Messages has no detail for documents"));
        }
        self.target.can.check_file(&self.turn.settings.model, at, file)?;
        match &file.source {
            MediaSource::Data { base64, .. } => match type_of(file) {
                Some(PDF) => {
                    out.string("type", "document");
                    bytes(PDF, base64, out);
                }
                Some(mime) if mime.starts_with("image/") => {
                    let image = Image { source: file.source.clone(), detail: None };
                    return self.image(at, part, &image, out);
                }
                Some(mime) if mime.starts_with("text/") || mime == "application/json" => {
                    let text = base64::decode(base64).and_then(|bytes| String::from_utf8(bytes).ok());
                    let text = text.ok_or_else(|| unsayable(at, "a text file that is not UTF-8"))?;
                    out.string("type", "document");
                    let mut source = out.object("source");
                    source.string("type", "text");
                    source.string("media_type", "text/plain");
                    source.string("data", &text);
                    source.end();
                }
                Some(mime) => return Err(unsayable(at, &format!("a file of type {}", shown(mime)))),
                None => return Err(unsayable(at, "a file of no known type")),
            },
            MediaSource::Url(url) => {
                out.string("type", "document");
                address(url, out);
            }
            MediaSource::FileId(_) => {
                out.string("type", "document");
                own_file(at, part, out)?;
            }
        }
        out.optional_string("title", file.filename.as_deref());
        Ok(())
    }
}

fn bytes(mime: &str, base64: &str, out: &mut Object<'_>) {
    let mut source = out.object("source");
    source.string("type", "base64");
    source.string("media_type", mime);
    source.string("data", base64);
    source.end();
}

fn address(url: &str, out: &mut Object<'_>) {
    let mut source = out.object("source");
    source.string("type", "url");
    source.string("url", url);
    source.end();
}

/// A file that an upstream of this dialect holds; an id of another one means nothing here.
fn own_file(at: &str, part: &Part, out: &mut Object<'_>) -> Result<(), Error> {
    let Some(source) = part.extra.get(DialectId::Messages, SOURCE) else {
        let text = format!(
            "'{at}' names a file by an id that this model's upstream did not issue. Send the file's data instead."
        );
        return Err(Error::bad_request(at, text).with_code("unsupported_parameter"));
    };
    out.json("source", source);
    Ok(())
}
