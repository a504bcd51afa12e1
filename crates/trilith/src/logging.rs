//! The log: what happened, never what was said.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::{
    config::{Log, LogFormat},
    say::Failure,
};

/// Starts the log on standard error.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = EnvFilter::builder().parse(&log.level)?;
    // The custom of no-color.org.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colours = stderr().is_terminal() && !plain;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(stderr);
    let started = match log.format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.with_target(false).compact().try_init(),
    };
    started.map_err(|error| error as Failure)
}
