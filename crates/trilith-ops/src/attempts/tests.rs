use proptest::prelude::*;
use trilith_core::{ErrorKind, ErrorOrigin, Retry, UpstreamFault};

use super::*;
use crate::health::HealthPolicy;
use crate::route::{ModelEntry, Router, TargetEntry};

fn router(targets: &[(&str, u32)]) -> Router {
    let targets = targets.iter().enumerate().map(|(index, (provider, retries))| TargetEntry {
        provider: (*provider).to_owned(),
        model: format!("m{index}"),
        retries: *retries,
        local: false,
    });
    let entry =
        ModelEntry { name: "m".to_owned(), targets: targets.collect(), strict: false, local_only: false };
    Router::new([entry])
}

fn fault(status: u16) -> Error {
    let mut error = Error::new(ErrorKind::UpstreamBroken, ErrorOrigin::Upstream, "x");
    error.upstream = Some(Box::new(UpstreamFault { status: Some(status), code: None, kind: None }));
    error
}

fn limited(seconds: u64) -> Error {
    Error { retry: Retry::Same(Some(Duration::from_secs(seconds))), ..fault(429) }
}

/// Lets every try fail with the error that `error` gives for its target; the targets in order, and the pauses.
fn run(router: &Router, health: &Health, error: impl Fn(usize) -> Error) -> (Vec<usize>, Vec<Duration>) {
    let route = router.resolve("m").unwrap();
    let mut attempts = Attempts::new(&route, health, RetryPolicy::default());
    let (mut tried, mut pauses) = (Vec::new(), Vec::new());
    let mut at = attempts.first(0).unwrap();
    loop {
        tried.push(at);
        match attempts.failed(at, &error(at), 0, u64::MAX) {
            Step::GiveUp => return (tried, pauses),
            Step::Try { target, wait } => {
                at = target;
                pauses.push(wait);
            }
        }
        assert!(tried.len() < 100, "endless");
    }
}

fn healthy() -> Health {
    Health::new(10, HealthPolicy { failures: 1000, ..HealthPolicy::default() })
}

#[test]
fn falls_over_at_once_and_comes_back_after_a_pause() {
    let (tried, pauses) = run(&router(&[("a", 1), ("b", 1)]), &healthy(), |_| fault(500));
    assert_eq!(tried, [0, 1, 0, 1]);
    assert!(pauses[0].is_zero() && !pauses[1].is_zero() && pauses[2].is_zero());
}

#[test]
fn a_single_target_is_tried_as_often_as_it_says() {
    let (tried, pauses) = run(&router(&[("a", 2)]), &healthy(), |_| fault(503));
    assert_eq!(tried, [0, 0, 0]);
    assert!(pauses[0] >= Duration::from_millis(250) && pauses[1] >= Duration::from_millis(500));
    assert_eq!(run(&router(&[("a", 0)]), &healthy(), |_| fault(503)).0, [0]);
}

#[test]
fn what_no_target_can_mend_ends_at_once() {
    assert_eq!(run(&router(&[("a", 2), ("b", 2)]), &healthy(), |_| fault(400)).0, [0]);
}

#[test]
fn a_bad_credential_skips_the_providers_other_targets() {
    let (tried, _) =
        run(&router(&[("a", 2), ("a", 2), ("b", 0)]), &healthy(), |at| fault(if at < 2 { 401 } else { 500 }));
    assert_eq!(tried, [0, 2]);
}

#[test]
fn retry_after_is_waited_for_within_the_budget_only() {
    let (tried, pauses) =
        run(&router(&[("a", 1), ("b", 0)]), &healthy(), |at| if at == 0 { limited(7) } else { fault(500) });
    assert_eq!((tried, pauses), (vec![0, 1, 0], vec![Duration::ZERO, Duration::from_secs(7)]));
    assert_eq!(run(&router(&[("a", 1)]), &healthy(), |_| limited(600)).0, [0]);
}

#[test]
fn an_open_circuit_is_passed_over_unless_all_are_open() {
    let router = router(&[("a", 0), ("b", 0)]);
    let health = Health::new(2, HealthPolicy { failures: 1, ..HealthPolicy::default() });
    health.failure(0, 0);
    assert_eq!(run(&router, &health, |_| fault(500)).0[0], 1);
    let route = router.resolve("m").unwrap();
    let mut attempts = Attempts::new(&route, &health, RetryPolicy::default());
    assert_eq!(attempts.first(0), Some(0), "both are open now");
    attempts.succeeded(0);
    assert!(health.is_closed(0) && !health.is_closed(1));
}

#[test]
fn an_empty_route_has_no_first_target() {
    let route = Route { name: "m".into(), targets: Vec::new(), strict: false, pin: None };
    let health = healthy();
    assert_eq!(Attempts::new(&route, &health, RetryPolicy::default()).first(0), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn never_more_tries_than_allowed_nor_longer_than_the_budget(
        retries in prop::collection::vec(0u32..4, 1..5),
        statuses in prop::collection::vec(prop::sample::select(vec![400u16, 401, 404, 429, 500, 503]), 5),
        after in prop::option::of(0u64..30),
    ) {
        let targets: Vec<(&str, u32)> = retries.iter().map(|r| ("p", *r)).collect();
        let error = |at: usize| match after {
            Some(after) if statuses[at] == 429 => limited(after),
            _ => fault(statuses[at]),
        };
        let (tried, pauses) = run(&router(&targets), &healthy(), error);
        for (target, retries) in retries.iter().enumerate() {
            let tries = u32::try_from(tried.iter().filter(|t| **t == target).count()).unwrap();
            prop_assert!(tries <= retries + 1);
        }
        prop_assert!(pauses.iter().sum::<Duration>() <= RetryPolicy::default().budget);
    }
}

#[test]
fn only_what_is_left_is_tried_even_when_its_circuit_is_open() {
    let router = router(&[("a", 3), ("b", 1), ("c", 3), ("d", 1)]);
    let route = router.resolve("m").unwrap();
    let health = Health::new(10, HealthPolicy { failures: 1, ..HealthPolicy::default() });
    for only in [HashSet::from([1, 3]), HashSet::from([3])] {
        let mut attempts = Attempts::new(&route, &health, RetryPolicy::default());
        attempts.only(&only);
        let mut at = attempts.first(0).unwrap();
        let mut tried = HashSet::from([at]);
        while let Step::Try { target, .. } = attempts.failed(at, &fault(500), 0, 0) {
            at = target;
            tried.insert(at);
        }
        assert_eq!(tried, only);
    }
    let mut none = Attempts::new(&route, &health, RetryPolicy::default());
    none.only(&HashSet::new());
    assert_eq!(none.first(0), None);
}
