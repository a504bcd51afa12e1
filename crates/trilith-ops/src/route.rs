//! From the model that a caller names to the targets that may answer.

use std::collections::HashMap;
use std::sync::Arc;

use trilith_core::{Pattern, Pin, PinRule};

/// A configured model.
#[derive(Clone, Debug)]
pub struct ModelEntry {
    /// A name, or a pattern when it holds `*`.
    pub name: String,
    /// In the order to try.
    pub targets: Vec<TargetEntry>,
    /// Whether a request that cannot be translated without loss is refused.
    pub strict: bool,
    /// Whether what is said and made under this name may go to local targets only.
    pub local_only: bool,
}

/// A configured target.
#[derive(Clone, Debug)]
pub struct TargetEntry {
    /// The provider's name.
    pub provider: String,
    /// Name of the model there; `*`: the name that the caller gave.
    pub model: String,
    /// Further tries of a request there, before the first byte.
    pub retries: u32,
    /// Whether it may have data that is local only.
    pub local: bool,
}

/// A place and a model there.
#[derive(Clone, Debug)]
pub struct Target {
    /// The provider's name.
    pub provider: Arc<str>,
    /// Number among all distinct targets of the router, from 0, for [`crate::Health`].
    pub index: usize,
    /// Further tries of a request here, before the first byte.
    pub retries: u32,
    /// Whether it may have data that is local only.
    pub local: bool,
    model: Option<Arc<str>>,
}

impl Target {
    /// The model's name there, where it is a fixed one; otherwise it is whatever the caller asks for.
    pub fn fixed_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// The model's name there, for a caller who asked for `asked`.
    pub fn model<'a>(&'a self, asked: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(asked)
    }
}

/// What a model's name leads to.
#[derive(Debug)]
pub struct Route {
    /// The name or pattern of the configuration.
    pub name: Box<str>,
    /// In the order to try.
    pub targets: Vec<Target>,
    /// Whether a request that cannot be translated without loss is refused.
    pub strict: bool,
    /// The rule by which requests to it may go to local targets only.
    pub pin: Option<Arc<Pin>>,
}

/// All configured models. A look-up is one hash, and for a name that is not configured itself one comparison
/// for each pattern; nothing is remembered for callers' names, so no caller can fill memory with them.
#[derive(Debug, Default)]
pub struct Router {
    by_name: HashMap<Box<str>, Arc<Route>>,
    patterns: Vec<(Pattern, Arc<Route>)>,
    /// Exact names in the order of the file.
    names: Vec<Arc<Route>>,
    targets: usize,
}

impl Router {
    /// Takes the configured models in the order of the file; of two with one name the first counts.
    pub fn new(entries: impl IntoIterator<Item = ModelEntry>) -> Self {
        let mut router = Self::default();
        let mut indices: HashMap<(String, String), usize> = HashMap::new();
        for entry in entries {
            let mut targets = Vec::with_capacity(entry.targets.len());
            for target in entry.targets {
                let next = indices.len();
                let place = (target.provider.clone(), target.model.clone());
                let index = *indices.entry(place).or_insert(next);
                targets.push(Target {
                    provider: target.provider.into(),
                    index,
                    retries: target.retries,
                    local: target.local,
                    model: (target.model != "*").then(|| target.model.into()),
                });
            }
            let name: Box<str> = entry.name.into();
            let pin = entry.local_only.then(|| Arc::new(Pin { rule: PinRule::Model, name: name.clone() }));
            let route = Arc::new(Route { name: name.clone(), targets, strict: entry.strict, pin });
            let pattern = Pattern::new(&name);
            if !pattern.is_name() {
                router.patterns.push((pattern, route));
            } else if !router.by_name.contains_key(&name) {
                router.names.push(Arc::clone(&route));
                router.by_name.insert(name, route);
            }
        }
        router.targets = indices.len();
        router
    }

    /// The route of a model: the entry of exactly that name, or else the first pattern that matches.
    pub fn resolve(&self, model: &str) -> Option<Arc<Route>> {
        let by_pattern =
            || self.patterns.iter().find(|(pattern, _)| pattern.matches(model)).map(|(_, route)| route);
        self.by_name.get(model).or_else(by_pattern).cloned()
    }

    /// The models with a name of their own, in the order of the file.
    pub fn named(&self) -> impl Iterator<Item = &Route> {
        self.names.iter().map(|route| &**route)
    }

    /// The models whose names are patterns, in the order of the file.
    pub fn patterns(&self) -> impl Iterator<Item = &Arc<Route>> {
        self.patterns.iter().map(|(_, route)| route)
    }

    /// How many distinct targets there are; [`Target::index`] is below it.
    pub fn target_count(&self) -> usize {
        self.targets
    }
}

#[cfg(test)]
mod tests;
