//! The turn loop: history, the choice of road, the run that folds events into a response.
//!
//! This crate knows ports, never adapters, and no wire format: a client's dialect has decoded the turn before
//! it comes here, and renders the run's events afterwards.

mod carriers;
mod end;
mod envelope;
mod failover;
mod history;
mod normalize;
mod plan;
mod run;
mod start;
mod stop;

pub use failover::{Candidate, Decision, Failover};
pub use plan::{Road, plan};
pub use run::{Run, Step};
pub use start::{Request, Runtime};

#[cfg(test)]
mod tests;
