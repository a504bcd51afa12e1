//! Worker processes: this program, started again by itself for work that may break.

use std::{process::ExitCode, sync::Arc};

use trilith_core::DocumentText;

use crate::cli::{Work, WorkerOptions};

/// Does a worker's work.
#[cfg(unix)]
pub(crate) fn run(options: WorkerOptions) -> ExitCode {
    match options.work {
        Work::PdfText => trilith_document::worker::pdf_text().into(),
    }
}

/// Workers need limits that only Unix sets.
#[cfg(not(unix))]
pub(crate) fn run(_: WorkerOptions) -> ExitCode {
    ExitCode::FAILURE
}

/// What takes text out of documents, if it can be had here.
#[cfg(unix)]
pub(crate) fn documents() -> Option<Arc<dyn DocumentText>> {
    use trilith_document::{Limits, PdfWorkers};
    // The program that runs, also when its file was replaced by a newer one meanwhile.
    let own = std::path::PathBuf::from("/proc/self/exe");
    let program = if own.exists() { own } else { std::env::current_exe().ok()? };
    let arguments = vec!["worker".into(), "pdf-text".into()];
    Some(Arc::new(PdfWorkers::new(program, arguments, Limits::default())))
}

/// Workers need limits that only Unix sets.
#[cfg(not(unix))]
pub(crate) fn documents() -> Option<Arc<dyn DocumentText>> {
    None
}
