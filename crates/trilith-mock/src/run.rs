//! The whole of `trilith mock`, for the command line.

use std::{fmt, fs, io, path::PathBuf};

use tokio::net::TcpListener;
use trilith_dialect::Dialect;

use crate::{Options, Recorder, Script, ScriptError, serve};

/// What the command line says.
pub struct RunOptions {
    /// The script.
    pub file: PathBuf,
    /// The dialect to play it in.
    pub dialect: &'static dyn Dialect,
    /// Where to listen, `host:port`; port 0 takes a free one.
    pub listen: String,
    /// Where to record requests, if anywhere.
    pub record: Option<PathBuf>,
}

/// Why the mock does not start.
#[derive(Debug)]
pub enum RunError {
    /// The script cannot be read; which one, and why.
    Unread(String, io::Error),
    /// The record cannot be written; where, and why.
    Unrecorded(String, io::Error),
    /// The address cannot be listened on; which one, and why.
    Unheard(String, io::Error),
    /// The script is wrong.
    Script(ScriptError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unread(file, why) => {
                write!(f, "{file}: {why}\n  name a script to play; docs/mock.md says how to write one")
            }
            Self::Unrecorded(file, why) => {
                write!(f, "{file}: {why}\n  --record names a file in a folder that exists")
            }
            Self::Unheard(address, why) => write!(
                f,
                "cannot listen on {address}: {why}\n  --listen takes a free HOST:PORT of this machine, such as 127.0.0.1:9100"
            ),
            Self::Script(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

/// Reads the script, listens, says `listening on http://…`, and plays until it is dropped.
///
/// # Errors
/// A file cannot be read or made, the address cannot be listened on, or the script is wrong.
pub async fn run(options: RunOptions, printer: &mut dyn FnMut(&str)) -> Result<(), RunError> {
    let file = options.file.display().to_string();
    let text = fs::read_to_string(&options.file).map_err(|why| RunError::Unread(file.clone(), why))?;
    let script = Script::parse(&file, &text).map_err(RunError::Script)?;
    let record = match &options.record {
        Some(path) => {
            Some(Recorder::file(path).map_err(|why| RunError::Unrecorded(path.display().to_string(), why))?)
        }
        None => None,
    };
    let unusable = |why| RunError::Unheard(options.listen.clone(), why);
    let listener = TcpListener::bind(&options.listen).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    printer(&format!("listening on http://{address}"));
    serve(listener, script, Options { record, ..Options::new(options.dialect) }).await;
    Ok(())
}
