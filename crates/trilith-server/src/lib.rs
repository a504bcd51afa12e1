//! The HTTP surface: listening, admission, one file per API, streams to the client.
//!
//! A handler extracts, calls and writes; what the bytes mean is the dialects' business, what happens is the
//! runtime's, and who may ask is decided by `trilith-ops`.

mod admin;
mod admit;
mod answer;
mod api;
mod app;
mod body;
mod exchange;
mod failover;
mod listen;
mod losses;
mod offered;
mod percent;
mod query;
mod relay;
mod route;
mod stream;
mod workers;

pub use app::{App, Limits};
pub use listen::{Listener, serve};
pub use offered::Offered;
pub use workers::Workers;
