//! What a place takes of media by itself, and the ports that make the rest readable for it.

use bytes::Bytes;

use crate::{BoxFuture, Error};

/// What a model at a place reads of media that a request may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// PDF documents.
    pub pdf: bool,
    /// Images by their address.
    pub image_urls: bool,
    /// Documents by their address.
    pub document_urls: bool,
}

impl Reads {
    /// Whatever its dialect can say.
    pub const ALL: Self = Self { pdf: true, image_urls: true, document_urls: true };
}

/// Reads the text out of documents.
pub trait DocumentText: Send + Sync {
    /// The text of a PDF.
    ///
    /// # Errors
    /// It is no PDF, locked, holds no text, or is too large or too slow to be read. The error names no field.
    fn pdf(&self, document: Bytes) -> BoxFuture<'_, Result<String, Error>>;
}

/// What stood at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The media type as the server declared it, without parameters.
    pub mime: Option<Box<str>>,
    /// The content.
    pub bytes: Bytes,
}

/// Fetches what a caller names by its address.
pub trait Fetch: Send + Sync {
    /// The content of a `GET` of `url`.
    ///
    /// # Errors
    /// The address may not be asked, cannot be reached, or answers with an error or too much. The error names no
    /// field and nothing of what is behind the address.
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Fetched, Error>>;
}
