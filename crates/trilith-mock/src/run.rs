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
    /// A file or the address cannot be used; which one, and why.
    Io(String, io::Error),
    /// The script is wrong.
    Script(ScriptError),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(what, why) => write!(f, "{what}: {why}"),
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
    let text = fs::read_to_string(&options.file).map_err(|why| RunError::Io(file.clone(), why))?;
    let script = Script::parse(&file, &text).map_err(RunError::Script)?;
    let record = match &options.record {
        Some(path) => {
            Some(Recorder::file(path).map_err(|why| RunError::Io(path.display().to_string(), why))?)
        }
        None => None,
    };
    let listener = TcpListener::bind(&options.listen)
        .await
        .map_err(|why| RunError::Io(format!("cannot listen on {}", options.listen), why))?;
    let address = listener
        .local_addr()
        .map_err(|why| RunError::Io(format!("cannot listen on {}", options.listen), why))?;
    printer(&format!("listening on http://{address}"));
    serve(listener, script, Options { record, ..Options::new(options.dialect) }).await;
    Ok(())
}
