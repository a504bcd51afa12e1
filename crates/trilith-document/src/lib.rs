//! Text out of documents.
//!
//! Documents come from strangers, and libraries that read them panic, loop and grow on some of them. So they are read
//! in worker processes: the same program, started again, without environment or files, held to a share of memory and
//! of processor time, and ended when it takes too long. What a worker does is [`worker`]; who starts one is
//! [`PdfWorkers`].

#![cfg(unix)]

mod limits;
mod spawn;
mod verdict;
pub mod worker;

pub use spawn::{Limits, PdfWorkers};

#[cfg(test)]
mod tests;
