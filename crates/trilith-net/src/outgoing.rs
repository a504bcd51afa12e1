//! A request on its way out: the bytes of its head, its body, and how far they got.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{self, HeaderMap};
use http::uri::Authority;
use http::{Method, Uri};
use tokio::io::AsyncWrite;

use crate::error::{ErrorKind, NetError};
use crate::proxy::Proxy;
use crate::request::Request;

/// Largest body that is copied behind its head. Up to here the copy costs less than a
/// second buffer in the system call (or a TLS record of its own).
const SMALL_BODY: usize = 4 << 10;

/// A request as it goes on the wire.
pub(crate) struct Outgoing {
    /// The head, and a small body.
    first: Vec<u8>,
    /// A body that is not in `first`.
    rest: Bytes,
    /// Bytes of both that the stream has taken.
    sent: usize,
    state: State,
    bodiless: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Writing,
    Done,
    Failed,
}

impl Outgoing {
    /// Writes the head: origin form, or absolute form through `forward`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] when the headers name more than one host.
    pub(crate) fn new(
        request: Request,
        authority: &Authority,
        forward: Option<&Proxy>,
    ) -> Result<Self, NetError> {
        let Request { method, uri, headers, body, accept_compressed, .. } = request;
        let copied = if body.len() <= SMALL_BODY { body.len() } else { 0 };
        let mut first = Vec::with_capacity(head_room(&uri, authority, &headers) + copied);
        put_request_line(&mut first, &method, &uri, authority, forward.is_some());
        put_host(&mut first, authority, &headers)?;
        put_headers(&mut first, &headers, forward);
        if accept_compressed && !headers.contains_key(header::ACCEPT_ENCODING) {
            first.extend_from_slice(b"accept-encoding: gzip, br, zstd, deflate\r\n");
        }
        // RFC 9110 §8.6: a length of 0 is said only where a body is expected.
        if !body.is_empty() || matches!(method, Method::POST | Method::PUT | Method::PATCH) {
            let mut digits = itoa::Buffer::new();
            put_line(&mut first, b"content-length", digits.format(body.len()).as_bytes());
        }
        first.extend_from_slice(b"\r\n");
        let rest = if body.len() <= SMALL_BODY {
            first.extend_from_slice(&body);
            Bytes::new()
        } else {
            body
        };
        Ok(Self { first, rest, sent: 0, state: State::Writing, bodiless: method == Method::HEAD })
    }

    /// Whether the answer has no body whatever its head says.
    pub(crate) fn wants_no_body(&self) -> bool {
        self.bodiless
    }

    /// Whether any byte left.
    pub(crate) fn is_begun(&self) -> bool {
        self.sent > 0
    }

    /// Whether every byte left.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// What the server has not taken yet, if anything, to be sent while its answer is read.
    pub(crate) fn take_rest(&mut self) -> Option<Self> {
        if self.is_done() {
            return None;
        }
        let first = std::mem::take(&mut self.first);
        Some(Self { first, rest: std::mem::take(&mut self.rest), ..*self })
    }

    /// Begins again, for another connection.
    pub(crate) fn rewind(&mut self) {
        self.sent = 0;
        self.state = State::Writing;
    }

    /// Writes what can be written now. A failure is only remembered: the server may have
    /// answered before it closed, so what there is to tell comes from the reading side.
    pub(crate) fn poll(&mut self, stream: &mut (impl AsyncWrite + Unpin), cx: &mut Context<'_>) {
        if self.state == State::Writing
            && let Poll::Ready(outcome) = self.poll_write(stream, cx)
        {
            self.state = if outcome.is_ok() { State::Done } else { State::Failed };
        }
    }

    fn poll_write(
        &mut self,
        stream: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let first = self.first.get(self.sent..).unwrap_or_default();
            let rest = self.rest.get(self.sent.saturating_sub(self.first.len())..).unwrap_or_default();
            let stream = Pin::new(&mut *stream);
            let taken = match (first, rest) {
                ([], []) => return stream.poll_flush(cx),
                (only, []) | ([], only) => ready!(stream.poll_write(cx, only))?,
                (first, rest) => {
                    ready!(stream.poll_write_vectored(cx, &[IoSlice::new(first), IoSlice::new(rest)]))?
                }
            };
            if taken == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += taken;
        }
    }
}

/// Room that a head of these parts surely fits in; more would only be grown into.
fn head_room(uri: &Uri, authority: &Authority, headers: &HeaderMap) -> usize {
    let lines: usize =
        headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
    let target = uri.path_and_query().map_or(1, |path| path.as_str().len());
    lines + target + 2 * authority.as_str().len() + 256
}

fn put_request_line(out: &mut Vec<u8>, method: &Method, uri: &Uri, authority: &Authority, absolute: bool) {
    out.extend_from_slice(method.as_str().as_bytes());
    out.push(b' ');
    if absolute {
        out.extend_from_slice(b"http://");
        out.extend_from_slice(authority.as_str().as_bytes());
    }
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    if !path.starts_with('/') {
        out.push(b'/');
    }
    out.extend_from_slice(path.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\n");
}

fn put_host(out: &mut Vec<u8>, authority: &Authority, headers: &HeaderMap) -> Result<(), NetError> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().map_or(authority.as_str().as_bytes(), |host| host.as_bytes());
    if hosts.next().is_some() {
        return Err(NetError::new(ErrorKind::Invalid, "a request has one host header"));
    }
    put_line(out, b"host", host);
    Ok(())
}

fn put_headers(out: &mut Vec<u8>, headers: &HeaderMap, forward: Option<&Proxy>) {
    let authorization = forward.and_then(|proxy| proxy.authorization.as_ref());
    for (name, value) in headers {
        let own = *name == header::HOST
            || *name == header::CONTENT_LENGTH
            || *name == header::TRANSFER_ENCODING
            || *name == header::CONNECTION
            || (authorization.is_some() && *name == header::PROXY_AUTHORIZATION);
        if !own {
            put_line(out, name.as_str().as_bytes(), value.as_bytes());
        }
    }
    if let Some(value) = authorization {
        put_line(out, b"proxy-authorization", value.as_bytes());
    }
}

// Neither a `HeaderValue` nor an `Authority` can hold a line end.
fn put_line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}
