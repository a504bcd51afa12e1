use super::*;
use crate::subjects::SUBJECTS;

fn row(name: &str, cpu_micros: u64, latency: u64) -> Row {
    let subject = SUBJECTS.into_iter().find(|s| s.name == name).unwrap();
    let mut row = Row::new(subject);
    row.cpu = Duration::from_micros(cpu_micros);
    row.tally.latency = vec![latency];
    row.tally.first_byte = vec![latency];
    row.tally.wall = Duration::from_millis(1);
    row
}

#[test]
fn ratios_aims_and_failures_are_shown() {
    let mut dead = row("trilith chat → responses", 0, 0);
    dead.tally = Tally { errors: 1, first_error: Some("closed".to_owned()), ..Tally::default() };
    let rows = vec![
        row("direct chat", 10, 100_000),
        row("floor-write-once chat", 20, 150_000),
        row("trilith chat → chat", 50, 200_000),
        dead,
    ];
    let table = Table { scenario: Scenario::Burst, concurrency: 16, rows };
    let failed = vec![(Program::Hyper, "no such file".to_owned())];
    let took = Duration::from_secs(1);
    let text = markdown(&Report { quick: true, failed, tables: vec![table], memory: vec![], took });
    assert!(text.contains("**floor-hyper did not start:** no such file"), "{text}");
    assert!(text.contains("| trilith chat → chat | 50.0 | 2.50 | – | 200 | 100 |"), "{text}");
    assert!(text.contains("trilith chat → chat | ≤ 2 | 2.50 | **no** |"), "{text}");
    assert!(text.contains("| < 1 ms | 0.10 ms | yes |"), "{text}");
    assert!(text.contains("trilith chat → responses: closed"), "{text}");
}
