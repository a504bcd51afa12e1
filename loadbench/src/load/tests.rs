use super::*;
use crate::{floor_hyper, floor_write_once, upstream};
use tokio::net::TcpListener;

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

#[tokio::test]
async fn every_scenario_is_complete_directly_and_through_both_floors() {
    let (listener, direct) = listen().await;
    tokio::spawn(upstream::serve(listener));
    let (listener, hyper) = listen().await;
    tokio::spawn(floor_hyper::serve(listener, direct));
    let (listener, write_once) = listen().await;
    tokio::spawn(floor_write_once::serve(listener, direct));
    for addr in [direct, hyper, write_once] {
        for dialect in Dialect::ALL {
            for scenario in Scenario::ALL {
                let model = format!("{}-up{}", dialect.name(), scenario.model_suffix());
                let target = Target { addr, dialect, scenario, model, store: None };
                let tally = Session::new(target, 2).run(4, STALL).await;
                assert_eq!(tally.first_error, None, "{dialect:?} {scenario:?}");
                assert_eq!(tally.latency.len(), 4);
                let stamps = if scenario == Scenario::Paced { 4 * TOKENS } else { 0 };
                assert_eq!(tally.chunk_delay.len(), stamps);
            }
        }
    }
}

#[tokio::test]
async fn a_wrong_answer_is_an_error() {
    let (listener, addr) = listen().await;
    tokio::spawn(upstream::serve(listener));
    // A model name that does not fit the scenario is answered by a burst, which has no send times.
    let target = Target {
        addr,
        dialect: Dialect::Chat,
        scenario: Scenario::Paced,
        model: "chat-burst".to_owned(),
        store: None,
    };
    let tally = Session::new(target, 1).run(1, STALL).await;
    assert_eq!((tally.errors, tally.latency.len()), (1, 0));
    assert!(tally.first_error.unwrap().contains("paced"));
}

#[test]
fn percentiles_are_of_sorted_values() {
    let mut values = vec![5, 1, 4, 2, 3];
    assert_eq!(percentile(&mut values, 0.5), Some(3));
    assert_eq!(percentile(&mut values, 1.0), Some(5));
    assert_eq!(percentile(&mut [], 0.5), None);
}
