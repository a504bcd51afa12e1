//! The routing policy of `trilith-ops`, as the runtime asks for it.

use std::{collections::HashSet, time::Duration};

use trilith_core::{BoxFuture, Error};
use trilith_ops::{Attempts, Route, Step};
use trilith_runtime::Failover;

use crate::app::App;

/// The tries of one request.
pub(crate) struct RouteFailover<'a> {
    attempts: Attempts<'a>,
    app: &'a App,
}

impl<'a> RouteFailover<'a> {
    pub(crate) fn new(app: &'a App, route: &'a Route) -> Self {
        Self { attempts: Attempts::new(route, &app.health, app.retry), app }
    }

    fn now_ms(&self) -> u64 {
        self.app.runtime.clock.monotonic_us() / 1000
    }
}

impl Failover for RouteFailover<'_> {
    fn only(&mut self, candidates: &HashSet<usize>) {
        self.attempts.only(candidates);
    }

    fn first(&mut self) -> Option<usize> {
        let now = self.now_ms();
        self.attempts.first(now)
    }

    fn answered(&mut self, candidate: usize) {
        self.attempts.succeeded(candidate);
    }

    fn failed(&mut self, candidate: usize, error: &Error) -> Option<(usize, Duration)> {
        self.app.meter.error(error);
        let random = self.app.runtime.ids.random();
        let random = random.iter().take(8).fold(0, |all, byte| (all << 8) | u64::from(*byte));
        match self.attempts.failed(candidate, error, self.now_ms(), random) {
            Step::Try { target, wait } => Some((target, wait)),
            Step::GiveUp => None,
        }
    }

    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(time))
    }
}
