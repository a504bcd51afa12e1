use proptest::prelude::*;

use super::*;

fn losses(count: usize) -> Vec<Loss> {
    (0..count).map(|index| Loss::warn(format!("input[{index}]"), "not said there")).collect()
}

#[test]
fn a_report_is_its_tenants_own() {
    let traces = Traces::default();
    traces.record("a", "req_1", losses(2));
    traces.record("a", "req_2", Vec::new());
    assert_eq!(traces.get("a", "req_1").unwrap().losses, losses(2));
    assert!(traces.get("a", "req_2").unwrap().losses.is_empty(), "no loss is an answer");
    assert!(traces.get("b", "req_1").is_none() && traces.get("a", "req_3").is_none());
}

#[test]
fn the_oldest_make_room_by_number_and_by_bytes() {
    let traces = Traces::new(3, usize::MAX);
    for index in 0..5 {
        traces.record("t", &index.to_string(), losses(1));
    }
    assert!(traces.get("t", "1").is_none() && traces.get("t", "2").is_some());

    let traces = Traces::new(usize::MAX, 2_000);
    for index in 0..100 {
        traces.record("t", &index.to_string(), losses(2));
    }
    assert!(traces.get("t", "99").is_some() && traces.get("t", "90").is_none());
    traces.record("t", "huge", losses(500));
    assert!(traces.get("t", "huge").is_none(), "larger than everything allowed");
}

#[test]
fn an_id_recorded_again_has_its_newest_report() {
    let traces = Traces::new(2, usize::MAX);
    for count in [1, 2, 3] {
        traces.record("t", "r", losses(count));
    }
    assert_eq!(traces.get("t", "r").unwrap().losses.len(), 3);
    traces.record("t", "s", losses(0));
    assert!(traces.get("t", "r").is_some());
    traces.record("t", "u", losses(0));
    assert!(traces.get("t", "r").is_none());
}

#[test]
fn ten_thousand_losses_are_counted_not_kept() {
    let traces = Traces::default();
    traces.record("t", "r", losses(10_000));
    let report = traces.get("t", "r").unwrap();
    assert_eq!((report.losses.len(), report.omitted), (1000, 9000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn map_and_queue_agree_and_stay_within_bounds(calls in prop::collection::vec((0u8..20, 0usize..6), 0..60)) {
        let traces = Traces::new(7, 4_000);
        for (id, count) in calls {
            traces.record("t", &id.to_string(), losses(count));
            let ring = traces.ring();
            let current = ring.order.iter().filter(|entry| ring.reports[&entry.key].0 == entry.number).count();
            prop_assert_eq!(current, ring.reports.len());
            prop_assert_eq!(ring.order.iter().map(|entry| entry.bytes).sum::<usize>(), ring.bytes);
            prop_assert!(ring.order.len() <= 7 && ring.bytes <= 4_000);
        }
    }
}
