//! The parsed tree against the catalogue: unknown keys, types, variables, missing keys.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Environment;
use super::catalogue::{self, Key, Kind, Table};
use super::interpolate;
use super::problem::{At, Complaint, Problem};
use super::suggest::nearest;
use super::values::{self, Value};

/// A typed value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) at: At,
    pub(super) from_environment: bool,
}

/// A table whose values are typed.
#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Path in the catalogue.
    pub(super) path: &'static str,
    /// Path as messages say it, with indices.
    pub(super) shown: String,
    pub(super) at: At,
    pub(super) values: BTreeMap<&'static str, Found>,
    /// Keys that are there, good or not.
    pub(super) present: BTreeSet<&'static str>,
    pub(super) sections: BTreeMap<&'static str, Vec<Section>>,
}

impl Section {
    pub(super) fn new(path: &'static str, shown: String, at: At) -> Self {
        Self { path, shown, at, values: BTreeMap::new(), present: BTreeSet::new(), sections: BTreeMap::new() }
    }

    /// The path of one of this table's keys, as messages say it.
    pub(super) fn shown(&self, name: &str) -> String {
        if self.shown.is_empty() { name.to_owned() } else { format!("{}.{name}", self.shown) }
    }
}

/// The walk and the problems it met.
pub(super) struct Walk<'a> {
    environment: &'a Environment<'a>,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(environment: &'a Environment<'a>) -> Self {
        Self { environment, problems: Vec::new() }
    }

    /// Walks a whole document.
    pub(super) fn root(&mut self, table: &Spanned<DeTable<'_>>) -> Section {
        let root = Section::new("", String::new(), At::Offset(0));
        self.table(root, table.get_ref())
    }

    fn complain(&mut self, complaint: Complaint, offset: usize, key: impl Into<String>) {
        self.problems.push(complaint.at(At::Offset(offset), key));
    }

    fn table(&mut self, mut section: Section, table: &DeTable<'_>) -> Section {
        for (name, value) in table {
            let offset = name.span().start;
            let shown = section.shown(name.get_ref());
            let inner =
                catalogue::tables().find(|t| t.parent() == section.path && t.name() == name.get_ref());
            if let Some(key) = catalogue::key(section.path, name.get_ref()) {
                section.present.insert(key.name());
                let before = self.problems.len();
                let read = self.value(key, value, &shown);
                if self.problems.len() == before {
                    section.values.extend(read.map(|found| (key.name(), found)));
                }
            } else if let Some(inner) = inner {
                let inner_sections = self.sections(inner, value, offset, &shown);
                section.sections.entry(inner.name()).or_default().extend(inner_sections);
            } else {
                self.complain(unknown(section.path, name.get_ref()), offset, shown);
            }
        }
        let missing = catalogue::keys().filter(|key| key.required && key.table() == section.path);
        for key in missing.filter(|key| !section.present.contains(key.name())) {
            let help = format!("add `{} = {}`", key.name(), key.example);
            let problem = Complaint::new("is missing", help).at(section.at, section.shown(key.name()));
            self.problems.push(problem);
        }
        section
    }

    fn sections(
        &mut self,
        inner: &'static Table,
        value: &Spanned<DeValue<'_>>,
        offset: usize,
        shown: &str,
    ) -> Vec<Section> {
        let name = inner.name();
        match (value.get_ref(), inner.is_list()) {
            (DeValue::Table(table), false) => {
                vec![self.table(Section::new(inner.path, shown.to_owned(), At::Offset(offset)), table)]
            }
            (DeValue::Array(items), true) => {
                let mut sections = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let shown = format!("{shown}[{index}]");
                    let at = item.span().start;
                    match item.get_ref() {
                        DeValue::Table(table) => {
                            sections.push(self.table(Section::new(inner.path, shown, At::Offset(at)), table));
                        }
                        _ => self.complain(Complaint::new("must be a table", "write `{ … }`"), at, shown),
                    }
                }
                sections
            }
            (_, true) => {
                let help =
                    format!("write `[[{}]]` above its keys, or `{name} = [{{ … }}]`", list_header(inner));
                self.complain(Complaint::new("must be a list of tables", help), offset, shown);
                Vec::new()
            }
            (_, false) => {
                let help = format!("write `[{name}]` above its keys, or `{name} = {{ … }}`");
                self.complain(Complaint::new("must be a table", help), offset, shown);
                Vec::new()
            }
        }
    }

    pub(super) fn value(&mut self, key: &Key, value: &Spanned<DeValue<'_>>, shown: &str) -> Option<Found> {
        let at = value.span().start;
        let found = |value, from_environment| Some(Found { value, at: At::Offset(at), from_environment });
        match (&key.kind, value.get_ref()) {
            (kind, DeValue::String(text)) => {
                let (value, from_environment) = self.text(key, kind, text, at, shown)?;
                found(value, from_environment)
            }
            (Kind::List(what, check), DeValue::Array(items)) => {
                let kind = Kind::Text(what, *check);
                let mut list = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let shown = format!("{shown}[{index}]");
                    list.extend(self.entry(key, &kind, item, &shown));
                }
                found(Value::List(list), false)
            }
            (Kind::Map(what, check_name, check), DeValue::Table(table)) => {
                let kind = Kind::Text(what, *check);
                let mut map = Vec::new();
                for (name, item) in table {
                    let shown = format!("{shown}.{}", name.get_ref());
                    if let Err(complaint) = check_name(name.get_ref()) {
                        self.complain(complaint, name.span().start, shown);
                        continue;
                    }
                    let value = self.entry(key, &kind, item, &shown);
                    map.extend(value.map(|value| (name.get_ref().to_string(), value)));
                }
                found(Value::Map(map), false)
            }
            (kind, other) => match values::plain(kind, other) {
                Ok(value) => found(value, false),
                Err(complaint) => {
                    self.complain(complaint, at, shown);
                    None
                }
            },
        }
    }

    fn entry(&mut self, key: &Key, kind: &Kind, item: &Spanned<DeValue<'_>>, shown: &str) -> Option<String> {
        let at = item.span().start;
        match item.get_ref() {
            DeValue::String(text) => match self.text(key, kind, text, at, shown)? {
                (Value::Text(text), _) => Some(text),
                _ => None,
            },
            other => {
                self.complain(values::wrong_type(kind, other), at, shown);
                None
            }
        }
    }

    fn text(&mut self, key: &Key, kind: &Kind, text: &str, at: usize, shown: &str) -> Option<(Value, bool)> {
        if !key.environment && text.contains("${") {
            let complaint = Complaint::new(
                "variables are not read here",
                "write the name itself: other keys refer to it by its text",
            );
            self.complain(complaint, at, shown);
            return None;
        }
        match interpolate::fill(text, self.environment) {
            Ok(filled) => match values::text(kind, &filled.text, filled.from_environment) {
                Ok(value) => return Some((value, filled.from_environment)),
                Err(complaint) => self.complain(complaint, at, shown),
            },
            Err(faults) => {
                for complaint in faults {
                    self.complain(complaint, at, shown);
                }
            }
        }
        None
    }
}

fn list_header(table: &Table) -> String {
    table.path.replace("[]", "")
}

fn unknown(table: &str, name: &str) -> Complaint {
    if name.contains("${") {
        return Complaint::new("unknown key", "variables are read in values only");
    }
    let keys = catalogue::keys().filter(|key| key.table() == table).map(Key::name);
    let tables = catalogue::tables().filter(|t| t.parent() == table).map(Table::name);
    let mut siblings: Vec<&str> = keys.chain(tables).collect();
    if let Some(near) = nearest(name, siblings.iter().copied()) {
        return Complaint::new("unknown key", format!("did you mean `{near}`?"));
    }
    let elsewhere = catalogue::keys().find(|key| key.name() == name);
    if let Some(key) = elsewhere {
        let at = if key.table().is_empty() { "the top".to_owned() } else { format!("`{}`", key.table()) };
        return Complaint::new("unknown key", format!("`{name}` belongs in {at}"));
    }
    siblings.sort_unstable();
    Complaint::new("unknown key", format!("known here are {}", siblings.join(", ")))
}
