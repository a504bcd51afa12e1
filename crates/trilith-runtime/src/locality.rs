//! Data that may go to local targets only: which items hold it, and who may then take the turn.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use trilith_core::{
    CallKind, CallResult, DialectId, Error, ErrorKind, ErrorOrigin, Item, ItemBody, Pattern, Pin, PinRule,
};

use crate::{
    carriers::Places,
    failover::{Candidate, Failover},
    start::Runtime,
};

/// The rule of a row: the pin of a tool that is local only, nothing for one that is free.
type Rule = Option<Arc<Pin>>;

/// Which tools' results may go to local targets only. An exact name wins over patterns; of the patterns the first
/// that matches counts.
#[derive(Clone, Debug, Default)]
pub struct LocalTools {
    names: HashMap<Box<str>, Rule>,
    patterns: Vec<(Pattern, Rule)>,
    /// The rule for a result whose tool cannot be told.
    strictest: Rule,
}

impl LocalTools {
    /// Takes rows of a name or pattern (`*` stands for any text) and whether such tools are local only.
    pub fn new<'a>(rows: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        let mut tools = Self::default();
        for (name, local_only) in rows {
            let rule = local_only.then(|| Arc::new(Pin { rule: PinRule::Tool, name: name.into() }));
            tools.strictest = tools.strictest.or_else(|| rule.clone());
            let pattern = Pattern::new(name);
            if pattern.is_name() {
                tools.names.entry(name.into()).or_insert(rule);
            } else {
                tools.patterns.push((pattern, rule));
            }
        }
        tools
    }

    /// Whether no tool is local only.
    pub const fn is_empty(&self) -> bool {
        self.strictest.is_none()
    }

    fn rule(&self, name: &str) -> Option<&Arc<Pin>> {
        let by_pattern =
            || self.patterns.iter().find(|(pattern, _)| pattern.matches(name)).map(|(_, rule)| rule);
        self.names.get(name).or_else(by_pattern)?.as_ref()
    }

    /// The rule for a function or custom tool: by its name, or with its namespace as wires without namespaces
    /// spell it.
    fn rule_in(&self, namespace: Option<&str>, name: &str) -> Option<&Arc<Pin>> {
        let joined = namespace.and_then(|space| self.rule(&format!("{space}__{name}")));
        joined.or_else(|| self.rule(name))
    }

    /// The rule for what an item holds by itself: the results that some calls carry, and items of other wires.
    pub(crate) fn of_item(&self, item: &Item) -> Option<&Arc<Pin>> {
        match &item.body {
            ItemBody::Call(call) if carries_result(call.kind) => {
                self.rule(call.kind.name()).or_else(|| self.rule(&call.name))
            }
            ItemBody::Opaque(opaque) => self.rule(&opaque.kind),
            _ => None,
        }
    }

    fn of_result(&self, result: &CallResult, called: Option<(Option<&str>, &str)>) -> Option<&Arc<Pin>> {
        if !matches!(result.kind, CallKind::Function | CallKind::Custom) {
            return self.rule(result.kind.name());
        }
        let named = result.name.as_deref().filter(|name| !name.is_empty());
        let named = named.map(|name| (result.namespace.as_deref(), name));
        match called.or(named) {
            Some((namespace, name)) => self.rule_in(namespace, name),
            // Whose result it is cannot be told, so it may be anybody's.
            None => self.strictest.as_ref(),
        }
    }

    /// The items that hold what a local-only tool answered, by their places.
    fn held<'a>(&'a self, items: &[Item]) -> Vec<(usize, &'a Arc<Pin>)> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut called: HashMap<&str, (Option<&str>, &str)> = HashMap::new();
        let mut held = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let rule = match &item.body {
                ItemBody::Call(call) => {
                    if let Some(id) = &call.call_id {
                        called.insert(id, (call.namespace.as_deref(), &call.name));
                    }
                    self.of_item(item)
                }
                ItemBody::Result(result) => {
                    let called = result.call_id.as_deref().and_then(|id| called.get(id).copied());
                    self.of_result(result, called)
                }
                _ => self.of_item(item),
            };
            held.extend(rule.map(|rule| (place, rule)));
        }
        held
    }

    /// Marks the items that hold what a local-only tool answered. A mark that an item has stays.
    pub(crate) fn mark(&self, items: &mut [Item]) {
        let held: Vec<(usize, Arc<Pin>)> =
            self.held(items).into_iter().map(|(place, rule)| (place, Arc::clone(rule))).collect();
        for (place, rule) in held {
            if let Some(item) = items.get_mut(place) {
                item.pin.get_or_insert(rule);
            }
        }
    }
}

/// Whether calls of that kind hold what the tool answered, instead of an item of its own.
const fn carries_result(kind: CallKind) -> bool {
    match kind {
        CallKind::Mcp
        | CallKind::McpListTools
        | CallKind::WebSearch
        | CallKind::FileSearch
        | CallKind::CodeInterpreter
        | CallKind::ImageGeneration => true,
        CallKind::Function
        | CallKind::Custom
        | CallKind::McpApproval
        | CallKind::Computer
        | CallKind::LocalShell
        | CallKind::Shell
        | CallKind::ApplyPatch
        | CallKind::ToolSearch
        | CallKind::Program => false,
    }
}

/// For the log: which rule refused a request.
#[derive(Debug)]
struct HeldBy(Arc<Pin>);

impl fmt::Display for HeldBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "held to local targets by {}", self.0)
    }
}

impl std::error::Error for HeldBy {}

/// Why a request may be served by local targets only.
#[derive(Clone, Debug)]
pub struct Held {
    /// The rule.
    pub pin: Arc<Pin>,
    /// The caller's field that holds the data; nothing where the whole request is held.
    field: Option<String>,
}

impl Held {
    /// The whole request is held, by its key or its model.
    pub const fn whole(pin: Arc<Pin>) -> Self {
        Self { pin, field: None }
    }

    /// A request that brings its whole history itself is held by what that holds.
    pub fn by_tools(tools: &LocalTools, client: DialectId, items: &[Item]) -> Option<Self> {
        let places = Places { client, history: 0, input: None };
        let (place, pin) = tools.held(items).into_iter().next()?;
        Some(Self { pin: Arc::clone(pin), field: Some(places.item(place)) })
    }

    /// Held by the first marked item of a context.
    pub(crate) fn by_marks(items: &[Item], places: &Places) -> Option<Self> {
        let mut marked = items.iter().enumerate();
        let (place, pin) = marked.find_map(|(place, item)| Some((place, item.pin.as_ref()?)))?;
        Some(Self { pin: Arc::clone(pin), field: Some(places.item(place)) })
    }

    /// Leaves only local candidates to be tried. Called before the first try.
    ///
    /// # Errors
    /// No candidate for `model` (the caller's name for it) is local; nothing may be sent then.
    pub fn confine(
        &self,
        model: &str,
        candidates: &[Candidate],
        failover: &mut dyn Failover,
    ) -> Result<(), Error> {
        let local: HashSet<usize> =
            candidates.iter().enumerate().filter(|(_, one)| one.local).map(|(place, _)| place).collect();
        if local.is_empty() {
            return Err(self.refused(model));
        }
        failover.only(&local);
        Ok(())
    }

    fn refused(&self, model: &str) -> Error {
        let Self { pin, field } = self;
        let model: String = model.chars().take(80).collect();
        let text = if field.is_none() {
            format!(
                "{pin} is marked local_only, and no target of the model '{model}' is marked local; ask for a model \
                 that has a local target"
            )
        } else {
            format!(
                "this request holds data of {pin}, which is marked local_only, and no target of the model '{model}' \
                 is marked local; ask for a model that has a local target, or go on from before that data"
            )
        };
        let error = Error::new(ErrorKind::Forbidden, ErrorOrigin::Caller, text);
        let error = error.with_code("local_only").with_param(field.as_deref().unwrap_or("model"));
        error.with_source(HeldBy(Arc::clone(pin)))
    }
}

impl Runtime {
    /// Marks what the context holds that may go to local targets only, and what the request brings under a `pin` of
    /// its own; where there is any, leaves only local candidates to be tried and gives the rule.
    pub(crate) fn confine(
        &self,
        pin: Option<Arc<Pin>>,
        context: &mut [Item],
        places: &Places,
        model: &str,
        candidates: &[Candidate],
        failover: &mut dyn Failover,
    ) -> Result<Option<Arc<Pin>>, Error> {
        self.local_tools.mark(context);
        let held = match pin {
            None => Held::by_marks(context, places),
            Some(pin) => {
                for item in context.iter_mut().skip(places.history) {
                    item.pin.get_or_insert_with(|| Arc::clone(&pin));
                }
                Some(Held::whole(pin))
            }
        };
        let Some(held) = held else { return Ok(None) };
        held.confine(model, candidates, failover)?;
        Ok(Some(held.pin))
    }
}
