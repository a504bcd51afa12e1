//! What is counted and timed, and its OpenMetrics text.
//!
//! Label values come from fixed sets and from the configuration only, so the number of series is bounded by
//! construction. On the hot path a metric is found by small numbers and changed by one atomic operation (a
//! histogram: one short lock).

mod catalogue;
mod series;

use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use trilith_core::{DialectId, Disposition, Error, ErrorKind, ErrorOrigin, Loss, Usage};

use catalogue::{DURATION, ERRORS, FIRST_BYTE, IN_FLIGHT, LOSSES, REQUESTS, TOKENS};
pub use catalogue::{METRICS, Metric, MetricKind, document};
use series::{Rare, Series};

/// Content type of [`Meter::render`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Which road a request took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Road {
    /// Trilith answered by itself.
    None,
    /// Bytes passed untouched.
    Passthrough,
    /// The request was decoded, run and encoded.
    Runtime,
}

impl Road {
    const ALL: [Self; 3] = [Self::None, Self::Passthrough, Self::Runtime];

    /// The label's value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Passthrough => "passthrough",
            Self::Runtime => "runtime",
        }
    }
}

/// A provider's number in the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderIndex(usize);

/// What is known of a request when it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The caller's dialect.
    pub dialect: DialectId,
    /// Who answered.
    pub provider: ProviderIndex,
    /// The road taken.
    pub road: Road,
}

/// Values of the label `status`; the position is the status divided by 100.
const STATUSES: [&str; 6] = ["cancelled", "1xx", "2xx", "3xx", "4xx", "5xx"];
/// Values of the label `direction`.
const DIRECTIONS: [&str; 5] = ["input", "output", "cache_read", "cache_write", "reasoning"];
/// A provider or field that is not one of the known.
const NONE: &str = "none";
const OTHER: &str = "other";

const FIRST_BYTE_BUCKETS: &[f64] =
    &[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];
const DURATION_BUCKETS: &[f64] =
    &[0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0];

fn first_byte_histogram() -> Histogram {
    Histogram::new(FIRST_BYTE_BUCKETS.iter().copied())
}

fn duration_histogram() -> Histogram {
    Histogram::new(DURATION_BUCKETS.iter().copied())
}

/// All metrics of a process.
#[derive(Debug)]
pub struct Meter {
    registry: Registry,
    /// Names of the providers; the one after the last is `none`.
    providers: Vec<String>,
    /// Top-level request fields, sorted; any other is `other`.
    fields: Vec<&'static str>,
    in_flight: Gauge,
    requests: Series<Counter>,
    first_byte: Series<Histogram>,
    duration: Series<Histogram>,
    tokens: Series<Counter>,
    losses: Rare<(DialectId, DialectId, &'static str, Disposition), Counter>,
    errors: Rare<(ErrorOrigin, ErrorKind), Counter>,
}

impl Meter {
    /// A meter for the configured providers (the embedded model among them, if there is one). `fields` are the
    /// names of top-level request fields that losses are told apart by.
    pub fn new<'a>(
        providers: impl IntoIterator<Item = &'a str>,
        fields: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let mut registry = Registry::default();
        let mut providers: Vec<String> = providers.into_iter().map(str::to_owned).collect();
        providers.push(NONE.to_owned());
        let mut fields: Vec<&'static str> = fields.into_iter().collect();
        fields.sort_unstable();
        let in_flight = Gauge::default();
        registry.register(IN_FLIGHT.name, IN_FLIGHT.help, in_flight.clone());
        let calls = DialectId::ALL.len() * Road::ALL.len() * providers.len();
        Self {
            requests: Series::register(&mut registry, &REQUESTS, calls * STATUSES.len(), Counter::default),
            first_byte: Series::register(&mut registry, &FIRST_BYTE, calls, first_byte_histogram),
            duration: Series::register(&mut registry, &DURATION, calls, duration_histogram),
            tokens: Series::register(
                &mut registry,
                &TOKENS,
                DIRECTIONS.len() * providers.len(),
                Counter::default,
            ),
            losses: Rare::register(&mut registry, &LOSSES, Counter::default),
            errors: Rare::register(&mut registry, &ERRORS, Counter::default),
            registry,
            providers,
            fields,
            in_flight,
        }
    }

    /// The number of a provider; that of `none` for a name that is not configured.
    pub fn provider(&self, name: &str) -> ProviderIndex {
        let last = self.providers.len().saturating_sub(1);
        ProviderIndex(self.providers.iter().position(|other| other == name).unwrap_or(last))
    }

    /// The number that stands for no provider.
    pub fn no_provider(&self) -> ProviderIndex {
        self.provider(NONE)
    }

    /// A request begins; it is in flight until the guard is dropped.
    pub fn begin(&self) -> InFlight {
        self.in_flight.inc();
        InFlight { gauge: self.in_flight.clone() }
    }

    /// The first byte of an answer left, that long after the request's headers.
    pub fn first_byte(&self, call: Call, after: Duration) {
        self.first_byte.with(
            self.call_index(call),
            || self.call_labels(call),
            |metric| metric.observe(after.as_secs_f64()),
        );
    }

    /// A request ended with an HTTP status, or with 0 when the caller left before there was one.
    pub fn finished(&self, call: Call, status: u16, duration: Duration) {
        let class = usize::from(status / 100).min(STATUSES.len() - 1);
        let index = self.call_index(call) * STATUSES.len() + class;
        let labels = || {
            let [dialect, provider, road] = self.call_labels(call);
            [dialect, provider, STATUSES.get(class).copied().unwrap_or(OTHER), road]
        };
        self.requests.with(index, labels, |metric| {
            metric.inc();
        });
        self.duration.with(
            self.call_index(call),
            || self.call_labels(call),
            |metric| metric.observe(duration.as_secs_f64()),
        );
    }

    /// Tokens of an answer.
    pub fn usage(&self, provider: ProviderIndex, usage: &Usage) {
        let counts = [
            usage.input_total,
            usage.output_total,
            usage.cache_read,
            usage.cache_write.total(),
            usage.reasoning,
        ];
        for (direction, (name, count)) in DIRECTIONS.into_iter().zip(counts).enumerate() {
            if count == 0 {
                continue;
            }
            let index = provider.0 * DIRECTIONS.len() + direction;
            self.tokens.with(
                index,
                || [name, self.provider_name(provider)],
                |metric| {
                    metric.inc_by(count);
                },
            );
        }
    }

    /// What a request lost on its way from one dialect to another.
    pub fn losses(&self, from: DialectId, to: DialectId, losses: &[Loss]) {
        for loss in losses {
            let field = self.field(&loss.path);
            let labels = [from.name(), to.name(), field, loss.disposition.name()];
            self.losses.with((from, to, field, loss.disposition), labels, |metric| {
                metric.inc();
            });
        }
    }

    /// An error was given to a caller.
    pub fn error(&self, error: &Error) {
        let origin = match error.origin {
            ErrorOrigin::Caller => "caller",
            ErrorOrigin::Upstream => "upstream",
            ErrorOrigin::Trilith => "trilith",
        };
        self.errors.with((error.origin, error.kind), [origin, error.kind.name()], |metric| {
            metric.inc();
        });
    }

    /// The OpenMetrics text of everything measured so far.
    pub fn render(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.registry) {
            Ok(()) => text,
            // Writing to a String does not fail; should a metric not encode, half a page would be misread.
            Err(_) => "# EOF\n".to_owned(),
        }
    }

    fn call_index(&self, call: Call) -> usize {
        let dialect = DialectId::ALL.iter().position(|other| *other == call.dialect).unwrap_or_default();
        let road = Road::ALL.iter().position(|other| *other == call.road).unwrap_or_default();
        (dialect * Road::ALL.len() + road) * self.providers.len() + call.provider.0
    }

    fn call_labels(&self, call: Call) -> [&str; 3] {
        [call.dialect.name(), self.provider_name(call.provider), call.road.name()]
    }

    fn provider_name(&self, provider: ProviderIndex) -> &str {
        self.providers.get(provider.0).map_or(NONE, String::as_str)
    }

    /// The top-level field of a path, if it is a known one.
    fn field(&self, path: &str) -> &'static str {
        let top = path.split(['.', '[']).next().unwrap_or_default();
        let found = self.fields.binary_search(&top).ok().and_then(|at| self.fields.get(at));
        found.copied().unwrap_or(OTHER)
    }
}

/// A request in work; dropping it ends the count.
#[derive(Debug)]
pub struct InFlight {
    gauge: Gauge,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

#[cfg(test)]
mod tests;
