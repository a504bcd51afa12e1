//! Test harness: golden runner and event-order state machines. Only ever a dev-dependency.

pub mod golden;
pub mod order;
pub mod pipeline;
pub mod strategy;
