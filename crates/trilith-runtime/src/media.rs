//! Media that a model's place does not take as it came: text is taken out of PDFs, and what is behind an address is
//! fetched (translation contract §4).

use std::{collections::HashMap, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use memchr::memmem;
use trilith_core::{
    DocumentText, Error, Fetch, Fetched, File, Item, ItemBody, Loss, MediaSource, Part, PartKind, Reads,
    ResultOutput,
};

use crate::{carriers::Places, sniff, start::Runtime};

/// Of each request at most so many addresses are fetched, and so many documents read.
const MOST: usize = 16;

/// Makes media readable, each piece once whatever the number of places that are tried.
pub(crate) struct Media {
    /// Takes text out of documents, where this process can.
    documents: Option<Arc<dyn DocumentText>>,
    /// Fetches addresses, where the operator allows it.
    fetch: Option<Arc<dyn Fetch>>,
    fetched: HashMap<Spot, Fetched>,
    texts: HashMap<Spot, Arc<str>>,
}

/// An item of the context and a part of it.
type Spot = (usize, usize);

/// What one part needs so that a place can take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Fetch,
    Text,
}

/// Whether a body, in whatever dialect, may hold media that a place could not take; found by the few letters that
/// none can do without.
pub fn may_need_fitting(body: &[u8], reads: Reads) -> bool {
    let holds = |text: &str| memmem::find(body, text.as_bytes()).is_some();
    // A slash may be escaped.
    let address = || holds("://") || holds(r":\/\/");
    (!reads.pdf && (holds("pdf") || holds(sniff::PDF_IN_BASE64)))
        || ((!reads.image_urls || !reads.document_urls || !reads.pdf) && address())
}

/// Whether a place could not take the items' media as they are.
pub fn needs_fitting(items: &[Item], reads: Reads) -> bool {
    items.iter().filter_map(parts).flatten().any(|part| need(part, reads).is_some())
}

fn need(part: &Part, reads: Reads) -> Option<Need> {
    match &part.kind {
        PartKind::Image(image) => {
            let address = matches!(image.source, MediaSource::Url(_));
            (address && !reads.image_urls).then_some(Need::Fetch)
        }
        PartKind::File(file) => match &file.source {
            // What is behind it may be a PDF.
            MediaSource::Url(_) => (!reads.document_urls || !reads.pdf).then_some(Need::Fetch),
            MediaSource::Data { .. } => (is_pdf(file) && !reads.pdf).then_some(Need::Text),
            MediaSource::FileId(_) => None,
        },
        _ => None,
    }
}

fn is_pdf(file: &File) -> bool {
    let MediaSource::Data { mime, base64 } = &file.source else { return false };
    let named = || file.filename.as_deref().is_some_and(|name| name.to_ascii_lowercase().ends_with(".pdf"));
    match mime.as_deref() {
        Some(mime) => mime.eq_ignore_ascii_case(sniff::PDF),
        None => base64.starts_with(sniff::PDF_IN_BASE64) || named(),
    }
}

const fn parts(item: &Item) -> Option<&Vec<Part>> {
    match &item.body {
        ItemBody::Message(message) => Some(&message.parts),
        ItemBody::Result(result) => match &result.output {
            ResultOutput::Parts(parts) => Some(parts),
            ResultOutput::Text(_) => None,
        },
        _ => None,
    }
}

const fn parts_mut(item: &mut Item) -> Option<&mut Vec<Part>> {
    match &mut item.body {
        ItemBody::Message(message) => Some(&mut message.parts),
        ItemBody::Result(result) => match &mut result.output {
            ResultOutput::Parts(parts) => Some(parts),
            ResultOutput::Text(_) => None,
        },
        _ => None,
    }
}

impl Media {
    /// Makes a context fit for one place; says what was done.
    ///
    /// # Errors
    /// Something cannot be fetched or read, or must not be; the error names the caller's field.
    pub(crate) async fn fit(
        &mut self,
        items: &mut [Item],
        places: &Places,
        reads: Reads,
    ) -> Result<Vec<Loss>, Error> {
        let mut losses = Vec::new();
        if reads == Reads::ALL {
            return Ok(losses);
        }
        for (place, item) in items.iter_mut().enumerate() {
            let Some(parts) = parts_mut(item) else { continue };
            for (number, part) in parts.iter_mut().enumerate() {
                let Some(first) = need(part, reads) else { continue };
                let spot = (place, number);
                let at = places.part(place, number);
                let named = |error: Error| error.with_param(at.clone());
                if first == Need::Fetch {
                    self.fetch(spot, &at, part, &mut losses).await.map_err(named)?;
                }
                if need(part, reads) == Some(Need::Text) {
                    self.text(spot, &at, part, &mut losses).await.map_err(named)?;
                }
            }
        }
        Ok(losses)
    }

    /// Puts what is behind an address in its place.
    async fn fetch(
        &mut self,
        spot: Spot,
        at: &str,
        part: &mut Part,
        losses: &mut Vec<Loss>,
    ) -> Result<(), Error> {
        let (source, is_image) = match &mut part.kind {
            PartKind::Image(image) => (&mut image.source, true),
            PartKind::File(file) => (&mut file.source, false),
            _ => return Ok(()),
        };
        let MediaSource::Url(url) = &*source else { return Ok(()) };
        if !self.fetched.contains_key(&spot) {
            let fetch = self.fetch.as_deref().ok_or_else(no_fetching)?;
            bounded(self.fetched.len(), "addresses")?;
            let found = fetch.fetch(url).await?;
            self.fetched.insert(spot, found);
        }
        let Some(found) = self.fetched.get(&spot) else { return Ok(()) };
        let declared = found.mime.as_deref();
        let mime =
            sniff::media_type(declared, &found.bytes, is_image).ok_or_else(|| no_such_media(is_image))?;
        if declared.is_some_and(|declared| !declared.eq_ignore_ascii_case(&mime)) {
            let why = format!("its server declares another type than {mime}, which it is");
            losses.push(Loss::warn(at, why));
        }
        losses.push(Loss::emulate(at, "fetched here, since the model's place takes no address"));
        let base64 = STANDARD.encode(&found.bytes).into();
        *source = MediaSource::Data { mime: Some(mime), base64 };
        Ok(())
    }

    /// Puts a PDF's text in its place.
    async fn text(
        &mut self,
        spot: Spot,
        at: &str,
        part: &mut Part,
        losses: &mut Vec<Loss>,
    ) -> Result<(), Error> {
        let PartKind::File(file) = &part.kind else { return Ok(()) };
        let MediaSource::Data { base64, .. } = &file.source else { return Ok(()) };
        if !self.texts.contains_key(&spot) {
            // Without a reader the place itself says that it takes no PDF.
            let Some(documents) = self.documents.as_deref() else { return Ok(()) };
            bounded(self.texts.len(), "PDF documents")?;
            let bytes = STANDARD
                .decode(&**base64)
                .map_err(|_| Error::bad_request(at, "the document's data is not base64"))?;
            let text = documents.pdf(Bytes::from(bytes)).await?;
            self.texts.insert(spot, text.into());
        }
        let Some(text) = self.texts.get(&spot) else { return Ok(()) };
        for field in part.extra.iter() {
            losses.push(Loss::warn(format!("{at}.{}", field.name), "the text of a PDF takes no such field"));
        }
        losses.push(Loss::emulate(at, "sent as the text taken out of the PDF, since the model reads none"));
        let name = file.filename.as_deref().unwrap_or("document.pdf");
        let said = format!("Text of the PDF document \"{}\":\n\n{}", name.escape_debug(), text.trim());
        *part = Part { cache_mark: part.cache_mark, ..Part::text(said) };
        Ok(())
    }
}

fn bounded(done: usize, what: &str) -> Result<(), Error> {
    if done < MOST {
        return Ok(());
    }
    let text =
        format!("of one request at most {MOST} {what} are read here; send fewer, or choose another model");
    Err(Error::new(trilith_core::ErrorKind::BadRequest, trilith_core::ErrorOrigin::Caller, text))
}

fn refuse(text: &'static str) -> Error {
    Error::new(trilith_core::ErrorKind::BadRequest, trilith_core::ErrorOrigin::Caller, text)
        .with_code("unsupported_parameter")
}

fn no_fetching() -> Error {
    refuse(
        "the model's place takes no address here, and nothing is fetched for it; send the data itself, or ask the \
         operator to enable [fetch]",
    )
}

fn no_such_media(is_image: bool) -> Error {
    if is_image {
        refuse("what is behind the address is no image of a known type; send the data itself")
    } else {
        refuse("what is behind the address is no document of a known type; send the data itself")
    }
}

impl Runtime {
    /// What makes the media of one request readable.
    pub(crate) fn media(&self) -> Media {
        Media {
            documents: self.documents.clone(),
            fetch: self.fetch.clone(),
            fetched: HashMap::new(),
            texts: HashMap::new(),
        }
    }
}
