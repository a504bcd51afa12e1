//! The series of one metric, found without building label texts.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, OnceLock, PoisonError};

use prometheus_client::encoding::EncodeMetric;
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::{Registry, Unit};

use super::catalogue::{Metric, MetricKind};

type Labels = Vec<(&'static str, String)>;

/// What a series can be.
pub(super) trait Measure:
    EncodeMetric + TypedMetric + Clone + fmt::Debug + Send + Sync + 'static
{
}

impl<M: EncodeMetric + TypedMetric + Clone + fmt::Debug + Send + Sync + 'static> Measure for M {}

/// Registers a metric of the catalogue.
fn register<M: Measure>(registry: &mut Registry, metric: &Metric, make: fn() -> M) -> Family<Labels, M> {
    let family = Family::new_with_constructor(make);
    match metric.kind {
        MetricKind::Seconds => {
            registry.register_with_unit(metric.name, metric.help, Unit::Seconds, family.clone());
        }
        MetricKind::Counter | MetricKind::Gauge => {
            registry.register(metric.name, metric.help, family.clone());
        }
    }
    family
}

fn labels<const N: usize>(metric: &Metric, values: [&str; N]) -> Labels {
    metric.labels.iter().copied().zip(values.map(str::to_owned)).collect()
}

/// Series found by a number. A series comes to be when it is first used; from then on it is found without a lock.
#[derive(Debug)]
pub(super) struct Series<M> {
    metric: &'static Metric,
    family: Family<Labels, M>,
    found: Box<[OnceLock<M>]>,
}

impl<M: Measure> Series<M> {
    pub(super) fn register(
        registry: &mut Registry,
        metric: &'static Metric,
        count: usize,
        make: fn() -> M,
    ) -> Self {
        let family = register(registry, metric, make);
        Self { metric, family, found: (0..count).map(|_| OnceLock::new()).collect() }
    }

    /// The series of a number below the count; `values` are its labels' values in the order of the catalogue.
    pub(super) fn with<'v, const N: usize>(
        &self,
        index: usize,
        values: impl FnOnce() -> [&'v str; N],
        change: impl FnOnce(&M),
    ) {
        let Some(place) = self.found.get(index) else { return };
        change(place.get_or_init(|| self.family.get_or_create_owned(&labels(self.metric, values()))));
    }
}

/// Series found by a key, under one lock, for what does not happen in every request.
#[derive(Debug)]
pub(super) struct Rare<K, M> {
    metric: &'static Metric,
    family: Family<Labels, M>,
    found: Mutex<HashMap<K, M>>,
}

impl<K: Eq + Hash, M: Measure> Rare<K, M> {
    pub(super) fn register(registry: &mut Registry, metric: &'static Metric, make: fn() -> M) -> Self {
        Self { metric, family: register(registry, metric, make), found: Mutex::default() }
    }

    /// The series of a key; the keys come from fixed sets, so that their number is bounded.
    pub(super) fn with<const N: usize>(&self, key: K, values: [&str; N], change: impl FnOnce(&M)) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || self.family.get_or_create_owned(&labels(self.metric, values));
        change(found.entry(key).or_insert_with(make));
    }
}
