//! The house rules that neither rustfmt nor clippy checks. One file for each kind of rule.

mod allow;
mod dialects;
mod files;
mod paths;
mod size;
mod wire;
mod words;

use std::fs;
use std::path::Path;

use crate::Report;
use crate::scan::Source;
use allow::Allowed;
use files::Layout;

/// One breach: where, and what the rule asks for.
#[derive(Debug, PartialEq)]
struct Breach {
    line: usize,
    /// The word an exception in `tidy.toml` can excuse; empty where none can.
    word: String,
    text: String,
}

impl Breach {
    fn new(line: usize, text: impl Into<String>) -> Breach {
        Breach { line, word: String::new(), text: text.into() }
    }

    fn of_word(line: usize, word: &str, text: impl Into<String>) -> Breach {
        Breach { line, word: word.to_owned(), text: text.into() }
    }
}

/// Checks every text file below `root`.
///
/// # Errors
/// A file or folder that cannot be read, or an exceptions file that does not parse.
pub(crate) fn run(root: &Path) -> Result<Report, String> {
    let mut allowed = Allowed::read(&root.join("xtask/tidy.toml"))?;
    let mut breaches = Vec::new();
    let mut lengths = Vec::new();
    let layout = Layout::read(root)?;
    for file in &layout.files {
        let Some(text) = read_text(&root.join(file))? else { continue };
        let mut found = paths::check(&text);
        if file.ends_with(".rs") {
            found.extend(check_rust(file, &text, &layout, &mut lengths));
        }
        found.retain(|breach| !allowed.excuses(file, &breach.word));
        breaches.extend(found.iter().map(|breach| format!("{file}:{}: {}", breach.line, breach.text)));
    }
    breaches.extend(allowed.unused());
    Ok(Report { summary: size::summary(&mut lengths), breaches })
}

/// The rules for a Rust file; the length of a production file is added to `lengths`.
fn check_rust(file: &str, text: &str, layout: &Layout, lengths: &mut Vec<usize>) -> Vec<Breach> {
    let whole = Source::parse(text);
    let mut found = words::check(&whole);
    if layout.is_test(file) {
        return found;
    }
    let length = text.lines().count();
    lengths.push(length);
    let (source, _) = whole.production();
    found.extend(size::check(&source, length));
    found.extend(words::check_head(file, text));
    if wire::applies(file) {
        found.extend(wire::check(&source));
    }
    found.extend(words::check_purity(file, &source));
    found.extend(dialects::check(file, &source, &layout.dialects));
    found
}

/// The file's text; `None` for one that is not UTF-8.
fn read_text(path: &Path) -> Result<Option<String>, String> {
    let bytes = fs::read(path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
    Ok(String::from_utf8(bytes).ok())
}

#[cfg(test)]
mod tests;
