//! The aims, and whether this run meets them.

use super::{Report, Row, Table, line};
use crate::subjects::Program;
use crate::wire::Scenario;

/// Most CPU per request, in multiples of the write-once floor: passthrough, then translated.
fn cpu_aim(scenario: Scenario) -> Option<(f64, f64)> {
    match scenario {
        Scenario::Plain => Some((1.5, 2.5)),
        Scenario::Burst => Some((2.0, 4.0)),
        Scenario::Agent => Some((2.0, 5.0)),
        Scenario::Paced => None,
    }
}

/// Most latency that a burst stream may gain at the median, in microseconds.
const BURST_ADDED: f64 = 1000.0;
/// Most delay that a paced event may gain at the median, in microseconds.
const CHUNK_ADDED: f64 = 200.0;
/// Most resident memory without a model and before any request, in bytes.
const IDLE: u64 = 25 * 1024 * 1024;
/// Longest start-up without a model, in microseconds.
const START_UP: u64 = 100_000;

/// Writes the table of aims; nothing when Trilith was not measured.
pub(super) fn section(out: &mut String, report: &Report) {
    let mut lines = Vec::new();
    for table in &report.tables {
        for row in table.rows.iter().filter(|row| row.subject.program == Program::Trilith) {
            if row.tally.errors > 0 {
                let value = format!("{} errors", row.tally.errors);
                lines.push((label(table, row), "no errors".to_owned(), value, false));
            }
            cpu(&mut lines, table, row);
            delay(&mut lines, table, row);
        }
    }
    for memory in report.memory.iter().filter(|memory| memory.program == Program::Trilith) {
        if let Some(idle) = memory.idle {
            let value = format!("{:.1} MiB", idle as f64 / 1048576.0);
            lines.push(("idle memory".to_owned(), "< 25 MiB".to_owned(), value, idle < IDLE));
        }
        if let Some(start) = memory.start_up_micros {
            let value = format!("{:.1} ms", start as f64 / 1e3);
            lines.push(("start-up".to_owned(), "< 100 ms".to_owned(), value, start < START_UP));
        }
    }
    if lines.is_empty() {
        return;
    }
    out.push_str("## Aims\n\n| what | aim | measured | met |\n|---|---:|---:|---|\n");
    for (what, aim, measured, met) in lines {
        let met = if met { "yes" } else { "**no**" };
        line(out, format_args!("| {what} | {aim} | {measured} | {met} |"));
    }
    out.push('\n');
}

type Line = (String, String, String, bool);

fn label(table: &Table, row: &Row) -> String {
    format!("{}, c={}, {}", table.scenario.name(), table.concurrency, row.subject.name)
}

fn cpu(lines: &mut Vec<Line>, table: &Table, row: &Row) {
    let floor = table.reference(Program::WriteOnce, row.subject.caller);
    let (Some((same, translated)), Some(numbers), Some(floor)) =
        (cpu_aim(table.scenario), row.numbers(), floor)
    else {
        return;
    };
    // What a stored answer costs on top has no aim of its own; its rows show it.
    if row.subject.store == Some(true) {
        return;
    }
    let aim = if row.subject.translates() { translated } else { same };
    let ratio = numbers.cpu / floor.cpu;
    let what = format!("CPU × write-once: {}", label(table, row));
    lines.push((what, format!("≤ {aim}"), format!("{ratio:.2}"), ratio <= aim));
}

fn delay(lines: &mut Vec<Line>, table: &Table, row: &Row) {
    let direct = table.reference(Program::Upstream, row.subject.caller);
    let (Some(numbers), Some(direct)) = (row.numbers(), direct) else { return };
    match table.scenario {
        Scenario::Burst => {
            let added = numbers.p50 - direct.p50;
            let what = format!("added p50: {}", label(table, row));
            lines.push((what, "< 1 ms".to_owned(), format!("{:.2} ms", added / 1e3), added < BURST_ADDED));
        }
        Scenario::Paced => {
            let (Some(own), Some(base)) = (numbers.chunk_p50, direct.chunk_p50) else { return };
            let added = own - base;
            let what = format!("added per chunk p50: {}", label(table, row));
            let shown = format!("{:.2} ms", added / 1e3);
            lines.push((what, "≤ 0.2 ms".to_owned(), shown, added <= CHUNK_ADDED));
        }
        Scenario::Plain | Scenario::Agent => {}
    }
}
