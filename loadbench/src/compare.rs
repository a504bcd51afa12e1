//! The driver: starts every program, runs the grid interleaved and hands the numbers to the report.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use crate::load::{Session, Tally, percentile};
use crate::process::{Process, WorkFolder};
use crate::report::{self, Memory, Report, Row, Table};
use crate::subjects::{Launch, Program, SUBJECTS, Subject};
use crate::wire::Scenario;

/// Requests between the two readings of resident memory.
const MEMORY_REQUESTS: usize = 20_000;
/// Starts of each program for the median start-up time.
const STARTS: usize = 5;
/// Pause after a batch before the CPU time is read: work after the answer belongs to its request.
const SETTLE: Duration = Duration::from_millis(5);

/// Options of the comparison.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// A version of about two minutes, with larger error.
    #[arg(long)]
    quick: bool,
    /// Write the tables to this file too.
    #[arg(long)]
    out: Option<PathBuf>,
    /// The Trilith binary; beside this one by default.
    #[arg(long)]
    trilith: Option<PathBuf>,
    /// Only these scenarios.
    #[arg(long, value_enum, value_delimiter = ',')]
    scenario: Vec<Scenario>,
    /// Only subjects whose name contains one of these.
    #[arg(long)]
    subject: Vec<String>,
    /// Connections, each with one request under way.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    concurrency: Vec<usize>,
    /// A line for the [store] table of Trilith's configuration.
    #[arg(long)]
    store_line: Vec<String>,
    /// Worker threads of the floors; 0 means one for each core.
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// Skip start-up time and memory.
    #[arg(long)]
    grid_only: bool,
}

/// How much one cell of the grid runs.
struct Effort {
    rounds: usize,
    requests: usize,
    limit: Duration,
}

impl Options {
    fn effort(&self, scenario: Scenario, concurrency: usize) -> Effort {
        let seconds = Duration::from_secs_f64;
        if scenario == Scenario::Paced {
            let each = if concurrency == 1 { 3 } else { 2 };
            return if self.quick {
                Effort { rounds: 1, requests: concurrency, limit: seconds(5.0) }
            } else {
                Effort { rounds: 2, requests: concurrency * each, limit: seconds(5.0) }
            };
        }
        let requests = if concurrency == 1 { 1000 } else { 3000 };
        if self.quick {
            Effort { rounds: 2, requests: requests / 3, limit: seconds(0.2) }
        } else {
            Effort { rounds: 6, requests, limit: seconds(0.7) }
        }
    }

    fn subjects(&self) -> Vec<Subject> {
        let wanted = |subject: &Subject| {
            self.subject.is_empty() || self.subject.iter().any(|part| subject.name.contains(part.as_str()))
        };
        SUBJECTS.into_iter().filter(wanted).collect()
    }

    fn scenarios(&self) -> Vec<Scenario> {
        if self.scenario.is_empty() { Scenario::ALL.to_vec() } else { self.scenario.clone() }
    }
}

/// Runs the comparison; the tables go to standard output and to the file that was asked for.
pub(crate) async fn run(options: Options) -> io::Result<()> {
    let started = Instant::now();
    let folder = WorkFolder::new()?;
    let bench = std::env::current_exe()?;
    let launch = Launch {
        trilith: options.trilith.clone().unwrap_or_else(|| bench.with_file_name("trilith")),
        bench,
        folder: folder.0.clone(),
        store_lines: options.store_line.clone(),
        workers: options.workers,
    };
    let unknown = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let upstream = launch.start(Program::Upstream, unknown, "main").map_err(io::Error::other)?;
    let memory = if options.grid_only { Vec::new() } else { measure_memory(&launch, &upstream).await };
    let mut failed = Vec::new();
    let mut running = HashMap::new();
    for program in Program::ALL {
        if program == Program::Upstream || !options.subjects().iter().any(|s| s.program == program) {
            continue;
        }
        match launch.start(program, upstream.addr, "grid") {
            Ok(process) => {
                running.insert(program, process);
            }
            Err(fault) => {
                eprintln!("{}: {fault}", program.name());
                failed.push((program, fault));
            }
        }
    }
    running.insert(Program::Upstream, upstream);
    let mut tables = Vec::new();
    for scenario in options.scenarios() {
        for &concurrency in &options.concurrency {
            tables.push(cell(&options, &running, scenario, concurrency).await);
        }
    }
    drop(running);
    let report = Report { quick: options.quick, failed, tables, memory, took: started.elapsed() };
    let text = report::markdown(&report);
    io::stdout().write_all(text.as_bytes())?;
    if let Some(out) = &options.out {
        std::fs::write(out, &text)?;
    }
    Ok(())
}

/// One table: every subject under one scenario and concurrency, in rounds of alternating order so that a
/// drift of the machine falls on all alike.
async fn cell(
    options: &Options,
    running: &HashMap<Program, Process>,
    scenario: Scenario,
    concurrency: usize,
) -> Table {
    let effort = options.effort(scenario, concurrency);
    let started = Instant::now();
    let subjects = options.subjects().into_iter().filter(|subject| running.contains_key(&subject.program));
    let mut rows: Vec<Row> = subjects.map(Row::new).collect();
    for round in 0..effort.rounds {
        let mut order: Vec<&mut Row> = rows.iter_mut().collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for row in order {
            if let Some(process) = running.get(&row.subject.program)
                && row.usable()
            {
                batch(row, process, &effort, scenario, concurrency).await;
            }
        }
    }
    eprintln!("{:<6} c={concurrency:<3} {:>5.1} s", scenario.name(), started.elapsed().as_secs_f64());
    Table { scenario, concurrency, rows }
}

async fn batch(row: &mut Row, process: &Process, effort: &Effort, scenario: Scenario, concurrency: usize) {
    let mut session = Session::new(row.subject.target(process.addr, scenario), concurrency);
    if scenario != Scenario::Paced {
        let warm_up = session.run((concurrency * 4).max(50), effort.limit).await;
        if warm_up.errors > 0 {
            row.tally.merge(Tally {
                errors: warm_up.errors,
                first_error: warm_up.first_error,
                ..Tally::default()
            });
            return;
        }
    }
    tokio::time::sleep(SETTLE).await;
    let before = process.cpu();
    let tally = session.run(effort.requests, effort.limit).await;
    tokio::time::sleep(SETTLE).await;
    row.cpu += process.cpu().saturating_sub(before);
    row.tally.merge(tally);
}

/// Start-up time and resident memory of the programs between caller and upstream, each in fresh processes.
async fn measure_memory(launch: &Launch, upstream: &Process) -> Vec<Memory> {
    let mut all = Vec::new();
    for program in Program::ALL {
        if program == Program::Upstream {
            continue;
        }
        let memory = match program_memory(launch, upstream, program).await {
            Ok(memory) => memory,
            Err(fault) => Memory { fault: Some(fault), ..Memory::new(program) },
        };
        eprintln!("start-up and memory of {}: done", program.name());
        all.push(memory);
    }
    all
}

async fn program_memory(launch: &Launch, upstream: &Process, program: Program) -> Result<Memory, String> {
    let mut memory = Memory::new(program);
    let mut starts = Vec::new();
    for start in 1..STARTS {
        let process = launch.start(program, upstream.addr, &format!("start-{start}"))?;
        starts.push(u64::try_from(process.start_up.as_micros()).unwrap_or(u64::MAX));
    }
    let process = launch.start(program, upstream.addr, "memory")?;
    starts.push(u64::try_from(process.start_up.as_micros()).unwrap_or(u64::MAX));
    memory.start_up_micros = percentile(&mut starts, 0.5);
    memory.idle = process.resident();
    let routes: Vec<Subject> = SUBJECTS.into_iter().filter(|s| s.program == program).collect();
    for subject in &routes {
        let mut session = Session::new(subject.target(process.addr, Scenario::Burst), 64);
        let tally = session.run(MEMORY_REQUESTS / routes.len(), Duration::from_secs(20)).await;
        memory.requests += tally.latency.len();
        memory.fault = memory.fault.take().or(tally.first_error);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    memory.after = process.resident();
    memory.peak = process.peak_resident();
    Ok(memory)
}
