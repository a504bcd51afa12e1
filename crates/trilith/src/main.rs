//! The binary: command line, configuration file, wiring, signals. The only place where an adapter meets a
//! port, and the only one that reads the environment.

mod check;
mod cli;
mod config;
mod hints;
mod logging;
mod mock;
mod models;
mod places;
mod ports;
mod say;
mod serve;
mod translate;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Serve(options) => serve::run(&options),
        Command::Check(options) => check::run(&options),
        Command::Models(options) => models::run(&options),
        Command::Translate(options) => translate::run(&options),
        Command::Mock(options) => mock::run(options),
        Command::Config(options) => check::describe(&options),
        Command::Worker(options) => return worker::run(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            say::error(&failure);
            ExitCode::FAILURE
        }
    }
}
