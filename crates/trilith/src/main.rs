//! The binary: command line, configuration file, wiring, signals.

#[expect(dead_code, reason = "the command line does not read it yet")]
mod config;

fn main() {}
