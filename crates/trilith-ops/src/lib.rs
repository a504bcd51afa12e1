//! Who may call, how much, and where it goes: keys, routing, metering.
//!
//! Nothing here does I/O, reads a clock or draws random numbers: time and randomness come in as arguments.

mod attempts;
mod health;
mod keys;
mod limit;
mod meter;
mod pattern;
mod retry;
mod route;
mod trace;

pub use attempts::{Attempts, Step};
pub use health::{Health, HealthPolicy};
pub use keys::{DEFAULT_TENANT, KeyClash, KeyEntry, KeySecret, Keys, Principal};
pub use limit::{Admission, Refusal, Slot, Slots, admit};
pub use meter::{
    CONTENT_TYPE, Call, InFlight, METRICS, Meter, Metric, MetricKind, ProviderIndex, Road, document,
};
pub use pattern::Names;
pub use retry::{RetryPolicy, Verdict, hurts_target, verdict};
pub use route::{ModelEntry, Route, Router, Target, TargetEntry};
pub use trace::{LossReport, Traces};
