//! The turn loop: history, the choice of road, the run that folds events into a response.
//!
//! This crate knows ports, never adapters, and no wire format: a client's dialect has decoded the turn before
//! it comes here, and renders the run's events afterwards.

mod ask;
mod carriers;
mod count;
mod emulate;
mod end;
mod envelope;
mod failover;
mod history;
mod locality;
mod media;
mod normalize;
mod plan;
mod run;
mod sniff;
mod start;
mod weight;

pub use count::Counted;
pub use end::of as end_of;
pub use failover::{Candidate, Failover};
pub use locality::{Held, LocalTools};
pub use media::{may_need_fitting, needs_fitting};
pub use plan::{Road, plan};
pub use run::{Run, Step, Watcher};
pub use start::{Request, Runtime, relay};

#[cfg(test)]
mod tests;
