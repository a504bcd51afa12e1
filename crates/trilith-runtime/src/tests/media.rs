//! Media that a place does not take.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use trilith_core::{
    Abilities, BoxFuture, CacheMark, DialectId, Disposition, DocumentText, Error, ErrorKind, Fetch, Fetched,
    File, Image, Item, ItemBody, MediaSource, Message, Part, PartKind, Reads, Role,
};

use super::{
    events::answer,
    fakes::{Policy, Scripted, World, candidate, request, turn, unstored},
};
use crate::{Request, may_need_fitting, needs_fitting, sniff};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const BLIND: Reads = Reads { pdf: false, image_urls: false, document_urls: false };

/// Counts what it reads.
#[derive(Default)]
struct Reader(AtomicUsize);

impl DocumentText for Reader {
    fn pdf(&self, document: Bytes) -> BoxFuture<'_, Result<String, Error>> {
        let number = self.0.fetch_add(1, Ordering::SeqCst);
        let text = String::from_utf8_lossy(&document).into_owned();
        let broken = || Error::new(ErrorKind::BadRequest, trilith_core::ErrorOrigin::Caller, "broken");
        let read =
            if text.contains("broken") { Err(broken()) } else { Ok(format!("{text} read {number}\n")) };
        Box::pin(async { read })
    }
}

/// The web, as far as it is needed.
#[derive(Default)]
struct Web(AtomicUsize);

impl Fetch for Web {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Fetched, Error>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let (mime, bytes): (Option<&str>, &[u8]) = match url {
            "https://a/cat" => (Some("image/png"), PNG),
            "https://a/odd" => (Some("image/jpeg"), PNG),
            "https://a/paper" => (None, b"%PDF-1.7 x"),
            "https://a/note" => (Some("text/markdown"), b"# note"),
            _ => (None, b"\0\x01"),
        };
        let found = Fetched { mime: mime.map(Into::into), bytes: Bytes::from_static(bytes) };
        Box::pin(async { Ok(found) })
    }
}

fn image(url: &str) -> Part {
    Part::new(PartKind::Image(Image { source: MediaSource::Url(url.into()), detail: None }))
}

fn file(source: MediaSource) -> Part {
    Part::new(PartKind::File(File { source, filename: Some("a.pdf".into()), detail: None }))
}

fn document(content: &str) -> Part {
    file(MediaSource::Data { mime: Some("application/pdf".into()), base64: STANDARD.encode(content).into() })
}

fn paper(url: &str) -> Part {
    file(MediaSource::Url(url.into()))
}

fn message(parts: Vec<Part>) -> Item {
    Item::new(ItemBody::Message(Message { role: Role::User, parts, phase: None, name: None }))
}

struct Bench {
    world: World,
    reader: Arc<Reader>,
    web: Arc<Web>,
}

impl Bench {
    fn new() -> Self {
        let mut world = World::new();
        let (reader, web) = (Arc::<Reader>::default(), Arc::<Web>::default());
        world.runtime.documents = Some(Arc::clone(&reader) as Arc<dyn DocumentText>);
        world.runtime.fetch = Some(Arc::clone(&web) as Arc<dyn Fetch>);
        Self { world, reader, web }
    }

    /// What a place that reads so much is sent of these parts, and what was reported.
    async fn sent(&self, reads: Reads, parts: Vec<Part>) -> Result<(Vec<Part>, Vec<String>), Error> {
        let place = Arc::new(
            Scripted::new("up", DialectId::Messages)
                .can(Abilities { reads, ..Abilities::ALL })
                .plays(answer("ok")),
        );
        let run = self.world.start(request(unstored(turn(vec![message(parts)])), &place)).await?;
        let told = run.losses().iter().map(|loss| format!("{} {:?}", loss.path, loss.disposition)).collect();
        let ItemBody::Message(message) = place.heard(0).remove(0).body else { panic!() };
        Ok((message.parts, told))
    }
}

#[tokio::test]
async fn a_document_becomes_its_text_with_its_name_and_mark() {
    let bench = Bench::new();
    let marked = Part { cache_mark: Some(CacheMark::M5), ..document("pages") };
    let (parts, told) = bench.sent(BLIND, vec![Part::text("look"), marked]).await.unwrap();
    assert_eq!(parts[1].as_text(), Some("Text of the PDF document \"a.pdf\":\n\npages read 0"));
    assert_eq!(parts[1].cache_mark, Some(CacheMark::M5));
    assert_eq!(told, [format!("input[0].content[1] {:?}", Disposition::Emulate)]);
    // Who reads PDF gets it as it is.
    let (parts, told) = bench.sent(Reads::ALL, vec![document("pages")]).await.unwrap();
    assert_eq!((parts, told), (vec![document("pages")], Vec::new()));
}

#[tokio::test]
async fn what_is_behind_an_address_is_put_in_its_place() {
    let bench = Bench::new();
    let parts = vec![
        image("https://a/cat"),
        image("https://a/odd"),
        paper("https://a/paper"),
        paper("https://a/note"),
    ];
    let urls_only = Reads { pdf: true, ..BLIND };
    let (sent, told) = bench.sent(urls_only, parts.clone()).await.unwrap();
    let types: Vec<&str> = sent
        .iter()
        .map(|part| match &part.kind {
            PartKind::Image(Image { source: MediaSource::Data { mime, .. }, .. })
            | PartKind::File(File { source: MediaSource::Data { mime, .. }, .. }) => mime.as_deref().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(types, ["image/png", "image/png", "application/pdf", "text/markdown"]);
    assert_eq!(
        told.iter().filter(|line| line.ends_with("Warn")).count(),
        1,
        "a wrong declared type: {told:?}"
    );
    // What is fetched may be a PDF, of which the text is sent.
    let (sent, _) = bench.sent(BLIND, parts).await.unwrap();
    assert!(sent[2].as_text().unwrap().ends_with("%PDF-1.7 x read 0"));
}

#[tokio::test]
async fn what_cannot_be_had_is_refused_with_its_field() {
    let bench = Bench::new();
    let cases = [
        (document("broken"), "broken"),
        (image("https://a/nonsense"), "no image"),
        (image("https://a/paper"), "no image"),
        (paper("https://a/nonsense"), "no document"),
    ];
    for (part, reason) in cases {
        let error = bench.sent(BLIND, vec![Part::text("look"), part]).await.unwrap_err();
        assert_eq!(
            (error.kind, error.param.as_deref()),
            (ErrorKind::BadRequest, Some("input[0].content[1]"))
        );
        assert!(error.public.contains(reason), "{}", error.public);
    }
    let many = (0..17).map(|n| document(&n.to_string())).collect();
    let error = bench.sent(BLIND, many).await.unwrap_err();
    assert!(error.public.contains("at most 16 PDF documents"), "{}", error.public);
    let mut bench = Bench::new();
    bench.world.runtime.fetch = None;
    let error = bench.sent(BLIND, vec![image("https://a/cat")]).await.unwrap_err();
    assert!(error.public.contains("[fetch]"), "{}", error.public);
}

#[tokio::test]
async fn one_piece_is_read_once_whoever_is_tried() {
    let bench = Bench::new();
    let place = |name| Scripted::new(name, DialectId::Chat).can(Abilities { reads: BLIND, ..Abilities::ALL });
    let first = Arc::new(place("first").fails(Error::upstream("broken")));
    let second = Arc::new(place("second").plays(answer("ok")));
    let mut asked: Request =
        request(turn(vec![message(vec![document("pages"), image("https://a/cat")])]), &first);
    asked.candidates = vec![candidate(&first), candidate(&second)];
    bench.world.runtime.start(asked, &mut Policy::of(&[(1, 0)])).await.unwrap();
    assert_eq!(first.heard(0), second.heard(0));
    assert_eq!((bench.reader.0.load(Ordering::SeqCst), bench.web.0.load(Ordering::SeqCst)), (1, 1));
    // What is kept is what came.
    assert_eq!(
        bench.world.store.begun.lock().unwrap()[0].1[0].body,
        message(vec![document("pages"), image("https://a/cat")]).body
    );
}

#[test]
fn a_body_is_read_only_if_it_may_hold_what_is_not_taken() {
    let pdf_only = Reads { pdf: false, ..Reads::ALL };
    let cases = [
        (r#"{"messages":"hello"}"#, BLIND, false),
        (r#"{"file_data":"data:application\/pdf;base64,AA"}"#, pdf_only, true),
        (r#"{"file_data":"JVBERi0xLjQ"}"#, pdf_only, true),
        (r#"{"url":"https://a/cat"}"#, Reads { image_urls: false, ..Reads::ALL }, true),
        (r#"{"url":"https:\/\/a\/cat"}"#, Reads { document_urls: false, ..Reads::ALL }, true),
        (r#"{"url":"https://a/cat.pdf"}"#, Reads::ALL, false),
    ];
    for (body, reads, expected) in cases {
        assert_eq!(may_need_fitting(body.as_bytes(), reads), expected, "{body}");
    }
    assert!(needs_fitting(&[message(vec![document("x")])], pdf_only));
    assert!(!needs_fitting(&[message(vec![document("x")])], Reads::ALL));
    assert!(!needs_fitting(&[message(vec![image("https://a/cat")])], pdf_only));
}

#[test]
fn bytes_tell_what_they_are() {
    let late = [vec![b' '; 1000], b"%PDF-1.4".to_vec()].concat();
    let later = [vec![0; 1100], b"%PDF-1.4".to_vec()].concat();
    type Case<'a> = (Option<&'a str>, &'a [u8], bool, Option<&'a str>);
    let cases: [Case<'_>; 13] = [
        (None, PNG, true, Some("image/png")),
        (Some("text/html"), b"\xff\xd8\xff\xe0", true, Some("image/jpeg")),
        (None, b"GIF89a..", true, Some("image/gif")),
        (None, b"RIFF\0\0\0\0WEBPVP8 ", true, Some("image/webp")),
        (Some("image/svg+xml"), b"<svg/>", true, None),
        (Some("image/png"), b"<html>", true, None),
        (None, b"%PDF-1.4", true, None),
        (None, &late, false, Some("application/pdf")),
        (None, &later, false, None),
        (Some("Text/CSV"), b"a,b", false, Some("text/csv")),
        (Some("application/zip"), b"plain", false, Some("text/plain")),
        (None, b"\xff\xfe", false, None),
        (None, b"", false, None),
    ];
    for (declared, bytes, is_image, expected) in cases {
        assert_eq!(sniff::media_type(declared, bytes, is_image).as_deref(), expected, "{bytes:?}");
    }
}
