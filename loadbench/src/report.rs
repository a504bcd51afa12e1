//! The Markdown that a comparison prints.

use std::fmt::Write;
use std::time::Duration;

use crate::load::{Tally, percentile};
use crate::subjects::{Program, Subject};
use crate::wire::{Dialect, Scenario};

mod aims;

/// What was measured of one subject in one table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Who was measured.
    pub(crate) subject: Subject,
    /// All rounds together.
    pub(crate) tally: Tally,
    /// CPU time of the subject's process over all rounds.
    pub(crate) cpu: Duration,
}

impl Row {
    /// An empty row.
    pub(crate) fn new(subject: Subject) -> Self {
        Self { subject, tally: Tally::default(), cpu: Duration::ZERO }
    }

    /// Whether the subject still answers; one that fails is not asked again in the same table.
    pub(crate) fn usable(&self) -> bool {
        self.tally.errors == 0
    }

    fn numbers(&self) -> Option<Numbers> {
        let mut tally = self.tally.clone();
        let requests = tally.latency.len();
        if requests == 0 {
            return None;
        }
        let micros = |nanos: u64| nanos as f64 / 1e3;
        Some(Numbers {
            requests,
            cpu: self.cpu.as_secs_f64() * 1e6 / requests as f64,
            rate: requests as f64 / tally.wall.as_secs_f64(),
            p50: percentile(&mut tally.latency, 0.5).map_or(f64::NAN, micros),
            p99: percentile(&mut tally.latency, 0.99).map_or(f64::NAN, micros),
            first_byte: percentile(&mut tally.first_byte, 0.5).map_or(f64::NAN, micros),
            chunk_p50: percentile(&mut tally.chunk_delay, 0.5).map(|delay| delay as f64),
            chunk_p99: percentile(&mut tally.chunk_delay, 0.99).map(|delay| delay as f64),
        })
    }
}

/// The numbers of one row; times in microseconds.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    requests: usize,
    cpu: f64,
    rate: f64,
    p50: f64,
    p99: f64,
    first_byte: f64,
    chunk_p50: Option<f64>,
    chunk_p99: Option<f64>,
}

/// One scenario at one concurrency.
#[derive(Debug)]
pub(crate) struct Table {
    /// The scenario.
    pub(crate) scenario: Scenario,
    /// Connections, each with one request under way.
    pub(crate) concurrency: usize,
    /// One per subject.
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// The numbers of `program` for callers of `dialect`, where the program has one such route.
    fn reference(&self, program: Program, dialect: Dialect) -> Option<Numbers> {
        let row = self.rows.iter().find(|r| r.subject.program == program && r.subject.caller == dialect)?;
        row.numbers()
    }
}

/// Start-up and memory of one program. Sizes in bytes.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    /// Whose.
    pub(crate) program: Program,
    /// Median time from the start to the first answer, in microseconds.
    pub(crate) start_up_micros: Option<u64>,
    /// Resident before any request but the health check.
    pub(crate) idle: Option<u64>,
    /// Resident after the requests.
    pub(crate) after: Option<u64>,
    /// Most resident at any time.
    pub(crate) peak: Option<u64>,
    /// Good requests between the readings.
    pub(crate) requests: usize,
    /// What went wrong.
    pub(crate) fault: Option<String>,
}

impl Memory {
    /// Nothing measured yet.
    pub(crate) fn new(program: Program) -> Self {
        Self { program, start_up_micros: None, idle: None, after: None, peak: None, requests: 0, fault: None }
    }
}

/// A whole comparison.
#[derive(Debug)]
pub(crate) struct Report {
    /// Whether it was the quick version.
    pub(crate) quick: bool,
    /// Programs that did not start, and why; they have no rows.
    pub(crate) failed: Vec<(Program, String)>,
    /// The grid.
    pub(crate) tables: Vec<Table>,
    /// Start-up and memory.
    pub(crate) memory: Vec<Memory>,
    /// How long it all took.
    pub(crate) took: Duration,
}

/// Renders the report.
pub(crate) fn markdown(report: &Report) -> String {
    let mut out = String::from("# Load benchmark\n\n");
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let version = if report.quick { "quick" } else { "full" };
    line(
        &mut out,
        format_args!(
            "{version} run of {:.0} s on {cores} cores ({}), all on loopback; upstream and load generator share the cores with the subject.",
            report.took.as_secs_f64(),
            cpu_model()
        ),
    );
    out.push_str(
        "CPU is user and system time of the subject's process per request (for `direct`, of the upstream). \
         × write-once and × hyper compare it with the floor that serves the same caller dialect. \
         \"Added\" is the median latency minus that of the direct call in the caller's dialect.\n\n",
    );
    for (program, fault) in &report.failed {
        line(&mut out, format_args!("**{} did not start:** {fault}\n", program.name()));
    }
    aims::section(&mut out, report);
    memory(&mut out, &report.memory);
    for table in &report.tables {
        section(&mut out, table);
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{text}");
}

fn section(out: &mut String, table: &Table) {
    line(out, format_args!("## {}, concurrency {}\n", table.scenario.name(), table.concurrency));
    let paced = table.scenario == Scenario::Paced;
    let delay_head = if paced { " chunk delay p50 µs | p99 µs | added p50 µs |" } else { "" };
    let delay_rule = if paced { "---:|---:|---:|" } else { "" };
    line(
        out,
        format_args!(
            "| subject | CPU µs | × write-once | × hyper | p50 µs | added µs | p99 µs | first byte p50 µs | req/s | requests | errors |{delay_head}"
        ),
    );
    line(out, format_args!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|{delay_rule}"));
    for row in &table.rows {
        let errors = row.tally.errors;
        let Some(n) = row.numbers() else {
            let tail = if paced { " – |".repeat(3) } else { String::new() };
            line(out, format_args!("| {} |{} {errors} |{tail}", row.subject.name, " – |".repeat(9)));
            continue;
        };
        let caller = row.subject.caller;
        let ratio = |program| match table.reference(program, caller) {
            Some(floor) if row.subject.program != Program::Upstream => format!("{:.2}", n.cpu / floor.cpu),
            _ => "–".to_owned(),
        };
        let direct = table.reference(Program::Upstream, caller);
        let added = direct.map_or("–".to_owned(), |direct| format!("{:.0}", n.p50 - direct.p50));
        let mut text = format!(
            "| {} | {:.1} | {} | {} | {:.0} | {added} | {:.0} | {:.0} | {:.0} | {} | {errors} |",
            row.subject.name,
            n.cpu,
            ratio(Program::WriteOnce),
            ratio(Program::Hyper),
            n.p50,
            n.p99,
            n.first_byte,
            n.rate,
            n.requests,
        );
        if paced {
            let added = direct.and_then(|direct| Some(n.chunk_p50? - direct.chunk_p50?));
            for delay in [n.chunk_p50, n.chunk_p99, added] {
                let shown = delay.map_or("–".to_owned(), |delay| format!("{delay:.0}"));
                text.push_str(&format!(" {shown} |"));
            }
        }
        line(out, format_args!("{text}"));
    }
    out.push('\n');
    for row in &table.rows {
        if let Some(fault) = &row.tally.first_error {
            line(out, format_args!("{}: {fault}\n", row.subject.name));
        }
    }
}

fn memory(out: &mut String, all: &[Memory]) {
    if all.is_empty() {
        return;
    }
    let mib = |bytes: Option<u64>| match bytes {
        Some(bytes) => format!("{:.1}", bytes as f64 / 1048576.0),
        None => "–".to_owned(),
    };
    out.push_str("## Start-up and memory\n\n");
    out.push_str(
        "| program | start-up ms (median) | idle MiB | after burst requests MiB | peak MiB | requests |\n",
    );
    out.push_str("|---|---:|---:|---:|---:|---:|\n");
    for m in all {
        let start = m.start_up_micros.map_or("–".to_owned(), |us| format!("{:.1}", us as f64 / 1e3));
        let (idle, after, peak) = (mib(m.idle), mib(m.after), mib(m.peak));
        let name = m.program.name();
        line(out, format_args!("| {name} | {start} | {idle} | {after} | {peak} | {} |", m.requests));
    }
    out.push('\n');
    for m in all {
        if let Some(fault) = &m.fault {
            line(out, format_args!("{}: {fault}\n", m.program.name()));
        }
    }
}

fn cpu_model() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("unknown processor".to_owned(), |(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests;
