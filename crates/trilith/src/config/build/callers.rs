//! Models that callers name, and the callers' keys.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::super::model::{ApiKey, LOCAL, Local, Model, Target, ToolRow};
use super::super::suggest::nearest;
use super::super::values::check;
use super::super::walk::Section;
use super::Build;

impl Build {
    pub(super) fn models(&mut self, root: &Section, local: Option<&Local>) -> Vec<Model> {
        let mut names = Vec::new();
        let mut models = Vec::new();
        let providers = self.provider_names(root);
        let local_providers = self.local_providers(root);
        for section in root.sections.get("models").into_iter().flatten() {
            self.unique(&mut names, section, "name");
            let targets: Vec<Target> = section
                .sections
                .get("targets")
                .into_iter()
                .flatten()
                .map(|target| self.target(target, providers.as_deref(), &local_providers, local))
                .collect();
            if targets.is_empty() && !self.has_problem_below(section) {
                let help = "add `targets = [{ provider = \"NAME\", model = \"*\" }]`";
                self.complain(section.at, section.shown("targets"), "a model needs a target", help);
            }
            let model = Model {
                name: self.text(section, "name").unwrap_or_default(),
                strict: self.flag(section, "strict"),
                local_only: self.flag(section, "local_only"),
                targets,
            };
            if model.local_only && !model.targets.is_empty() && !model.targets.iter().any(|one| one.local) {
                let at = self.place(section, "local_only");
                let help = "mark a target or its provider `local = true`";
                self.complain(at, section.shown("local_only"), "no target of this model is local", help);
            }
            models.push(model);
        }
        if let Some(local) = local
            && !models.iter().any(|model| model.name == local.name)
        {
            let target = Target { provider: LOCAL.to_owned(), model: local.name.clone(), local: true };
            let (name, targets) = (local.name.clone(), vec![target]);
            models.push(Model { name, targets, strict: false, local_only: false });
        }
        if let Some(first) = root.sections.get("providers").and_then(|sections| sections.first())
            && !root.sections.contains_key("models")
        {
            let help = "add `[[models]]` with `name = \"*\"` and `targets`";
            self.warn(first.at, "providers", "no model leads to a provider", help);
        }
        models
    }

    /// The names of all providers; `None` when one has no good name, so that targets cannot be judged.
    fn provider_names(&self, root: &Section) -> Option<Vec<String>> {
        let sections = root.sections.get("providers").into_iter().flatten();
        let names: Option<BTreeSet<String>> = sections.map(|section| self.text(section, "name")).collect();
        names.map(|names| names.into_iter().collect())
    }

    /// The names of the providers that may have local-only data.
    fn local_providers(&self, root: &Section) -> Vec<String> {
        let sections = root.sections.get("providers").into_iter().flatten();
        let local = sections.filter(|section| self.flag(section, "local"));
        let embedded = std::iter::once(LOCAL.to_owned());
        local.filter_map(|section| self.text(section, "name")).chain(embedded).collect()
    }

    fn target(
        &mut self,
        section: &Section,
        providers: Option<&[String]>,
        local_providers: &[String],
        local: Option<&Local>,
    ) -> Target {
        let provider = self.text(section, "provider");
        let model = self.text(section, "model").unwrap_or_default();
        if let (Some(provider), Some(known)) = (&provider, providers) {
            let at = self.place(section, "provider");
            let shown = section.shown("provider");
            if provider == LOCAL && local.is_none() {
                let help = "add `[local]` with `model = \"FILE.gguf\"`, or start with --model FILE";
                self.complain(at, shown, "there is no embedded model", help);
            } else if provider != LOCAL && !known.contains(provider) {
                let help = match nearest(provider, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None if known.is_empty() => "add `[[providers]]`".to_owned(),
                    None => format!("providers are {}", known.join(", ")),
                };
                self.complain(
                    at,
                    shown,
                    format!("no provider is named \"{}\"", provider.escape_debug()),
                    help,
                );
            }
        }
        let provider = provider.unwrap_or_default();
        let local = self.said(section, "local").unwrap_or_else(|| local_providers.contains(&provider));
        Target { provider, model, local }
    }

    fn has_problem_below(&self, section: &Section) -> bool {
        let below = section.shown("targets");
        self.problems.iter().any(|problem| problem.key.starts_with(&below))
    }

    pub(super) fn tools(&mut self, root: &Section) -> Vec<ToolRow> {
        let mut names = Vec::new();
        let sections = root.sections.get("tools").into_iter().flatten();
        sections
            .map(|section| {
                self.unique(&mut names, section, "name");
                let name = self.text(section, "name").unwrap_or_default();
                ToolRow { name, local_only: self.flag(section, "local_only") }
            })
            .collect()
    }

    /// Warns of rules that refuse every request, since nothing is marked local.
    pub(super) fn warn_of_nowhere(&mut self, root: &Section, models: &[Model]) {
        if models.iter().flat_map(|model| &model.targets).any(|target| target.local) {
            return;
        }
        for list in ["tools", "keys"] {
            for section in root.sections.get(list).into_iter().flatten() {
                if self.flag(section, "local_only") {
                    let at = self.place(section, "local_only");
                    let message = "no target of any model is local, so that such requests are always refused";
                    let help = "mark a target or its provider `local = true`";
                    self.warn(at, section.shown("local_only"), message, help);
                }
            }
        }
    }

    pub(super) fn keys(&mut self, root: &Section) -> Vec<ApiKey> {
        let mut names = Vec::new();
        let mut keys: Vec<(ApiKey, String)> = Vec::new();
        for section in root.sections.get("keys").into_iter().flatten() {
            self.unique(&mut names, section, "name");
            let Some(digest) = self.digest(section) else { continue };
            if let Some((_, first)) = keys.iter().find(|(key, _)| key.digest == digest) {
                let message = format!("is the key of {first} too");
                self.complain(section.at, section.shown.clone(), message, "give each caller its own key");
                continue;
            }
            let key = ApiKey {
                name: self.text(section, "name").unwrap_or_default(),
                tenant: self.text(section, "tenant").unwrap_or_default(),
                digest,
                models: self.list(section, "models"),
                max_requests: self.number(section, "max_requests"),
                local_only: self.flag(section, "local_only"),
            };
            keys.push((key, section.shown.clone()));
        }
        keys.into_iter().map(|(key, _)| key).collect()
    }

    fn digest(&mut self, section: &Section) -> Option<[u8; 32]> {
        let hash = self.text(section, "key_hash");
        let plain = self.text(section, "key");
        let present = |name| section.present.contains(name);
        match (present("key_hash"), present("key")) {
            (true, true) => {
                let help = "keep `key_hash`";
                self.complain(section.at, section.shown.clone(), "has both `key_hash` and `key`", help);
            }
            (false, false) => {
                let help = "add `key_hash = \"sha256:…\"`; `printf %s KEY | sha256sum` prints the digits";
                self.complain(section.at, section.shown("key_hash"), "is missing", help);
            }
            _ => {}
        }
        if let Some(hash) = hash {
            return check::parse_hash(&hash);
        }
        let plain = plain?;
        let at = self.place(section, "key");
        let shown = section.shown("key");
        if self.found(section, "key").is_some_and(|found| !found.from_environment) {
            let help = "use `key_hash` (`printf %s KEY | sha256sum` prints the digits) or `${VARIABLE}`";
            self.warn(at, shown.clone(), "the key stands in the file in plain text", help);
        }
        if plain.len() < 16 {
            self.warn(at, shown, "the key is shorter than 16 characters", "use a long random one");
        }
        Some(Sha256::digest(plain.as_bytes()).into())
    }
}
