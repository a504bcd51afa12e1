//! Documents of every sort, read here and in workers; the workers are shell commands.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use trilith_core::{DocumentText, Error, ErrorKind};

use crate::{Limits, PdfWorkers, verdict::Verdict, worker};

/// A PDF of one page with that content stream.
fn pdf(content: &str) -> Vec<u8> {
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file += &format!("{} 0 obj\n{object}\nendobj\n", number + 1);
    }
    let start = file.len();
    file += &format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1);
    for place in &places {
        file += &format!("{place:010} 00000 n \n");
    }
    file += &format!("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", places.len() + 1);
    file.into_bytes()
}

/// The most text that is read here.
const MOST: usize = 10_000;

fn read(bytes: &[u8]) -> (Verdict, String) {
    let mut text = Vec::new();
    let verdict = worker::read(&mut &*bytes, &mut text, MOST);
    (verdict, String::from_utf8(text).unwrap())
}

#[test]
fn the_text_of_a_page_is_read() {
    let (verdict, text) = read(&pdf("BT /F1 24 Tf 72 720 Td (Invoice 4711) Tj ET"));
    assert_eq!(verdict, Verdict::Read);
    assert_eq!(text.trim(), "Invoice 4711");
}

#[test]
fn what_is_no_pdf_is_told() {
    let whole = pdf("BT /F1 24 Tf 72 720 Td (x) Tj ET");
    let cases: [&[u8]; 4] = [b"", b"hello", b"%PDF-1.7\ngarbage", &whole[..whole.len() / 3]];
    for bytes in cases {
        assert_eq!(read(bytes).0, Verdict::Unreadable, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn text_without_end_is_cut_off() {
    let line = "BT /F1 9 Tf 72 720 Td (".to_owned() + &"long ".repeat(100) + ") Tj ET\n";
    let (verdict, text) = read(&pdf(&line.repeat(60)));
    assert_eq!(verdict, Verdict::TooMuchText);
    assert!(text.len() <= MOST);
}

fn workers(script: &str, time: Duration) -> PdfWorkers {
    let arguments = vec!["-c".into(), script.into()];
    PdfWorkers::new(PathBuf::from("/bin/sh"), arguments, Limits { workers: 1, time })
}

async fn asked(script: &str, ms: u64) -> Result<String, Error> {
    workers(script, Duration::from_millis(ms)).pdf(Bytes::from_static(b"document")).await
}

#[tokio::test]
async fn a_worker_gets_the_document_and_nothing_else() {
    let script = "cat; echo; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_=; for file in /proc/$$/fd/*; do readlink $file; done; true";
    let said = asked(script, 9_000).await.unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "document");
    // No environment; input, output and nowhere. What its parent was given by others a worker closes itself.
    assert!(lines[1].starts_with("pipe:") && lines[2].starts_with("pipe:"), "{said}");
    assert_eq!(lines[3], "/dev/null");
}

#[tokio::test]
async fn every_bad_end_is_an_error_of_the_caller_with_a_reason() {
    let cases = [
        ("exit 40", "locked"),
        ("exit 41", "damaged"),
        ("exit 42", "too much text"),
        ("exit 101", "damaged"),
        ("kill -ABRT $$", "damaged"),
        ("kill -XCPU $$", "too long"),
        ("sleep 30", "too long"),
        ("while :; do :; done", "too long"),
        ("printf ' \\n'", "no text"),
        ("printf '\\377'", "damaged"),
        ("yes", "too"),
    ];
    for (script, reason) in cases {
        let error = asked(script, 700).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::BadRequest, "{script}: {error:?}");
        assert!(error.public.contains(reason), "{script}: {}", error.public);
    }
}

#[tokio::test]
async fn workers_take_turns_and_nobody_waits_for_ever() {
    let one = workers("sleep 0.6; cat", Duration::from_millis(900));
    let (first, second) = tokio::join!(one.pdf(Bytes::from_static(b"a")), one.pdf(Bytes::from_static(b"b")));
    assert_eq!((first.unwrap(), second.unwrap()), ("a".to_owned(), "b".to_owned()));
    let none = PdfWorkers::new(
        "/bin/cat".into(),
        Vec::new(),
        Limits { workers: 0, time: Duration::from_millis(50) },
    );
    assert_eq!(none.pdf(Bytes::from_static(b"a")).await.unwrap_err().kind, ErrorKind::Overloaded);
    let missing = PdfWorkers::new("/no/such/program".into(), Vec::new(), Limits::default());
    assert_eq!(missing.pdf(Bytes::new()).await.unwrap_err().kind, ErrorKind::Internal);
}
