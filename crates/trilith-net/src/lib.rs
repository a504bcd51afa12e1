//! The one outgoing HTTP client: pool, TLS, proxies, timeouts, decompression with caps.
//!
//! The client speaks HTTP/1.1 only (TLS offers just that protocol by ALPN), by a codec of
//! its own: requests are complete before they are sent and responses are passed on in the
//! pieces they arrive in, so a general engine's tasks, channels and frames between the two
//! cost several times the work itself, most of all for streams of small chunks. Heads are
//! parsed by `httparse`, and a message that RFC 9112 leaves open to two readings is refused.
//! The server side is no second codec: it stays with the one HTTP server stack.
//!
//! One request
//! uses one connection at a time, and the task that sends the request also drives the
//! connection: no task is started per connection, so no wake-up crosses tasks. A
//! connection whose response was read to its end goes back to the pool; dropping a
//! [`Body`] before its end closes its connection, which is how an upstream is cancelled.
//!
//! Redirects, cookies and retries belong to the caller, with one exception: a request on
//! a pooled connection that the server closed before answering is sent once more on a
//! fresh one.
//!
//! Connections and timers belong to the tokio runtime they were made on, so a [`Client`]
//! must be used within one runtime.

mod answer;
mod body;
mod client;
mod clock;
mod config;
mod connect;
mod decode;
mod egress;
mod error;
mod exchange;
mod framing;
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod link;
mod outgoing;
mod pool;
mod proxy;
mod request;
mod stream;
mod tls;
mod wire;
mod zstd;

#[cfg(test)]
mod tests;

pub use body::Body;
pub use client::{Client, Response};
pub use config::{ClientConfig, DecodeCaps, PoolLimits, Roots, Timeouts};
pub use egress::{FetchRules, Fetcher};
pub use error::{ErrorKind, NetError, TimeoutPhase};
pub use headers::strip_hop_by_hop;
pub use pool::PoolStats;
pub use proxy::{NoProxy, Proxies, Proxy};
pub use request::Request;
