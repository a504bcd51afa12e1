//! The choice of road: pass the bytes untouched, or decode, run and encode.

use trilith_core::DialectId;

/// How a request reaches its upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Road {
    /// The bytes pass untouched but for the model's name.
    Passthrough,
    /// The request is decoded, run and encoded again.
    Runtime,
}

/// The road for a request from a `client` of that dialect toward an `upstream` of that dialect (`None` for
/// one without a wire). `stateful` requests use state that Trilith holds; an `envelope` in the body must be
/// opened before anything leaves.
pub fn plan(client: DialectId, upstream: Option<DialectId>, stateful: bool, envelope: bool) -> Road {
    if upstream == Some(client) && !stateful && !envelope { Road::Passthrough } else { Road::Runtime }
}
