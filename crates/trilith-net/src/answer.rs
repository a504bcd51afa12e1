//! The head of a response: from bytes to `http` types, and what it says about the body.

use std::mem::MaybeUninit;

use bytes::{Buf, Bytes, BytesMut};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{StatusCode, Version};
use httparse::{ParserConfig, Status};

use crate::error::Fault;
use crate::framing::{Chunked, Framing};

/// Header lines of one head.
pub(crate) const MAX_HEADERS: usize = 100;

/// A final response head.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) version: Version,
    pub(crate) headers: HeaderMap,
    pub(crate) framing: Framing,
    /// Whether the head allows another exchange on its connection.
    pub(crate) keep: bool,
}

/// Looks for the final head in the bytes of a connection, past informational ones.
pub(crate) struct HeadReader {
    /// Bytes that all heads together may still have.
    budget: usize,
    /// Bytes at the beginning that are known to hold no whole head.
    scanned: usize,
    /// Cap on the trailers of the body.
    max_trailers: usize,
    bodiless: bool,
}

impl HeadReader {
    /// `bodiless` says that the request was a `HEAD`.
    pub(crate) fn new(max_head: usize, bodiless: bool) -> Self {
        Self { budget: max_head, scanned: 0, max_trailers: max_head, bodiless }
    }

    /// Cuts the final head off the bytes; none when more are needed. Call again only with
    /// more bytes.
    ///
    /// # Errors
    /// [`Fault`] as RFC 9112 has it: §2.2 line ends, §5 header lines, §6 framing.
    pub(crate) fn take(&mut self, bytes: &mut BytesMut) -> Result<Option<Answer>, Fault> {
        loop {
            while bytes.starts_with(b"\r\n") {
                self.spend(2)?;
                bytes.advance(2);
                self.scanned = 0;
            }
            // Without a new line end there is nothing new to parse: a server that sends
            // byte by byte must not make this quadratic.
            let fresh = bytes.get(self.scanned..).unwrap_or_default();
            let parsed = if self.scanned == 0 || fresh.contains(&b'\n') { self.parse(bytes)? } else { None };
            let Some((end, answer)) = parsed else {
                self.scanned = bytes.len();
                return if self.scanned > self.budget { Err(Fault::HeadTooLarge) } else { Ok(None) };
            };
            self.spend(end)?;
            bytes.advance(end);
            self.scanned = 0;
            if answer.is_some() {
                return Ok(answer);
            }
        }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        self.budget = self.budget.checked_sub(bytes).ok_or(Fault::HeadTooLarge)?;
        Ok(())
    }

    /// One head with its length; the head is none when it is an informational one.
    fn parse(&self, bytes: &[u8]) -> Result<Option<(usize, Option<Answer>)>, Fault> {
        let mut slots = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let parsed =
            ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, &mut slots);
        let end = match parsed {
            Ok(Status::Complete(end)) => end,
            Ok(Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(Fault::HeadTooLarge),
            Err(_) => return Err(Fault::Malformed("a malformed head")),
        };
        let status = response.code.and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.ok_or(Fault::Malformed("a malformed status"))?;
        if status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(Fault::Malformed("a switch of protocols that nobody asked for"));
        }
        if status.is_informational() {
            return Ok(Some((end, None)));
        }
        let version = if response.version == Some(0) { Version::HTTP_10 } else { Version::HTTP_11 };
        let head = bytes.get(..end).unwrap_or_default();
        let (headers, seen) = read_headers(head, response.headers)?;
        let framing = self.framing(status, version, &seen)?;
        let keep = version == Version::HTTP_11 && !seen.close;
        Ok(Some((end, Some(Answer { status, version, headers, framing, keep }))))
    }

    /// RFC 9112 §6.3. A head that can be read in two ways is refused, as the other reading
    /// may be that of a proxy in between.
    fn framing(&self, status: StatusCode, version: Version, seen: &Seen) -> Result<Framing, Fault> {
        if self.bodiless || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED {
            return Ok(Framing::Length(0));
        }
        match (seen.length, seen.chunked) {
            (Some(_), true) => Err(Fault::Malformed("both a content-length and a transfer-encoding")),
            (None, true) if version == Version::HTTP_10 => {
                Err(Fault::Malformed("a transfer-encoding in HTTP/1.0"))
            }
            (None, true) => Ok(Framing::Chunked(Chunked::new(self.max_trailers))),
            (Some(length), false) => Ok(Framing::Length(length)),
            (None, false) => Ok(Framing::Close),
        }
    }
}

/// What the headers say about the connection.
#[derive(Default)]
struct Seen {
    length: Option<u64>,
    chunked: bool,
    close: bool,
}

/// The values share one copy of the head, so that the read buffer stays free for reuse.
fn read_headers(head: &[u8], lines: &[httparse::Header<'_>]) -> Result<(HeaderMap, Seen), Fault> {
    let base = head.as_ptr().addr();
    let shared = Bytes::copy_from_slice(head);
    let mut headers = HeaderMap::with_capacity(lines.len());
    let mut seen = Seen::default();
    for line in lines {
        let bad = || Fault::Malformed("a malformed header line");
        let name = HeaderName::from_bytes(line.name.as_bytes()).map_err(|_| bad())?;
        if name == header::CONTENT_LENGTH {
            seen.add_length(line.value)?;
        } else if name == header::TRANSFER_ENCODING {
            seen.add_coding(line.value)?;
        } else if name == header::CONNECTION {
            seen.close |= list(line.value).any(|token| token.eq_ignore_ascii_case(b"close"));
        }
        let start = line.value.as_ptr().addr().wrapping_sub(base);
        let value = match start.checked_add(line.value.len()) {
            Some(end) if end <= shared.len() && !line.value.is_empty() => {
                HeaderValue::from_maybe_shared(shared.slice(start..end))
            }
            _ => HeaderValue::from_bytes(line.value),
        };
        headers.append(name, value.map_err(|_| bad())?);
    }
    Ok((headers, seen))
}

impl Seen {
    /// Lengths may be repeated, also within one line, but must agree.
    fn add_length(&mut self, value: &[u8]) -> Result<(), Fault> {
        for token in list(value) {
            let length = digits(token).ok_or(Fault::Malformed("a malformed content-length"))?;
            if self.length.is_some_and(|known| known != length) {
                return Err(Fault::Malformed("two different content-lengths"));
            }
            self.length = Some(length);
        }
        Ok(())
    }

    /// No coding but `chunked`, and that once: no other was offered.
    fn add_coding(&mut self, value: &[u8]) -> Result<(), Fault> {
        if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(Fault::Malformed("a transfer-encoding other than chunked"));
        }
        self.chunked = true;
        Ok(())
    }
}

fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

fn digits(token: &[u8]) -> Option<u64> {
    if token.is_empty() {
        return None;
    }
    token.iter().try_fold(0_u64, |sum, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}
