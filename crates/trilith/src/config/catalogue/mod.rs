//! The catalogue: every key that the file may hold, as data.

mod callers;
mod process;
mod upstream;

use super::problem::Complaint;

/// Says whether a text is a good value.
pub(super) type Check = fn(&str) -> Result<(), Complaint>;

/// What a key holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// Text; the first says in words which.
    Text(&'static str, Check),
    /// One of a few words; those of the second list are known but not in this version.
    Choice(&'static [&'static str], &'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A whole number between both.
    Count(u64, u64),
    /// Bytes between both: a whole number or text such as `"32MiB"`.
    Size(u64, u64),
    /// Milliseconds between both: text such as `"10s"`, or a whole number of seconds.
    Duration(u64, u64),
    /// A list of texts.
    List(&'static str, Check),
    /// A table of texts: the check of its names, then of its values.
    Map(&'static str, Check, Check),
}

/// One key.
#[derive(Clone, Copy)]
pub(super) struct Key {
    /// Dotted path; `[]` follows the name of a list of tables: `models[].targets[].model`.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// TOML text of the value that holds when the key is left out.
    pub(super) default: Option<&'static str>,
    pub(super) required: bool,
    /// Whether `${VARIABLE}` is read in its value.
    pub(super) environment: bool,
    /// Whether its value must never be shown.
    pub(super) secret: bool,
    pub(super) doc: &'static str,
    /// TOML text of a value that a person might write.
    pub(super) example: &'static str,
}

/// One table or list of tables.
#[derive(Clone, Copy)]
pub(super) struct Table {
    /// As a key's path; a list of tables ends in `[]`.
    pub(super) path: &'static str,
    pub(super) doc: &'static str,
}

impl Key {
    const fn new(path: &'static str, kind: Kind, example: &'static str, doc: &'static str) -> Self {
        Self { path, kind, default: None, required: false, environment: true, secret: false, doc, example }
    }

    const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// `${VARIABLE}` is refused: other keys refer to this value by its text.
    const fn literal(mut self) -> Self {
        self.environment = false;
        self
    }

    const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The path of the table that holds the key.
    pub(super) fn table(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// The last part of the path.
    pub(super) fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }
}

impl Table {
    /// The path of the table that holds this one.
    pub(super) fn parent(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// The last part of the path, without `[]`.
    pub(super) fn name(&self) -> &'static str {
        let name = self.path.rsplit_once('.').map_or(self.path, |(_, name)| name);
        name.strip_suffix("[]").unwrap_or(name)
    }

    pub(super) fn is_list(&self) -> bool {
        self.path.ends_with("[]")
    }
}

/// All keys, in the order of the documentation.
pub(super) fn keys() -> impl Iterator<Item = &'static Key> {
    [process::KEYS, upstream::KEYS, callers::KEYS].into_iter().flatten()
}

/// All tables, in the order of the documentation.
pub(super) fn tables() -> impl Iterator<Item = &'static Table> {
    [process::TABLES, upstream::TABLES, callers::TABLES].into_iter().flatten()
}

/// The key of a table by its name.
pub(super) fn key(table: &str, name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name() == name && key.table() == table)
}
