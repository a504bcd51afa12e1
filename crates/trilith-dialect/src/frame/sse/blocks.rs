//! Cuts a stream into blocks: the lines between two blank lines.

use memchr::{memchr2, memrchr2};

use super::{End, FrameError, KEEP_SCRATCH};

/// The cutter. It looks at every byte once, whatever the chunks.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The unfinished block's bytes of earlier chunks.
    held: Vec<u8>,
    /// Cap on one block in bytes.
    limit: usize,
    /// The current line has bytes already.
    line_open: bool,
    /// The last chunk ended with CR: an LF that opens the next one belongs to it.
    after_cr: bool,
    /// No block was completed yet, so that this one may start with a byte order mark.
    first: bool,
    failed: Option<FrameError>,
}

impl Blocks {
    pub(super) fn new(limit: usize) -> Self {
        Self { held: Vec::new(), limit, line_open: false, after_cr: false, first: true, failed: None }
    }

    /// Hands every completed, non-empty block to `each` and returns the length of the chunk's prefix that
    /// ends with the last of them.
    pub(super) fn push(
        &mut self,
        chunk: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), FrameError>,
    ) -> Result<usize, FrameError> {
        self.guard(|blocks| blocks.advance(chunk, &mut each))
    }

    /// Hands the complete lines of an unfinished last block to `each`.
    pub(super) fn finish(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), FrameError>,
    ) -> Result<End, FrameError> {
        self.guard(|blocks| {
            let held = std::mem::take(&mut blocks.held);
            let complete = memrchr2(b'\n', b'\r', &held).map_or(0, |at| at + 1);
            let (lines, rest) = held.split_at(complete);
            each(blocks.without_mark(lines))?;
            Ok(if rest.is_empty() { End::Clean } else { End::Cut })
        })
    }

    fn guard<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T, FrameError>) -> Result<T, FrameError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        step(self).inspect_err(|error| {
            self.failed = Some(*error);
            self.held = Vec::new();
        })
    }

    fn advance(
        &mut self,
        chunk: &[u8],
        each: &mut impl FnMut(&[u8]) -> Result<(), FrameError>,
    ) -> Result<usize, FrameError> {
        let mut at = 0;
        if !chunk.is_empty() && std::mem::take(&mut self.after_cr) && chunk.first() == Some(&b'\n') {
            at = 1;
        }
        let mut start = if self.held.is_empty() { at } else { 0 };
        while let Some(length) = chunk.get(at..).and_then(|rest| memchr2(b'\n', b'\r', rest)) {
            let end = at + length;
            let blank = length == 0 && !self.line_open;
            self.line_open = false;
            at = end + 1;
            if chunk.get(end) == Some(&b'\r') {
                match chunk.get(at) {
                    Some(b'\n') => at += 1,
                    Some(_) => {}
                    None => self.after_cr = true,
                }
            }
            if blank {
                self.complete(chunk.get(start..end).unwrap_or_default(), each)?;
                start = at;
            }
        }
        self.line_open |= at < chunk.len();
        self.hold(chunk.get(start..).unwrap_or_default())?;
        Ok(start)
    }

    fn complete(
        &mut self,
        tail: &[u8],
        each: &mut impl FnMut(&[u8]) -> Result<(), FrameError>,
    ) -> Result<(), FrameError> {
        if self.held.is_empty() {
            if tail.len() > self.limit {
                return Err(FrameError::TooLong { limit: self.limit });
            }
            return each(self.without_mark(tail));
        }
        self.hold(tail)?;
        let mut held = std::mem::take(&mut self.held);
        let outcome = each(self.without_mark(&held));
        held.clear();
        held.shrink_to(KEEP_SCRATCH);
        self.held = held;
        outcome
    }

    fn without_mark<'a>(&mut self, block: &'a [u8]) -> &'a [u8] {
        let first = std::mem::replace(&mut self.first, false);
        block.strip_prefix(b"\xEF\xBB\xBF").filter(|_| first).unwrap_or(block)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), FrameError> {
        if self.held.len() + bytes.len() > self.limit {
            return Err(FrameError::TooLong { limit: self.limit });
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }
}
