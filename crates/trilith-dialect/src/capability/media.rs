//! What images and documents a model reads.

use trilith_core::{Error, File, Image, MediaSource, Reads};

use super::Capabilities;

/// The media type of PDF documents.
pub(crate) const PDF: &str = "application/pdf";
/// How base64 begins where the bytes begin as a PDF does.
const PDF_MAGIC: &str = "JVBERi";
/// What an image counts as whose type nobody said.
pub(crate) const UNNAMED_IMAGE: &str = "image/png";

/// The media type of a file: what was said, else what its first bytes and its name tell.
pub(crate) fn type_of(file: &File) -> Option<&str> {
    let (mime, base64) = match &file.source {
        MediaSource::Data { mime, base64 } => (mime.as_deref(), &**base64),
        MediaSource::Url(_) | MediaSource::FileId(_) => return None,
    };
    mime.or_else(|| base64.starts_with(PDF_MAGIC).then_some(PDF)).or_else(|| named(file.filename.as_deref()))
}

/// The media type that a file's name tells of.
fn named(name: Option<&str>) -> Option<&'static str> {
    let (_, ending) = name?.rsplit_once('.')?;
    match ending.to_ascii_lowercase().as_str() {
        "pdf" => Some(PDF),
        "txt" | "md" | "csv" | "log" => Some("text/plain"),
        "json" => Some("application/json"),
        _ => None,
    }
}

/// A media type for an error text: short, whatever the caller wrote.
pub(crate) fn shown(mime: &str) -> String {
    mime.chars().take(64).collect()
}

fn refuse(model: &str, at: &str, what: &str) -> Error {
    let text = format!(
        "'{at}' is {what}, which the model '{model}' does not read. Send it in another form or choose another \
         model."
    );
    Error::bad_request(at, text).with_code("unsupported_parameter")
}

impl Capabilities {
    /// What the model reads of media, where its wire can say it.
    pub(crate) const fn reads(&self) -> Reads {
        Reads { pdf: self.pdf, image_urls: self.image_urls, document_urls: self.document_urls }
    }

    /// Refuses an image that the model does not read. The type of one that is fetched is for the upstream to
    /// judge.
    ///
    /// # Errors
    /// The model has no eyes, or none for this type.
    pub(crate) fn check_image(&self, model: &str, at: &str, image: &Image) -> Result<(), Error> {
        if self.image_types.is_empty() {
            return Err(refuse(model, at, "an image"));
        }
        let MediaSource::Data { mime, .. } = &image.source else { return Ok(()) };
        let mime = mime.as_deref().unwrap_or(UNNAMED_IMAGE);
        if self.image_types.iter().any(|known| known.eq_ignore_ascii_case(mime)) {
            return Ok(());
        }
        Err(refuse(model, at, &format!("an image of type {}", shown(mime))))
    }

    /// Refuses a document that the model does not read. What is fetched counts as a PDF, which is what wires
    /// take by address.
    ///
    /// # Errors
    /// The model reads no PDF, and this is one.
    pub(crate) fn check_file(&self, model: &str, at: &str, file: &File) -> Result<(), Error> {
        let pdf = match &file.source {
            MediaSource::Data { .. } => type_of(file) == Some(PDF),
            MediaSource::Url(_) => true,
            MediaSource::FileId(_) => false,
        };
        if pdf && !self.pdf { Err(refuse(model, at, "a PDF document")) } else { Ok(()) }
    }
}
