use super::*;

const POLICY: HealthPolicy = HealthPolicy { failures: 2, cool_down_ms: 100, longest_ms: 250 };

#[test]
fn failures_in_a_row_open_and_a_success_closes() {
    let health = Health::new(2, POLICY);
    health.failure(0, 10);
    health.success(0);
    health.failure(0, 20);
    assert!(health.admit(0, 20), "one failure in a row");
    health.failure(0, 30);
    assert!(!health.admit(0, 129) && !health.is_closed(0));
    assert!(health.admit(1, 30), "another target");
    assert!(health.admit(0, 130), "the trial");
    assert!(!health.admit(0, 131), "one trial at a time");
    health.success(0);
    assert!(health.admit(0, 132) && health.admit(0, 132));
}

#[test]
fn pauses_grow_to_the_longest() {
    let health = Health::new(1, POLICY);
    let mut now = 0;
    let mut pauses = Vec::new();
    for _ in 0..40 {
        health.failure(0, now);
        let start = now;
        while !health.admit(0, now) {
            now += 1;
        }
        pauses.push(now - start);
    }
    assert_eq!(pauses[..5], [0, 100, 200, 250, 250]);
    assert_eq!(pauses.last(), Some(&250));
}

#[test]
fn a_trial_without_outcome_delays_the_next_by_a_pause() {
    let health = Health::new(1, POLICY);
    health.failure(0, 0);
    health.failure(0, 0);
    assert!(health.admit(0, 100));
    assert!(!health.admit(0, 199));
    assert!(health.admit(0, 200));
}

#[test]
fn an_unknown_target_is_admitted() {
    let health = Health::new(0, POLICY);
    health.failure(7, 0);
    health.success(7);
    assert!(health.admit(7, 0) && health.is_closed(7));
}
