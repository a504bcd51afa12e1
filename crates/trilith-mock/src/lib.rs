//! The scripted upstream: plays a small readable file in any dialect over TCP.
//!
//! It is a real HTTP/1.1 server that works below any HTTP library, so that it can cut an answer at any byte,
//! reset the connection, stall, and send what no library would. The file's format is in `docs/mock.md`.

mod encode;
mod http;
mod play;
mod record;
mod run;
mod script;
mod serve;
mod stage;

pub use record::Recorder;
pub use run::{RunError, RunOptions, run};
pub use script::{Script, ScriptError};
pub use serve::{Options, serve};
