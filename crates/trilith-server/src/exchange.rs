//! One request from its admission to the last byte of its answer: what is measured and reported about it.

use std::{sync::Arc, time::Duration};

use trilith_core::{DialectId, Error, Loss, Pin, Usage};
use trilith_dialect::dialect;
use trilith_ops::{Admission, Call, InFlight, ProviderIndex, Road};

use crate::{app::App, losses};

/// One request on its way. Dropped before [`Exchange::finished`], it counts as left by its caller.
pub(crate) struct Exchange {
    pub(crate) app: Arc<App>,
    pub(crate) tenant: Arc<str>,
    pub(crate) request_id: Arc<str>,
    call: Call,
    upstream: Option<DialectId>,
    pin: Option<Arc<Pin>>,
    started_us: u64,
    first_byte: bool,
    status: Option<u16>,
    losses: Vec<Loss>,
    _running: InFlight,
    _room: Admission,
}

impl Exchange {
    pub(crate) fn new(
        app: &Arc<App>,
        client: DialectId,
        tenant: Arc<str>,
        request_id: Arc<str>,
        room: Admission,
    ) -> Self {
        Self {
            call: Call { dialect: client, provider: app.meter.no_provider(), road: Road::None },
            upstream: None,
            pin: None,
            started_us: app.runtime.clock.monotonic_us(),
            first_byte: false,
            status: None,
            losses: Vec::new(),
            _running: app.meter.begin(),
            _room: room,
            app: Arc::clone(app),
            tenant,
            request_id,
        }
    }

    /// The upstream that answers, and the road it is reached by.
    pub(crate) fn answered_by(&mut self, provider: &str, dialect: Option<DialectId>, road: Road) {
        self.call.provider = self.app.meter.provider(provider);
        self.call.road = road;
        self.upstream = dialect;
    }

    /// The rule that held the request to local targets.
    pub(crate) fn held_by(&mut self, pin: Option<Arc<Pin>>) {
        self.pin = pin;
    }

    /// The first byte of the answer is there. Only the first time counts.
    pub(crate) fn first_byte(&mut self) {
        if !self.first_byte {
            self.first_byte = true;
            self.app.meter.first_byte(self.call, self.elapsed());
        }
    }

    /// The tokens of the answer.
    pub(crate) fn usage(&self, usage: &Usage) {
        let provider: ProviderIndex = self.call.provider;
        self.app.meter.usage(provider, usage);
    }

    /// What could not be carried; everything at once, at the end. The caller reads of its own fields.
    pub(crate) fn losses(&mut self, losses: &[Loss]) {
        self.losses = losses::spelled(dialect(self.call.dialect), losses);
    }

    /// Whatever went wrong, for the counts and the log. The log says what happened, never what was said.
    pub(crate) fn error(&self, error: &Error) {
        self.app.meter.error(error);
        let cause = error.source.as_deref().map(tracing::field::display);
        match error.origin {
            trilith_core::ErrorOrigin::Caller => {
                let (kind, code) = (error.kind.name(), error.code.as_deref());
                tracing::debug!(request = %self.request_id, kind, code, cause, "request refused");
            }
            origin => tracing::warn!(
                request = %self.request_id,
                kind = error.kind.name(),
                ?origin,
                status = error.upstream.as_ref().and_then(|fault| fault.status),
                cause,
                "request failed"
            ),
        }
    }

    /// The whole answer was handed over.
    pub(crate) fn finished(&mut self, status: u16) {
        self.status = Some(status);
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.app.runtime.clock.monotonic_us().saturating_sub(self.started_us))
    }

    /// Makes the report readable; before the last byte leaves, so that a caller may ask at once.
    pub(crate) fn publish_losses(&mut self) {
        if self.losses.is_empty() {
            return;
        }
        let losses = std::mem::take(&mut self.losses);
        let to = self.upstream.unwrap_or(self.call.dialect);
        self.app.meter.losses(self.call.dialect, to, &losses);
        self.app.traces.record(&self.tenant, &self.request_id, losses);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.publish_losses();
        let duration = self.elapsed();
        self.app.meter.finished(self.call, self.status.unwrap_or(0), duration);
        tracing::debug!(
            request = %self.request_id,
            dialect = self.call.dialect.name(),
            road = self.call.road.name(),
            status = self.status,
            local_only = self.pin.as_deref().map(tracing::field::display),
            ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            "request done"
        );
    }
}
