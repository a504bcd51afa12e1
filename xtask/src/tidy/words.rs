//! Words that must not stand in code or comments, and the head every crate needs.

use super::Breach;
use crate::scan::Source;

const UNFINISHED_CALLS: &[&str] = &["todo!", "unimplemented!"];
const UNFINISHED_NOTES: &[&str] = &["TODO", "FIXME", "XXX", "HACK"];

/// The vocabulary and the dialects are pure: same input, same output, anywhere.
const PURE: &[&str] = &["crates/trilith-core/src/", "crates/trilith-dialect/src/"];
const IMPURE: &[&str] = &[
    "async",
    "SystemTime",
    "Instant",
    "std::env",
    "std::fs",
    "std::net",
    "std::process",
    "std::thread",
    "thread_local!",
];

/// Code that is not finished, tests included.
pub(crate) fn check(source: &Source) -> Vec<Breach> {
    let mut found = Vec::new();
    for call in UNFINISHED_CALLS {
        let lines = source.find_word(call).into_iter().map(|at| source.line(at));
        found.extend(lines.map(|line| Breach::of_word(line, call, format!("`{call}` in finished code"))));
    }
    for comment in &source.comments {
        let words = comment.text.split(|letter: char| !letter.is_alphanumeric());
        let notes = words.filter(|word| UNFINISHED_NOTES.contains(word));
        found.extend(notes.map(|note| {
            Breach::of_word(
                source.line(comment.start),
                note,
                format!("a comment says {note}: do it or file it"),
            )
        }));
    }
    found
}

/// The first line of a crate says what it is for.
pub(crate) fn check_head(file: &str, text: &str) -> Option<Breach> {
    let is_root = file.ends_with("/src/lib.rs") || file.ends_with("/src/main.rs");
    let missing = is_root && !text.starts_with("//! ");
    missing.then(|| Breach::new(1, "a crate begins with `//!` and what it is for"))
}

/// No clock, environment, file, socket, thread or async in a pure crate.
pub(crate) fn check_purity(file: &str, source: &Source) -> Vec<Breach> {
    if !PURE.iter().any(|start| file.starts_with(start)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for word in IMPURE {
        let lines = source.find_word(word).into_iter().map(|at| source.line(at));
        found.extend(
            lines.map(|line| Breach::of_word(line, word, format!("`{word}` in a crate that is pure"))),
        );
    }
    found
}
