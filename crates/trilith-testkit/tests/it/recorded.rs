//! The answers that the golden cases hold, as upstreams said them.

use std::{fs, path::Path};

use trilith_core::DialectId;
use trilith_dialect::{DIALECTS, Dialect};

/// One answer of an upstream.
pub(crate) struct Recorded {
    /// Its case, dialect and form: what a failure is told by.
    pub(crate) name: String,
    pub(crate) dialect: &'static dyn Dialect,
    pub(crate) streamed: bool,
    pub(crate) bytes: Vec<u8>,
}

/// The dialects that carry conversations.
pub(crate) fn talking() -> impl Iterator<Item = &'static dyn Dialect> + Clone {
    let talks = |id| matches!(id, DialectId::Chat | DialectId::Responses | DialectId::Messages);
    DIALECTS.iter().copied().filter(move |dialect| talks(dialect.id()))
}

/// All of them, by name.
pub(crate) fn answers() -> Vec<Recorded> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let mut found = Vec::new();
    for dialect in talking() {
        let id = dialect.id().name();
        for (folder, whole, stream) in [
            (golden.join("matrix"), format!("answer.{id}.json"), format!("answer.{id}.sse")),
            (golden.join(id), "response.json".into(), "stream.sse".into()),
        ] {
            for case in fs::read_dir(&folder).unwrap() {
                let case = case.unwrap().path();
                for (file, streamed) in [(&whole, false), (&stream, true)] {
                    let Ok(bytes) = fs::read(case.join(file)) else { continue };
                    let name = format!("{}/{file} ({id})", case.file_name().unwrap().display());
                    found.push(Recorded { name, dialect, streamed, bytes });
                }
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 150, "only {}", found.len());
    found
}
