//! The one place of this crate that reads a clock.

use tokio::time::Instant;

/// The runtime's monotonic time, the same that its timers run on.
///
/// Pool ages and deadlines must agree with tokio's timers (also when a test pauses them),
/// so a clock from outside would not do.
#[expect(
    clippy::disallowed_methods,
    reason = "deadlines are compared with tokio's own timers; nothing here reaches stored or sent data"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
