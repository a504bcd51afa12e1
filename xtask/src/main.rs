//! Repository chores: `cargo xtask tidy` holds the source to its house rules, `cargo xtask deps` holds the
//! crates to the map of who may use whom. `cargo test -p xtask` runs both on this workspace.
//!
//! Nothing here knows what Trilith does: rules about behaviour are tests of the crate that behaves.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks on its streams")]

mod deps;
mod scan;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <command>

  tidy   sizes, forbidden words, wire names outside the dialect crate, machine paths
  deps   fails on a dependency edge that the map in ARCHITECTURE.md does not allow";

/// What a check found: a text for the reader, and one line for each breach of a rule.
struct Report {
    summary: String,
    breaches: Vec<String>,
}

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let root = workspace_root();
    let outcome = match command.as_deref() {
        Some("tidy") => tidy::run(&root),
        Some("deps") => deps::run(&root),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(report) => {
            println!("{}", report.summary);
            for breach in &report.breaches {
                eprintln!("{breach}");
            }
            if report.breaches.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The folder above this crate; fixed when the tool is compiled, so that it works from any directory.
fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
