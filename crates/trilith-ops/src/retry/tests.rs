use proptest::prelude::*;
use trilith_core::UpstreamFault;

use super::*;

fn fault(status: u16, code: Option<&str>) -> Error {
    let mut error = Error::new(ErrorKind::UpstreamBroken, ErrorOrigin::Upstream, "x");
    error.upstream =
        Some(Box::new(UpstreamFault { status: Some(status), code: code.map(Box::from), kind: None }));
    error
}

#[test]
fn statuses() {
    for status in [408, 409, 429, 500, 502, 503, 504, 529] {
        assert_eq!(verdict(&fault(status, None)), Verdict::Again(None), "{status}");
    }
    for status in [400, 413, 422, 424] {
        assert_eq!(verdict(&fault(status, None)), Verdict::Final, "{status}");
    }
    assert_eq!(verdict(&fault(404, None)), Verdict::Elsewhere);
    assert_eq!(verdict(&fault(501, None)), Verdict::Elsewhere);
    assert_eq!(verdict(&fault(401, None)), Verdict::OtherProvider);
}

#[test]
fn money_is_never_asked_for_twice() {
    for code in MONEY {
        assert_eq!(verdict(&fault(429, Some(code))), Verdict::OtherProvider, "{code}");
    }
    assert_eq!(verdict(&fault(429, Some("rate_limit_exceeded"))), Verdict::Again(None));
}

#[test]
fn a_time_is_respected_and_a_callers_fault_is_final() {
    let after = Some(Duration::from_secs(7));
    let limited = Error { retry: Retry::Same(after), ..fault(429, None) };
    assert_eq!(verdict(&limited), Verdict::Again(after));
    let own = Error { origin: ErrorOrigin::Caller, ..fault(500, None) };
    assert_eq!(verdict(&own), Verdict::Final);
    assert_eq!(verdict(&Error::bad_request("model", "x")), Verdict::Final);
    assert_eq!(verdict(&Error::internal("x")), Verdict::Final);
}

#[test]
fn without_a_status_the_class_decides() {
    let of = |kind| verdict(&Error::new(kind, ErrorOrigin::Upstream, "x"));
    assert_eq!(of(ErrorKind::UpstreamBroken), Verdict::Again(None));
    assert_eq!(of(ErrorKind::Timeout), Verdict::Elsewhere);
    assert_eq!(of(ErrorKind::ContextTooLong), Verdict::Final);
    assert_eq!(verdict(&Error::upstream("x")), Verdict::Again(None));
}

#[test]
fn only_the_upstreams_own_failures_hurt_it() {
    assert!(hurts_target(&fault(500, None)) && hurts_target(&fault(429, None)));
    assert!(!hurts_target(&fault(400, None)));
    assert!(!hurts_target(&Error::internal("x")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn pauses_stay_between_half_and_whole(round in 0u32..100, random: u64) {
        let policy = RetryPolicy::default();
        let pause = policy.pause(round, random);
        let whole = policy.base.saturating_mul(1 << round.saturating_sub(1).min(20)).min(policy.cap);
        prop_assert!(pause >= whole / 2 && pause <= whole);
    }
}
