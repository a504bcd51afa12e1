//! `trilith check` and `trilith config`, and how every command reads its configuration.

use std::{fs, path::Path};

use crate::{
    cli::{ConfigOptions, DescribeOptions},
    config::{self, File, Flags, Loaded},
    say::{self, Failure},
};

const DEFAULT_FILE: &str = "trilith.toml";

/// Reads the configuration that the options name, the flags over it. Warnings are told at once.
pub(crate) fn load(options: &ConfigOptions, flags: &Flags) -> Result<Loaded, Failure> {
    let named = options.config.as_deref();
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    let text = match fs::read_to_string(path) {
        Ok(text) => Some(text),
        Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(path, &error).into()),
    };
    let name = path.display().to_string();
    let file = text.as_deref().map(|text| File { name: &name, text });
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    let loaded = config::load(file, flags, &|name| std::env::var(name).ok());
    let loaded =
        loaded.map_err(|problems| format!("the configuration does not hold together:\n{problems}"))?;
    for warning in &loaded.warnings {
        say::note(&format!("warning: {warning}"));
    }
    Ok(loaded)
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    let path = path.display();
    let next = match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("\n  `trilith config --sample > {path}` writes one to begin with")
        }
        _ => String::new(),
    };
    format!("cannot read {path}: {error}{next}")
}

/// Reads the configuration and says that it is good.
pub(crate) fn run(options: &ConfigOptions) -> Result<(), Failure> {
    let loaded = load(options, &Flags::default())?;
    let config = &loaded.config;
    if options.config.is_none() && !Path::new(DEFAULT_FILE).exists() {
        say::note(&format!(
            "there is no {DEFAULT_FILE} in this folder, so that every key has its default\n  \
             `trilith config --sample > {DEFAULT_FILE}` writes one to begin with; --config names another file"
        ));
    }
    say::out(&format!(
        "the configuration is good: {}, {}, {}, listening on {}",
        count(config.providers.len(), "provider"),
        count(config.models.len(), "model"),
        count(config.keys.len(), "key"),
        config.server.listen
    ));
    Ok(())
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Prints the keys, or a file to begin with.
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn describe(options: &DescribeOptions) -> Result<(), Failure> {
    let text = if options.sample { config::document::sample() } else { config::document::document() };
    say::bytes(text.as_bytes());
    Ok(())
}
