//! The exceptions in `tidy.toml`: each one names a file, words and a reason, and has to be of use.

use std::fs;
use std::path::Path;

/// The exceptions, and which of them have excused something.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    file: String,
    word: String,
    used: bool,
}

impl Allowed {
    /// Reads the exceptions.
    ///
    /// # Errors
    /// An unreadable file, text that is not TOML, or an entry without file, words or reason.
    pub(crate) fn read(path: &Path) -> Result<Allowed, String> {
        let text =
            fs::read_to_string(path).map_err(|why| format!("cannot read {}: {why}", path.display()))?;
        Allowed::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// Reads the exceptions from text; the errors are those of [`Allowed::read`].
    pub(crate) fn parse(text: &str) -> Result<Allowed, String> {
        let table: toml::Table = text.parse().map_err(|why: toml::de::Error| why.to_string())?;
        let mut entries = Vec::new();
        let listed = table.get("allow").and_then(toml::Value::as_array);
        for entry in listed.into_iter().flatten() {
            let field = |name: &str| entry.get(name).and_then(toml::Value::as_str).unwrap_or_default();
            let file = field("file");
            let words = entry.get("words").and_then(toml::Value::as_array);
            if file.is_empty() || field("reason").is_empty() || words.is_none_or(Vec::is_empty) {
                return Err(format!("an exception needs file, words and reason (file: {file:?})"));
            }
            entries.extend(words.into_iter().flatten().filter_map(toml::Value::as_str).map(|word| Entry {
                file: file.to_owned(),
                word: word.to_owned(),
                used: false,
            }));
        }
        Ok(Allowed { entries })
    }

    /// Whether `file` may spell `word`; remembers that the exception was needed.
    pub(crate) fn excuses(&mut self, file: &str, word: &str) -> bool {
        let mut excused = false;
        for entry in self.entries.iter_mut().filter(|entry| entry.file == file && entry.word == word) {
            entry.used = true;
            excused = true;
        }
        excused
    }

    /// One line for each exception that excused nothing.
    pub(crate) fn unused(&self) -> Vec<String> {
        let idle = self.entries.iter().filter(|entry| !entry.used);
        idle.map(|entry| format!("xtask/tidy.toml: {:?} in {} excuses nothing", entry.word, entry.file))
            .collect()
    }
}
