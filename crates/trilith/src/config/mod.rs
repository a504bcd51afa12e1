//! The configuration file `trilith.toml`: one catalogue of keys drives reading, errors, documentation and sample.
//!
//! Reading has three steps. The text is parsed with positions; the tree is walked against the catalogue
//! (unknown keys, types, `${VARIABLE}`); the typed values are built into [`Config`], where values meet each
//! other (names that must exist, keys that exclude each other). Every step collects problems instead of
//! stopping at the first, so that one run shows a person everything there is to mend.

mod build;
mod catalogue;
pub(crate) mod document;
mod interpolate;
mod model;
mod preset;
mod problem;
pub(crate) mod secret;
mod suggest;
mod values;
mod walk;

pub(crate) use model::*;
pub(crate) use problem::{Problems, Warning};

use problem::Source;

/// Gives the value of an environment variable; the binary hands in what it read at start.
pub(crate) type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A configuration text and the name it is called by in messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct File<'a> {
    /// The path as the person gave it.
    pub(crate) name: &'a str,
    /// The whole text.
    pub(crate) text: &'a str,
}

/// What the command line says over the file; each in the form the file's key takes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    /// `--listen`, over `server.listen`.
    pub(crate) listen: Option<String>,
    /// `--store`, over `store.url`.
    pub(crate) store: Option<String>,
    /// `--model`, over `local.model`.
    pub(crate) model: Option<String>,
}

/// A configuration that holds together, and what a person should still know about it.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The configuration.
    pub(crate) config: Config,
    /// Things that work but should be changed.
    pub(crate) warnings: Vec<Warning>,
}

/// Reads a configuration; without a file, the defaults and the flags.
///
/// # Errors
/// All problems of the file and the flags, in the order of the text.
pub(crate) fn load(
    file: Option<File<'_>>,
    flags: &Flags,
    environment: &Environment<'_>,
) -> Result<Loaded, Problems> {
    let file = file.unwrap_or(File { name: "trilith.toml", text: "" });
    let source = Source::new(file.name, file.text);
    let (table, faults) = toml::de::DeTable::parse_recoverable(file.text);
    if !faults.is_empty() {
        // What the parser guessed after a syntax error would only add problems that are not there.
        return Err(Problems::of_syntax(&source, &faults));
    }
    let mut walk = walk::Walk::new(environment);
    let root = walk.root(&table);
    let mut build = build::Build::new(walk.problems);
    let config = build.config(&root, flags);
    build.finish(&source, config)
}

#[cfg(test)]
mod tests;
