//! Words for the person at the terminal. What a program reads goes to standard output, the rest beside it.

use std::io::Write;

/// Why a command failed, in words that say what to do.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// A line for whoever reads the output. A reader that is gone is no reason to fail.
pub(crate) fn out(line: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).ok();
}

/// Bytes for whoever reads the output.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).ok();
}

/// A line for the person.
pub(crate) fn note(line: &str) {
    writeln!(std::io::stderr().lock(), "{line}").ok();
}

/// Why nothing more happens.
pub(crate) fn error(failure: &Failure) {
    note(&format!("trilith: {failure}"));
}
