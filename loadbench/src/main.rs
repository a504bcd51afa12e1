//! The load benchmark: a scripted upstream, two floor proxies, a load generator, and the driver that
//! compares them with Trilith. `./bench` at the root builds and runs it.
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures real time, and its tasks live as long as their process"
)]
#![expect(clippy::print_stderr, reason = "progress is for the person at the terminal")]

mod answers;
mod bodies;
mod compare;
mod floor_hyper;
mod floor_write_once;
mod http1;
mod load;
mod process;
mod report;
mod subjects;
mod upstream;
mod wire;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::load::{Session, Target, percentile};
use crate::wire::{Dialect, Scenario};

/// Compares Trilith with a direct call and with two floor proxies, on loopback.
#[derive(Debug, Parser)]
#[command(name = "trilith-bench")]
struct Cli {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// Run everything and print the tables.
    Compare(compare::Options),
    /// The scripted upstream alone.
    Upstream {
        /// Address to listen on.
        #[arg(long)]
        listen: SocketAddr,
    },
    /// The minimal hyper reverse proxy alone.
    FloorHyper(Floor),
    /// The proxy that writes once per upstream read, alone.
    FloorWriteOnce(Floor),
    /// One batch of requests against any listener.
    Load(Batch),
}

#[derive(Debug, Args)]
struct Floor {
    /// Address to listen on.
    #[arg(long)]
    listen: SocketAddr,
    /// Address of the upstream.
    #[arg(long)]
    upstream: SocketAddr,
    /// Worker threads; 0 means one for each core.
    #[arg(long, default_value_t = 0)]
    workers: usize,
}

#[derive(Debug, Args)]
struct Batch {
    /// Address to send to.
    #[arg(long)]
    addr: SocketAddr,
    /// Shape of the requests.
    #[arg(long, value_enum, default_value = "plain")]
    scenario: Scenario,
    /// Protocol of the requests.
    #[arg(long, value_enum, default_value = "chat")]
    dialect: Dialect,
    /// Value of `store`, which is not sent without this.
    #[arg(long)]
    store: Option<bool>,
    /// Model name without its ending, which the scenario gives; `chat-up` or `responses-up` by default.
    #[arg(long)]
    model: Option<String>,
    /// Connections, each with one request under way.
    #[arg(long, default_value_t = 16)]
    concurrency: usize,
    /// Requests to send.
    #[arg(long, default_value_t = 10_000)]
    requests: usize,
    /// Requests to send before measuring.
    #[arg(long, default_value_t = 500)]
    warm_up: usize,
    /// End the batch after this many seconds.
    #[arg(long, default_value_t = 30)]
    max_seconds: u64,
}

fn main() -> ExitCode {
    let done = match Cli::parse().part {
        Part::Compare(options) => run(1, compare::run(options)),
        Part::Upstream { listen } => run(1, async move { upstream::serve(bind(listen).await?).await }),
        Part::FloorHyper(Floor { listen, upstream, workers }) => {
            run(workers, async move { floor_hyper::serve(bind(listen).await?, upstream).await })
        }
        Part::FloorWriteOnce(Floor { listen, upstream, workers }) => {
            run(workers, async move { floor_write_once::serve(bind(listen).await?, upstream).await })
        }
        Part::Load(batch) => run(1, load_once(batch)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("trilith-bench: {fault}");
            ExitCode::FAILURE
        }
    }
}

async fn bind(listen: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(listen).await
}

fn run(workers: usize, part: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    runtime(workers)?.block_on(part)
}

fn runtime(workers: usize) -> io::Result<Runtime> {
    match workers {
        0 => Builder::new_multi_thread().enable_all().build(),
        1 => Builder::new_current_thread().enable_all().build(),
        more => Builder::new_multi_thread().worker_threads(more).enable_all().build(),
    }
}

async fn load_once(batch: Batch) -> io::Result<()> {
    let model = batch.model.unwrap_or_else(|| format!("{}-up", batch.dialect.name()));
    let target = Target {
        addr: batch.addr,
        dialect: batch.dialect,
        scenario: batch.scenario,
        model: format!("{model}{}", batch.scenario.model_suffix()),
        store: batch.store,
    };
    let limit = Duration::from_secs(batch.max_seconds);
    let mut session = Session::new(target, batch.concurrency);
    session.run(batch.warm_up, limit).await;
    let mut tally = session.run(batch.requests, limit).await;
    let micros = |value: Option<u64>| value.map_or(f64::NAN, |nanos| nanos as f64 / 1e3);
    eprintln!("requests        {}", tally.latency.len());
    eprintln!("errors          {}", tally.errors);
    eprintln!("per second      {:.0}", tally.latency.len() as f64 / tally.wall.as_secs_f64());
    eprintln!("latency p50     {:.1} µs", micros(percentile(&mut tally.latency, 0.5)));
    eprintln!("latency p99     {:.1} µs", micros(percentile(&mut tally.latency, 0.99)));
    eprintln!("first byte p50  {:.1} µs", micros(percentile(&mut tally.first_byte, 0.5)));
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        if let Some(delay) = percentile(&mut tally.chunk_delay, share) {
            eprintln!("chunk delay {name} {delay} µs");
        }
    }
    tally.first_error.map_or(Ok(()), |fault| Err(io::Error::other(fault)))
}
