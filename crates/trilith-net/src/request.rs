//! One request, as the caller states it.

use std::fmt;
use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};

use crate::config::Timeouts;

/// A request with a complete body, so that it can be sent again.
#[derive(Clone)]
pub struct Request {
    /// The method; `CONNECT` is refused.
    pub method: Method,
    /// Absolute `http` or `https` URL, without userinfo.
    pub uri: Uri,
    /// Headers as they go out. `host` is filled in when absent; `content-length`,
    /// `transfer-encoding` and `connection` are the client's own and overwritten.
    pub headers: HeaderMap,
    /// The body; empty for none.
    pub body: Bytes,
    /// Where to connect to instead of where the host's name leads, past all proxies; the name stays what the server
    /// is asked for and has to prove. For a client that keeps no idle connections.
    pub address: Option<SocketAddr>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Whether to offer compression (`accept-encoding: gzip, br, zstd, deflate`), unless
    /// the headers already say something. Compressed answers are decoded in either case.
    pub accept_compressed: bool,
}

impl Request {
    /// A request with default time limits that does not ask for compression.
    pub fn new(method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Self {
        let timeouts = Timeouts::default();
        Self { method, uri, headers, body, address: None, timeouts, accept_compressed: false }
    }
}

impl fmt::Debug for Request {
    // Headers, path and query may carry keys; userinfo is cut off the host.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("host", &self.uri.host())
            .field("headers", &self.headers.len())
            .field("body_bytes", &self.body.len())
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}
