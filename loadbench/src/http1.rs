//! HTTP/1.1 message framing for the raw parts: where a head ends and where its body ends.

use memchr::memmem;

/// Longest accepted message head, in bytes.
pub(crate) const MAX_HEAD: usize = 64 * 1024;

/// How the end of a body is known (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Exactly this many bytes.
    Length(u64),
    /// `transfer-encoding: chunked`.
    Chunked,
    /// Neither header is present: empty for a request, until the close for a response.
    Unstated,
}

/// What the framing needs to know of a message head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes of the head, with its blank line.
    pub(crate) len: usize,
    /// How the body that follows is delimited.
    pub(crate) framing: Framing,
    /// Whether the sender closes the connection after this message.
    pub(crate) close: bool,
}

/// A message that breaks the framing rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadFraming(pub(crate) &'static str);

/// Reads the head at the start of `bytes`; `None` when its blank line has not arrived.
pub(crate) fn parse_head(bytes: &[u8]) -> Result<Option<Head>, BadFraming> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else {
        return if bytes.len() > MAX_HEAD { Err(BadFraming("head too long")) } else { Ok(None) };
    };
    let mut head = Head { len: end + 4, framing: Framing::Unstated, close: false };
    let mut rest = bytes.get(..end).unwrap_or_default();
    while let Some(line_end) = memchr::memchr(b'\n', rest) {
        rest = rest.get(line_end + 1..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            let digits = std::str::from_utf8(value).map_err(|_| BadFraming("content-length"))?;
            let length = digits.parse().map_err(|_| BadFraming("content-length"))?;
            if head.framing == Framing::Unstated {
                head.framing = Framing::Length(length);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            head.framing = Framing::Chunked;
        } else if name.eq_ignore_ascii_case(b"connection") {
            head.close = value.eq_ignore_ascii_case(b"close");
        }
    }
    Ok(Some(head))
}

/// Follows a body through successive reads and knows when it is over.
#[derive(Debug)]
pub(crate) enum BodyScanner {
    /// Bytes still to come.
    Length(u64),
    /// Inside a chunked body.
    Chunked(ChunkState),
    /// Ends with the connection.
    UntilClose,
}

impl BodyScanner {
    /// The scanner of a request body; a request without framing headers has none.
    pub(crate) fn of_request(framing: Framing) -> Self {
        match framing {
            Framing::Length(length) => Self::Length(length),
            Framing::Chunked => Self::Chunked(ChunkState::Size(0)),
            Framing::Unstated => Self::Length(0),
        }
    }

    /// The scanner of a response body; without framing headers it lasts until the close.
    pub(crate) fn of_response(framing: Framing) -> Self {
        match framing {
            Framing::Unstated => Self::UntilClose,
            stated => Self::of_request(stated),
        }
    }

    /// Takes the next bytes of the connection and hands the body's own bytes to `data`.
    ///
    /// Returns the bytes consumed when the body is over, `None` when all were consumed and more follow.
    pub(crate) fn feed(
        &mut self,
        input: &[u8],
        data: &mut impl FnMut(&[u8]),
    ) -> Result<Option<usize>, BadFraming> {
        match self {
            Self::Length(left) => {
                let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                data(input.get(..take).unwrap_or_default());
                *left -= take as u64;
                Ok((*left == 0).then_some(take))
            }
            Self::Chunked(state) => state.feed(input, data),
            Self::UntilClose => {
                data(input);
                Ok(None)
            }
        }
    }
}

/// Position inside a chunked body (RFC 9112 §7.1).
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChunkState {
    /// In the size line, with the value so far.
    Size(u64),
    /// After the size digits, before the line feed.
    SizeEnd(u64),
    /// In chunk data, with the bytes still to come.
    Data(u64),
    /// Between the data and the line feed that ends the chunk.
    DataEnd,
    /// In the trailer section; true at the start of a line.
    Trailer(bool),
}

impl ChunkState {
    fn feed(&mut self, input: &[u8], data: &mut impl FnMut(&[u8])) -> Result<Option<usize>, BadFraming> {
        let mut at = 0;
        while let Some(&byte) = input.get(at) {
            if let Self::Data(left) = *self {
                let take = usize::try_from(left).unwrap_or(usize::MAX).min(input.len() - at);
                data(input.get(at..at + take).unwrap_or_default());
                at += take;
                let left = left - take as u64;
                *self = if left == 0 { Self::DataEnd } else { Self::Data(left) };
                continue;
            }
            at += 1;
            match (*self, byte) {
                (Self::Size(size) | Self::SizeEnd(size), b'\n') => {
                    *self = if size == 0 { Self::Trailer(true) } else { Self::Data(size) };
                }
                (Self::Size(size), b'\r' | b';' | b' ') => *self = Self::SizeEnd(size),
                (Self::Size(size), digit) => {
                    let value = (digit as char).to_digit(16).ok_or(BadFraming("chunk size"))?;
                    let size = size.checked_mul(16).ok_or(BadFraming("chunk size"))?;
                    *self = Self::Size(size + u64::from(value));
                }
                (Self::SizeEnd(_), _) | (Self::DataEnd, b'\r') | (Self::Trailer(_), b'\r') => {}
                (Self::DataEnd, b'\n') => *self = Self::Size(0),
                (Self::DataEnd, _) => return Err(BadFraming("chunk end")),
                (Self::Trailer(true), b'\n') => return Ok(Some(at)),
                (Self::Trailer(_), byte) => *self = Self::Trailer(byte == b'\n'),
                (Self::Data(_), _) => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
