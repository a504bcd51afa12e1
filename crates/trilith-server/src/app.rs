//! What every request needs; made once by the binary.

use std::{collections::HashMap, sync::Arc, time::Duration};

use trilith_core::Upstream;
use trilith_ops::{Health, Keys, Meter, RetryPolicy, Router, Slots, Traces};
use trilith_runtime::Runtime;

use crate::offered::Offered;

/// Bounds on what a client may send and hold.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// Nesting of a request body.
    pub depth: usize,
    /// Client connections at a time.
    pub connections: usize,
    /// Time for a request's head, and the longest silence within its body.
    pub header_timeout: Duration,
    /// Time that running requests get when the process is asked to end.
    pub drain_timeout: Duration,
}

/// What every request needs.
pub struct App {
    /// The loop and its ports.
    pub runtime: Runtime,
    /// Who may call.
    pub keys: Keys,
    /// Whether no key is configured: then only this machine may call, and no web page.
    pub open: bool,
    /// Where a model's requests go.
    pub router: Router,
    /// The places by their configured names.
    pub upstreams: HashMap<Arc<str>, Arc<dyn Upstream>>,
    /// Which models the places have, as far as they tell.
    pub offered: Offered,
    /// Which targets are well.
    pub health: Health,
    /// How often and how long a request is tried again.
    pub retry: RetryPolicy,
    /// How many requests may run.
    pub slots: Slots,
    /// Counts and times.
    pub meter: Meter,
    /// What recent requests lost.
    pub traces: Traces,
    /// Bounds.
    pub limits: Limits,
}
