//! From typed sections to [`Config`]: defaults of the catalogue, and what holds between values.

mod callers;
mod capabilities;
mod process;
mod upstream;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use super::catalogue;
use super::model::Config;
use super::problem::{At, Complaint, Problem, Problems, Source, Warning};
use super::values::{self, Value};
use super::walk::{Found, Section};
use super::{Flags, Loaded};

/// The state of a build. Values that are broken were complained about already; the build goes on with empty
/// ones, for [`Build::finish`] hands out no configuration when there was any complaint.
pub(super) struct Build {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    /// Paths of the catalogue that were asked for; the tests compare them with the catalogue.
    pub(super) asked: RefCell<BTreeSet<String>>,
}

impl Build {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems, warnings: Vec::new(), asked: RefCell::default() }
    }

    /// Builds everything.
    pub(super) fn config(&mut self, root: &Section, flags: &Flags) -> Config {
        let server = self.server(&self.only(root, "server"), flags);
        let store = self.store(&self.only(root, "store"), flags);
        let log = self.log(&self.only(root, "log"));
        let limits = self.limits(&self.only(root, "limits"));
        let local = self.local(&self.only(root, "local"), flags);
        let seal = self.seal(&self.only(root, "seal"));
        let fetch = self.fetch(&self.only(root, "fetch"));
        let providers = self.providers(root, &limits);
        let models = self.models(root, local.as_ref());
        let capabilities = self.capabilities(root);
        let tools = self.tools(root);
        let keys = self.keys(root);
        self.warn_of_nowhere(root, &models);
        Config {
            server,
            store,
            log,
            limits,
            providers,
            models,
            capabilities,
            tools,
            keys,
            local,
            seal,
            fetch,
        }
    }

    /// Hands out the configuration, or everything that is wrong with it.
    pub(super) fn finish(self, source: &Source<'_>, config: Config) -> Result<Loaded, Problems> {
        if !self.problems.is_empty() {
            return Err(Problems::new(source, self.problems));
        }
        let warnings = self.warnings.iter().map(|warning| Warning::new(source, warning)).collect();
        Ok(Loaded { config, warnings })
    }

    fn complain(
        &mut self,
        at: At,
        key: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Complaint::new(message, help).at(at, key));
    }

    fn warn(&mut self, at: At, key: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.warnings.push(Complaint::new(message, help).at(at, key));
    }

    /// A table that may be left out.
    fn only(&self, section: &Section, name: &'static str) -> Section {
        let found = section.sections.get(name).and_then(|sections| sections.first());
        found.cloned().unwrap_or_else(|| {
            let path = catalogue::tables().find(|t| t.parent() == section.path && t.name() == name);
            Section::new(path.map_or(name, |table| table.path), section.shown(name), section.at)
        })
    }

    /// A key's value with its place, without the default.
    fn found<'s>(&self, section: &'s Section, name: &str) -> Option<&'s Found> {
        self.asked.borrow_mut().insert(format!("{}.{name}", section.path));
        section.values.get(name)
    }

    /// A key's value, or its default; none when it is broken.
    fn value(&self, section: &Section, name: &str) -> Option<Value> {
        match self.found(section, name) {
            Some(found) => Some(found.value.clone()),
            None if section.present.contains(name) => None,
            None => catalogue::key(section.path, name).and_then(default),
        }
    }

    fn text(&self, section: &Section, name: &str) -> Option<String> {
        match self.value(section, name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn path(&self, section: &Section, name: &str) -> Option<PathBuf> {
        self.text(section, name).map(PathBuf::from)
    }

    fn said(&self, section: &Section, name: &str) -> Option<bool> {
        match self.value(section, name) {
            Some(Value::Flag(flag)) => Some(flag),
            _ => None,
        }
    }

    fn flag(&self, section: &Section, name: &str) -> bool {
        self.value(section, name) == Some(Value::Flag(true))
    }

    fn list(&self, section: &Section, name: &str) -> Option<Vec<String>> {
        match self.value(section, name) {
            Some(Value::List(list)) => Some(list),
            _ => None,
        }
    }

    /// A number in the type it is used in; the catalogue's range keeps it from being cut.
    fn number<N: TryFrom<u64>>(&self, section: &Section, name: &str) -> Option<N> {
        match self.value(section, name) {
            Some(Value::Number(number)) => N::try_from(number).ok(),
            _ => None,
        }
    }

    fn duration(&self, section: &Section, name: &str) -> Option<Duration> {
        self.number(section, name).map(Duration::from_millis)
    }

    /// What a flag says over a key, checked as the key is; the key's own value otherwise.
    fn flag_or_key(
        &mut self,
        section: &Section,
        name: &'static str,
        flag: &'static str,
        said: Option<&String>,
    ) -> Option<String> {
        let own = self.text(section, name);
        let (Some(said), Some(key)) = (said, catalogue::key(section.path, name)) else { return own };
        match values::text(&key.kind, said, false) {
            Ok(_) => Some(said.clone()),
            Err(complaint) => {
                self.problems.push(complaint.at(At::Flag(flag), ""));
                None
            }
        }
    }

    /// Complains when a name came before in the same list.
    fn unique(&mut self, seen: &mut Vec<(String, String)>, section: &Section, name: &str) {
        let Some(text) = self.text(section, name) else { return };
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == text) {
            let message = format!("\"{text}\" is already the name of {first}");
            let at = self.place(section, name);
            self.complain(at, section.shown(name), message, "give each its own name");
        } else {
            seen.push((text, section.shown.clone()));
        }
    }

    /// Where a key's value stands, or its table when it is left out.
    fn place(&self, section: &Section, name: &str) -> At {
        self.found(section, name).map_or(section.at, |found| found.at)
    }
}

/// The default of a key as a value. The catalogue's defaults are tested to be good ones.
pub(super) fn default(key: &catalogue::Key) -> Option<Value> {
    let parsed = toml::de::DeValue::parse(key.default?).ok()?;
    match parsed.get_ref() {
        toml::de::DeValue::String(text) => values::text(&key.kind, text, false).ok(),
        toml::de::DeValue::Array(items) if items.is_empty() => Some(Value::List(Vec::new())),
        other => values::plain(&key.kind, other).ok(),
    }
}
