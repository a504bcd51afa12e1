//! What can go wrong between a request and the end of its response.

use std::error::Error;
use std::fmt;
use std::io;

/// Which of the four limits of [`Timeouts`](crate::Timeouts) ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutPhase {
    /// Resolving, connecting, the proxy's answer and the TLS handshake together.
    Connect,
    /// From sending the request to the end of the response head.
    FirstByte,
    /// The wait for the next bytes of a body.
    Idle,
    /// The whole exchange.
    Total,
}

/// The class of a [`NetError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request or the configuration cannot be used as it is (URL scheme, host, proxy
    /// URL, certificate file); nothing left this machine.
    Invalid,
    /// The host name has no address.
    Resolve,
    /// No address of the host accepted a TCP connection.
    Connect,
    /// The TLS handshake or the certificate check failed.
    Tls,
    /// A time limit ran out.
    Timeout(TimeoutPhase),
    /// The peer closed or reset the connection before the message was complete.
    Closed,
    /// The peer does not speak HTTP/1.1 as RFC 9112 has it.
    Protocol,
    /// The compressed body is damaged, incomplete or in an unknown coding.
    Decode,
    /// A response head or body is over its cap, before or after decompression.
    TooLarge,
    /// The proxy refused or broke the request.
    Proxy,
}

/// What is wrong with the bytes of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// They end too early.
    Closed,
    /// The head has too many bytes or lines.
    HeadTooLarge,
    /// Trailers or chunk extensions have too many bytes or lines.
    ChunksTooLarge,
    /// They are not HTTP/1.1; the text says where.
    Malformed(&'static str),
}

/// A failed exchange. `Display` is fit for logs and clients: it names the host and the
/// kind of failure, never userinfo, path, query or header values.
pub struct NetError {
    inner: Box<Inner>,
}

struct Inner {
    kind: ErrorKind,
    retryable: bool,
    text: String,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl NetError {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        Self { inner: Box::new(Inner { kind, retryable: false, text: text.into(), source: None }) }
    }

    pub(crate) fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    pub(crate) fn with_retryable(mut self, retryable: bool) -> Self {
        self.inner.retryable = retryable;
        self
    }

    pub(crate) fn timeout(phase: TimeoutPhase, peer: &str) -> Self {
        let text = match phase {
            TimeoutPhase::Connect => format!("no connection to {peer} in time"),
            TimeoutPhase::FirstByte => format!("{peer} did not begin its answer in time"),
            TimeoutPhase::Idle => format!("{peer} fell silent within its answer"),
            TimeoutPhase::Total => format!("the exchange with {peer} took too long"),
        };
        Self::new(ErrorKind::Timeout(phase), text)
    }

    /// A connection that failed below HTTP.
    pub(crate) fn from_io(error: io::Error, peer: &str) -> Self {
        // The TLS layer reports broken records as these two.
        let fault = match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Fault::Malformed("broken bytes"),
            _ => Fault::Closed,
        };
        Self::from_fault(fault, peer).caused_by(error)
    }

    /// A response that is not as it should be.
    pub(crate) fn from_fault(fault: Fault, peer: &str) -> Self {
        match fault {
            Fault::Closed => {
                Self::new(ErrorKind::Closed, format!("{peer} closed the connection before the end"))
            }
            Fault::HeadTooLarge => {
                Self::new(ErrorKind::TooLarge, format!("{peer} sent a response head over the limit"))
            }
            Fault::ChunksTooLarge => Self::new(
                ErrorKind::TooLarge,
                format!("{peer} sent trailers or chunk extensions over the limit"),
            ),
            Fault::Malformed(what) => {
                Self::new(ErrorKind::Protocol, format!("{peer} sent a malformed HTTP/1.1 response: {what}"))
            }
        }
    }

    /// The class of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.inner.kind
    }

    /// True when nothing was sent, or not one byte of an answer came back. The server may
    /// still have acted on a request whose answer never came; whether that matters is the
    /// caller's to know.
    pub fn retryable(&self) -> bool {
        self.inner.retryable
    }
}

impl fmt::Display for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.text)
    }
}

impl fmt::Debug for NetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetError")
            .field("kind", &self.inner.kind)
            .field("retryable", &self.inner.retryable)
            .field("text", &self.inner.text)
            .field("source", &self.inner.source)
            .finish()
    }
}

impl Error for NetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.inner.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}
