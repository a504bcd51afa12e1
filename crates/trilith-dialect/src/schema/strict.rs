//! What can be said of a schema without changing it.

use std::collections::HashSet;

use trilith_core::{Json, Loss, OutputFormat};

use super::walk::{Below, below};
use crate::tape::{Tape, Value};

/// Whether a schema can be held to strictly: every object of it is closed and asks for all of its properties
/// (openai-checklist S2).
pub(crate) fn qualifies(schema: Option<&Json>) -> bool {
    let Some(schema) = schema else { return false };
    let mut tape = Tape::default();
    tape.read(schema.as_str()).is_ok_and(|root| {
        root.get("anyOf").is_none() && root.str("type").is_some_and(|word| word == "object") && closed(root)
    })
}

/// Whether an answer's form is asked for strictly on a wire with these rules. A format without a name comes from a
/// wire with other rules: it promises as much and asks for less.
pub(crate) fn strict_format(format: &OutputFormat, losses: &mut Vec<Loss>) -> Option<bool> {
    if format.strict != Some(true) || format.name.is_some() || qualifies(format.schema.as_ref()) {
        return format.strict;
    }
    let why = "sent without strict, which this wire has for closed schemas only; looked at here";
    losses.push(Loss::emulate("text.format", why));
    Some(false)
}

/// The keywords below which further schemas lie, by name or in a list.
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];
const LISTED: [&str; 2] = ["anyOf", "allOf"];

fn closed(schema: Value<'_>) -> bool {
    let is_object = schema.get("type").is_some_and(|word| {
        word.string().is_some_and(|word| word == "object")
            || word.elements().any(|word| word.string().is_some_and(|word| word == "object"))
    });
    if is_object || schema.get("properties").is_some() {
        let required: Vec<_> = schema
            .get("required")
            .map(|list| list.elements().filter_map(Value::string).collect())
            .unwrap_or_default();
        let all = schema
            .get("properties")
            .is_none_or(|properties| properties.members().all(|(name, _)| required.contains(&name)));
        if !all || schema.get("additionalProperties").and_then(Value::bool) != Some(false) {
            return false;
        }
    }
    NAMED.iter().all(|word| schema.get(word).is_none_or(|map| map.members().all(|(_, below)| closed(below))))
        && LISTED.iter().all(|word| schema.get(word).is_none_or(|list| list.elements().all(closed)))
        && schema.get("items").is_none_or(closed)
}

/// The longest way along parts and references; a longer one counts as one without an end.
const DEEPEST: usize = 256;

/// Whether a part of the schema refers to itself or to what contains it. References that lead nowhere, or out of
/// the schema, do not count.
pub(crate) fn is_recursive(schema: &Json) -> bool {
    let mut tape = Tape::default();
    let Ok(root) = tape.read(schema.as_str()) else { return false };
    let mut search = Search { root, open: Vec::new(), done: HashSet::new() };
    search.visit(root)
}

/// A walk along schemas and references. A part is visited once, so the walk ends.
struct Search<'t> {
    root: Value<'t>,
    /// Where the parts that are being visited begin.
    open: Vec<usize>,
    done: HashSet<usize>,
}

impl<'t> Search<'t> {
    fn visit(&mut self, schema: Value<'t>) -> bool {
        let place = schema.range().start;
        if self.open.contains(&place) || self.open.len() == DEEPEST {
            return true;
        }
        if !self.done.insert(place) {
            return false;
        }
        self.open.push(place);
        let target = schema.str("$ref").and_then(|pointer| find(self.root, &pointer));
        let found = target.is_some_and(|target| self.visit(target))
            || schema.members().any(|(word, value)| match below(&word) {
                None => false,
                Some(Below::Named) => value.members().any(|(_, schema)| self.visit(schema)),
                Some(Below::Schemas) => {
                    self.visit(value) || value.elements().any(|schema| self.visit(schema))
                }
            });
        self.open.pop();
        found
    }
}

/// The part that a reference names by its place (RFC 6901).
fn find<'t>(root: Value<'t>, reference: &str) -> Option<Value<'t>> {
    let mut at = root;
    for step in reference.strip_prefix('#')?.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        at = match step.parse::<usize>() {
            Ok(place) => at.elements().nth(place).or_else(|| at.member(&step))?,
            Err(_) => at.member(&step)?,
        };
    }
    Some(at)
}
