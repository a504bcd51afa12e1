//! Places against real sockets.

mod answers;
mod errors;
mod making;
mod requests;
mod server;
