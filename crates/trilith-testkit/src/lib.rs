//! Test harness: golden runner and event-order state machines. Only ever a dev-dependency.
