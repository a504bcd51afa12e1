//! The golden matrix: every recorded request and answer against every dialect.
//!
//! A case is a folder of `golden/matrix`. What is given and what is expected lie side by side:
//!
//! | given | expected |
//! | --- | --- |
//! | `request.A.json` | for every other dialect B: `A-to-B.request.json`, the request as B's upstream gets it, or `A-to-B.refused.json`, what the client is told instead; and `A-to-B.losses.txt` |
//! | `answer.A.json`, `answer.A.sse` | for every dialect B: `A-to-B.response.json` and `A-to-B.response.sse`, the answer as B's client reads it, whole and streamed |
//! | `errors.A.json`, a list of `{status, body}` | for every dialect B: `A-to-B.errors.json`, the same list as B's client reads it |
//!
//! `target.json` names the upstream's model and says what it can be asked for. With `request.B.json` in the same folder, the answer is one to that request. With both forms of an answer,
//! the two must say the same. `TRILITH_GOLDEN=update` writes what is expected anew; it is then reviewed as a
//! difference.

mod case;
mod files;
mod upstream;

use std::path::Path;

use trilith_dialect::DIALECTS;

pub use files::Files;

/// Runs every case below `root` (the folder `golden`). Returns the number of cases.
///
/// # Errors
/// Every difference found, as one text; a dialect without a folder of its own is one.
pub fn run(root: &Path, update: bool) -> Result<usize, String> {
    let mut faults = Vec::new();
    for dialect in DIALECTS {
        if !root.join(dialect.id().name()).is_dir() {
            faults.push(format!("the dialect {} has no folder golden/{0}", dialect.id().name()));
        }
    }
    let folders = files::folders(&root.join("matrix"))?;
    for folder in &folders {
        let mut files = Files::open(folder, update)?;
        if let Err(why) = case::run(&mut files) {
            faults.push(format!("{}: {why}", files.name()));
        }
        faults.extend(files.close()?);
    }
    if faults.is_empty() { Ok(folders.len()) } else { Err(faults.join("\n\n")) }
}
