//! The log: what happened, never what was said.

use tracing_subscriber::EnvFilter;

use crate::{
    config::{Log, LogFormat},
    say::Failure,
};

/// Starts the log on standard error.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let filter = EnvFilter::builder().parse(&log.level)?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.with_target(false).compact().try_init(),
    };
    started.map_err(|error| error as Failure)
}
