//! What a worker process does: one document from its input, the text to its output.

use std::io::{self, BufWriter, Read, Write};

use pdf_extract::{Document, PlainTextOutput, output_doc};

use crate::{limits, spawn::MOST_DOCUMENT_BYTES, verdict::Verdict};

/// The most text that a worker writes, in bytes.
pub(crate) const MOST_TEXT_BYTES: usize = 4 << 20;

/// Reads a PDF from standard input and writes its text to standard output; gives the code to exit with. Called first
/// thing in a process that does nothing else, for it takes from the process what it needs no more.
pub fn pdf_text() -> u8 {
    // A worker that cannot be held to its limits reads nothing.
    if limits::confine().is_err() {
        return Verdict::Unreadable.code();
    }
    read(&mut io::stdin().lock(), &mut io::stdout().lock(), MOST_TEXT_BYTES).code()
}

pub(crate) fn read(input: &mut dyn Read, output: &mut dyn Write, most: usize) -> Verdict {
    let mut bytes = Vec::new();
    if input.take(MOST_DOCUMENT_BYTES as u64).read_to_end(&mut bytes).is_err() {
        return Verdict::Unreadable;
    }
    let Ok(mut document) = Document::load_mem(&bytes) else { return Verdict::Unreadable };
    // Many are locked against changes only, and open without a password.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Verdict::Locked;
    }
    let mut text = Bounded { inner: BufWriter::new(output), room: most, full: false };
    let written = output_doc(&document, &mut PlainTextOutput::new(&mut text as &mut dyn Write));
    match (written, text.full) {
        (_, true) => Verdict::TooMuchText,
        (Ok(()), false) if text.inner.flush().is_ok() => Verdict::Read,
        _ => Verdict::Unreadable,
    }
}

/// A writer with an end.
struct Bounded<'a> {
    inner: BufWriter<&'a mut dyn Write>,
    room: usize,
    full: bool,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.room.checked_sub(bytes.len()) {
            Some(left) => self.room = left,
            None => {
                self.full = true;
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
        self.inner.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
