//! References written out in full, for wires that have none (translation contract §5).

use serde_json::{Map, Value};

use super::{
    Unfit, shown,
    walk::{Below, below, is_remark},
};

/// The most that a schema may weigh once it is written out, in bytes of its text or nearly so.
const HEAVIEST: usize = 1 << 20;
/// How many schemas may lie within each other.
const DEEPEST: usize = 100;

/// The schema with every reference replaced by what it names, and without definitions.
///
/// # Errors
/// A part contains itself, a reference leads nowhere, or the whole is too large.
pub(crate) fn expand(root: &Value) -> Result<Value, Unfit> {
    let mut work = Expansion { root, open: Vec::new(), weight: 0, depth: 0 };
    let mut whole = work.schema(root)?;
    if let Some(members) = whole.as_object_mut() {
        for word in ["$defs", "definitions"] {
            members.shift_remove(word);
        }
    }
    Ok(whole)
}

struct Expansion<'r> {
    root: &'r Value,
    /// The references that are being written out.
    open: Vec<&'r str>,
    weight: usize,
    depth: usize,
}

impl<'r> Expansion<'r> {
    fn schema(&mut self, schema: &'r Value) -> Result<Value, Unfit> {
        let Some(members) = schema.as_object() else {
            self.weigh(schema)?;
            return Ok(schema.clone());
        };
        if self.depth == DEEPEST {
            return Err(Unfit::TooLarge);
        }
        self.depth += 1;
        let mut out = Map::new();
        for (word, value) in members {
            self.add(word.len() + 4)?;
            let value = match (word.as_str(), below(word)) {
                ("$ref", _) if value.is_string() => continue,
                // What is here is reached by references alone.
                ("$defs" | "definitions", _) => continue,
                (_, Some(Below::Named)) if value.is_object() => self.named(value)?,
                (_, Some(Below::Schemas)) => self.schemas(value)?,
                _ => {
                    self.weigh(value)?;
                    value.clone()
                }
            };
            out.insert(word.clone(), value);
        }
        let whole = match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => joined(self.target(reference)?, out),
            None => Value::Object(out),
        };
        self.depth -= 1;
        Ok(whole)
    }

    fn named(&mut self, value: &'r Value) -> Result<Value, Unfit> {
        let mut out = Map::new();
        for (name, schema) in value.as_object().into_iter().flatten() {
            self.add(name.len() + 4)?;
            out.insert(name.clone(), self.schema(schema)?);
        }
        Ok(Value::Object(out))
    }

    fn schemas(&mut self, value: &'r Value) -> Result<Value, Unfit> {
        match value {
            Value::Array(list) => {
                let list = list.iter().map(|schema| self.schema(schema));
                list.collect::<Result<Vec<_>, _>>().map(Value::Array)
            }
            schema => self.schema(schema),
        }
    }

    fn target(&mut self, reference: &'r str) -> Result<Value, Unfit> {
        if self.open.contains(&reference) {
            return Err(Unfit::Recursive(shown(reference)));
        }
        let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(&unescaped(pointer)));
        let target = target.ok_or_else(|| Unfit::Nowhere(shown(reference)))?;
        self.open.push(reference);
        let target = self.schema(target);
        self.open.pop();
        target
    }

    fn weigh(&mut self, value: &Value) -> Result<(), Unfit> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.add(8),
            Value::String(text) => self.add(text.len() + 2),
            Value::Array(list) => list.iter().try_for_each(|value| self.weigh(value)),
            Value::Object(members) => members.iter().try_for_each(|(name, value)| {
                self.add(name.len() + 4)?;
                self.weigh(value)
            }),
        }
    }

    fn add(&mut self, bytes: usize) -> Result<(), Unfit> {
        self.weight += bytes + 2;
        if self.weight > HEAVIEST { Err(Unfit::TooLarge) } else { Ok(()) }
    }
}

/// A reference's pointer is part of an address, where some characters are written by their codes.
fn unescaped(pointer: &str) -> String {
    if !pointer.contains('%') {
        return pointer.to_owned();
    }
    let mut out = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let code = behind.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) if *byte == b'%' => {
                out.push(code);
                rest = behind.get(2..).unwrap_or_default();
            }
            _ => {
                out.push(*byte);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What a reference names, with what stands beside the reference.
fn joined(target: Value, beside: Map<String, Value>) -> Value {
    if beside.is_empty() {
        return target;
    }
    match target {
        Value::Object(mut members) if beside.keys().all(|word| is_remark(word)) => {
            members.extend(beside);
            Value::Object(members)
        }
        // Both hold.
        target => {
            let mut both = Map::new();
            both.insert("allOf".into(), Value::Array(vec![target, Value::Object(beside)]));
            Value::Object(both)
        }
    }
}
