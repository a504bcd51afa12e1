//! The metrics as data: what is registered, and the page that explains it.

use std::fmt::Write as _;

/// One metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name without the endings that the kind adds.
    pub name: &'static str,
    /// What it is.
    pub kind: MetricKind,
    /// Names of its labels, in order. Their values come from fixed sets and from the configuration, never from
    /// a caller.
    pub labels: &'static [&'static str],
    /// What it says, one sentence without its full stop.
    pub help: &'static str,
}

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows; shown with `_total`.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Seconds in buckets; shown with `_seconds`.
    Seconds,
}

impl Metric {
    /// The name as it is scraped.
    pub fn scraped(&self) -> String {
        match self.kind {
            MetricKind::Counter => format!("{}_total", self.name),
            MetricKind::Gauge => self.name.to_owned(),
            MetricKind::Seconds => format!("{}_seconds", self.name),
        }
    }
}

pub(super) static REQUESTS: Metric = Metric {
    name: "trilith_requests",
    kind: MetricKind::Counter,
    labels: &["dialect", "provider", "status", "road"],
    help: "Requests that ended, by the caller's dialect, the provider that answered (none: Trilith itself), the \
           class of the status (cancelled: the caller left first) and the road taken",
};

pub(super) static IN_FLIGHT: Metric = Metric {
    name: "trilith_requests_in_flight",
    kind: MetricKind::Gauge,
    labels: &[],
    help: "Requests in work",
};

pub(super) static FIRST_BYTE: Metric = Metric {
    name: "trilith_time_to_first_byte",
    kind: MetricKind::Seconds,
    labels: &["dialect", "provider", "road"],
    help: "Time from the end of a request's headers to the first byte of its answer's body",
};

pub(super) static DURATION: Metric = Metric {
    name: "trilith_request_duration",
    kind: MetricKind::Seconds,
    labels: &["dialect", "provider", "road"],
    help: "Time from the end of a request's headers to the end of its answer",
};

pub(super) static TOKENS: Metric = Metric {
    name: "trilith_tokens",
    kind: MetricKind::Counter,
    labels: &["direction", "provider"],
    help: "Tokens as upstreams count them; cache_read and cache_write are part of input, reasoning is part of \
           output",
};

pub(super) static LOSSES: Metric = Metric {
    name: "trilith_losses",
    kind: MetricKind::Counter,
    labels: &["from", "to", "field", "disposition"],
    help: "Fields that a translation could not carry as written, by the caller's dialect, the upstream's, the \
           top-level field and what was done",
};

pub(super) static ERRORS: Metric = Metric {
    name: "trilith_errors",
    kind: MetricKind::Counter,
    labels: &["origin", "kind"],
    help: "Errors given to callers, by who is to blame and by class",
};

/// Every metric, in the order of the page.
pub static METRICS: [&Metric; 7] = [&REQUESTS, &IN_FLIGHT, &FIRST_BYTE, &DURATION, &TOKENS, &LOSSES, &ERRORS];

/// The reference of all metrics, as Markdown.
pub fn document() -> String {
    let mut page = String::from("| metric | labels | meaning |\n|---|---|---|\n");
    for metric in METRICS {
        let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(page, "| `{}` | {} | {} |", metric.scraped(), labels.join(", "), metric.help);
    }
    page
}
