//! The binary: command line, configuration file, wiring, signals.
fn main() {}
