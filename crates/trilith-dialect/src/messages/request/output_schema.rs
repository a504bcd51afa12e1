//! The schema of an answer as this wire takes it. It holds the text to kinds, properties and listed values; what
//! a schema says of numbers, lengths and patterns is told to the model in words (the wire's own SDKs do the
//! same), and whoever promised more has to look at the answer.

use serde_json::{Map, Value, json};
use trilith_core::Json;

use crate::schema::{Unfit, is_recursive, is_remark};

/// The formats of texts that the wire holds to.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// A schema for this wire.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Written {
    pub(super) schema: Json,
    /// Whether it asks for less than was asked for.
    pub(super) weaker: bool,
}

/// The schema in this wire's words.
///
/// # Errors
/// It says something that this wire cannot even nearly say.
pub(super) fn written(schema: &Json) -> Result<Written, Unfit> {
    if is_recursive(schema) {
        return Err(Unfit::Recursive("#".into()));
    }
    let value: Value = serde_json::from_str(schema.as_str()).map_err(|_| Unfit::NoSchema)?;
    let mut weaker = false;
    let value = said(&value, &mut weaker)?;
    Ok(Written { schema: Json::from_checked(value.to_string()), weaker })
}

/// One schema. Sets `weaker` where it asks for less than the given one.
fn said(schema: &Value, weaker: &mut bool) -> Result<Value, Unfit> {
    let Some(members) = schema.as_object() else {
        return Err(if schema.is_boolean() { Unfit::Anything } else { Unfit::NoSchema });
    };
    let mut out = Map::new();
    let mut words = Words::default();
    for word in ["$defs", "definitions"] {
        if let Some(named) = members.get(word).and_then(Value::as_object) {
            let named = named.iter().map(|(name, schema)| Ok((name.clone(), said(schema, weaker)?)));
            out.insert(word.into(), Value::Object(named.collect::<Result<_, Unfit>>()?));
        }
    }
    if let Some(reference) = members.get("$ref") {
        out.insert("$ref".into(), reference.clone());
        *weaker |= members.keys().any(|word| word != "$ref" && !is_remark(word) && !out.contains_key(word));
        return Ok(Value::Object(out));
    }
    if let Some(kinds) = members.get("type").and_then(Value::as_array) {
        return either(members, kinds, weaker);
    }
    let kind = members.get("type").and_then(Value::as_str);
    if let Some(kind) = kind {
        out.insert("type".into(), kind.into());
    }
    choices(members, &mut out, weaker)?;
    match kind {
        Some("object") => object(members, &mut out, weaker)?,
        Some("array") => array(members, &mut out, weaker)?,
        _ => {}
    }
    // Values that are listed one by one say what kind they are.
    if out.contains_key("enum") || out.contains_key("const") {
        out.shift_remove("type");
    } else if kind.is_none() && !out.contains_key("anyOf") && !out.contains_key("allOf") {
        return Err(Unfit::Anything);
    }
    for (word, value) in members {
        let taken = out.contains_key(word)
            || matches!(word.as_str(), "type" | "oneOf" | "additionalProperties" | "description")
            || matches!((word.as_str(), kind), ("properties" | "required", Some("object")));
        match word.as_str() {
            _ if taken => {}
            "title" => drop(out.insert(word.clone(), value.clone())),
            "format" if kind == Some("string") && FORMATS.iter().any(|known| value == known) => {
                out.insert(word.clone(), value.clone());
            }
            "$schema" | "$id" | "$comment" | "deprecated" | "readOnly" | "writeOnly" => {}
            "default" | "examples" => words.add(word, value),
            _ => {
                *weaker = true;
                words.add(word, value);
            }
        }
    }
    words.describe(members.get("description").and_then(Value::as_str), &mut out);
    Ok(Value::Object(out))
}

/// Several kinds: a choice among schemas of one kind each.
fn either(members: &Map<String, Value>, kinds: &[Value], weaker: &mut bool) -> Result<Value, Unfit> {
    let mut list = Vec::new();
    for kind in kinds {
        let mut one = members.clone();
        one.insert("type".into(), kind.clone());
        for word in ["$defs", "definitions", "description", "title", "default"] {
            one.shift_remove(word);
        }
        // What is said of one kind says nothing of another.
        let fits = |word: &String| {
            of_kind(word).is_none_or(|of| kind.as_str().is_some_and(|kind| of.contains(&kind)))
        };
        one.retain(|word, _| fits(word));
        list.push(said(&Value::Object(one), weaker)?);
    }
    let mut out = Map::new();
    for word in ["$defs", "definitions"] {
        if let Some(named) = members.get(word).and_then(Value::as_object) {
            let named = named.iter().map(|(name, schema)| Ok((name.clone(), said(schema, weaker)?)));
            out.insert(word.into(), Value::Object(named.collect::<Result<_, Unfit>>()?));
        }
    }
    out.insert("anyOf".into(), Value::Array(list));
    for word in ["title", "description"] {
        if let Some(value) = members.get(word) {
            out.insert(word.into(), value.clone());
        }
    }
    Ok(Value::Object(out))
}

/// The kinds of values that a keyword speaks of, if it does not speak of all.
fn of_kind(word: &str) -> Option<&'static [&'static str]> {
    Some(match word {
        "properties"
        | "required"
        | "additionalProperties"
        | "patternProperties"
        | "propertyNames"
        | "minProperties"
        | "maxProperties" => &["object"],
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" | "contains" => &["array"],
        "minLength" | "maxLength" | "pattern" | "format" => &["string"],
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            &["integer", "number"]
        }
        _ => return None,
    })
}

/// Choices among schemas, and values that are listed.
fn choices(
    members: &Map<String, Value>,
    out: &mut Map<String, Value>,
    weaker: &mut bool,
) -> Result<(), Unfit> {
    let scalar = |value: &Value| !value.is_object() && !value.is_array();
    if let Some(list) = members.get("enum").and_then(Value::as_array)
        && !list.is_empty()
        && list.iter().all(scalar)
    {
        out.insert("enum".into(), Value::Array(list.clone()));
    }
    if let Some(value) = members.get("const").filter(|value| scalar(value)) {
        out.insert("const".into(), value.clone());
    }
    for (word, to) in [("anyOf", "anyOf"), ("oneOf", "anyOf"), ("allOf", "allOf")] {
        let Some(list) = members.get(word).and_then(Value::as_array) else { continue };
        let list = list.iter().map(|schema| said(schema, weaker)).collect::<Result<Vec<_>, _>>()?;
        // Exactly one is more than any, and of two choices the wire knows one.
        *weaker |= word == "oneOf" || out.contains_key("anyOf");
        if !out.contains_key("anyOf") {
            out.insert(to.into(), Value::Array(list));
        }
    }
    Ok(())
}

fn object(
    members: &Map<String, Value>,
    out: &mut Map<String, Value>,
    weaker: &mut bool,
) -> Result<(), Unfit> {
    let named = members.get("properties").and_then(Value::as_object);
    let closed = members.get("additionalProperties") == Some(&Value::Bool(false));
    // The wire closes every object. Where names are free, that would leave nothing to say.
    let free = members.get("additionalProperties").is_some_and(|more| more != &Value::Bool(false))
        || members.contains_key("patternProperties")
        || !closed && named.is_none_or(Map::is_empty);
    if free {
        return Err(Unfit::Open);
    }
    let named = named.into_iter().flatten().map(|(name, schema)| Ok((name.clone(), said(schema, weaker)?)));
    out.insert("properties".into(), Value::Object(named.collect::<Result<_, Unfit>>()?));
    if let Some(required) = members.get("required").filter(|required| required.is_array()) {
        out.insert("required".into(), required.clone());
    }
    out.insert("additionalProperties".into(), json!(false));
    Ok(())
}

fn array(members: &Map<String, Value>, out: &mut Map<String, Value>, weaker: &mut bool) -> Result<(), Unfit> {
    if let Some(items) = members.get("items").filter(|items| items.is_object()) {
        out.insert("items".into(), said(items, weaker)?);
    }
    if let Some(least) = members.get("minItems").filter(|least| matches!(least.as_u64(), Some(0 | 1))) {
        out.insert("minItems".into(), least.clone());
    }
    Ok(())
}

/// What is told in words.
#[derive(Default)]
struct Words(Vec<String>);

impl Words {
    fn add(&mut self, word: &str, value: &Value) {
        self.0.push(format!("{word}: {value}"));
    }

    fn describe(self, own: Option<&str>, out: &mut Map<String, Value>) {
        let told = (!self.0.is_empty()).then(|| format!("{{{}}}", self.0.join(", ")));
        let text = match (own, told) {
            (Some(own), Some(told)) => format!("{own}\n\n{told}"),
            (Some(own), None) => own.to_owned(),
            (None, Some(told)) => told,
            (None, None) => return,
        };
        out.insert("description".into(), text.into());
    }
}
