//! The schema of a tool's arguments. Every wire wants an object there, and some callers have another idea.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use trilith_core::{Error, Json, Loss};

use super::{
    Unfit, expand,
    lift::{lift_flags, may_have_flags},
    text,
    walk::{Below, below, is_keyword, is_remark},
};
use crate::{
    Capabilities,
    tape::{self, Kind, Tape},
};

/// A function without arguments.
pub(crate) const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// The property that holds arguments which are no object.
pub(crate) const VALUE: &str = "value";

/// The error code of a schema that cannot be sent.
const CODE: &str = "invalid_function_parameters";

/// How often a root may refer to another part.
const MOST_STEPS: usize = 32;

/// A schema of arguments as the wire takes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameters<'t> {
    pub(crate) json: Cow<'t, str>,
    /// Whether the arguments are inside of an object's one property.
    pub(crate) wrapped: bool,
}

/// What a root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    /// An object that says so.
    Object,
    /// An object that does not say so.
    Unsaid,
    /// An object or something else.
    Either,
    /// Properties without an object around them.
    Bare,
    /// Another part of the schema.
    Reference,
    /// Anything else.
    Other,
    /// No schema.
    None,
}

fn root_of(schema: tape::Value<'_>) -> Root {
    if schema.kind() != Kind::Object {
        return Root::None;
    }
    if let Some(kind) = schema.get("type").filter(|kind| kind.kind() != Kind::Object) {
        let is_object = |word: tape::Value<'_>| word.string().is_some_and(|word| word == "object");
        return match kind.elements().any(is_object) {
            true => Root::Either,
            false if is_object(kind) => Root::Object,
            false => Root::Other,
        };
    }
    if schema.str("$ref").is_some() {
        return Root::Reference;
    }
    let mut members = schema.members().peekable();
    // Keywords whose values are objects are keywords; `type` and the like are then names of properties.
    let bare = |(word, value): &(Cow<'_, str>, tape::Value<'_>)| {
        let takes_object = matches!(&**word, "default" | "const" | "dependentRequired" | "dependencies");
        value.kind() == Kind::Object && below(word).is_none() && !takes_object && !word.starts_with('$')
    };
    if members.peek().is_some() && schema.members().all(|member| bare(&member)) {
        return Root::Bare;
    }
    let of_objects = |word: &str| {
        is_remark(word)
            || word.starts_with('$')
            || !is_keyword(word)
            || matches!(
                word,
                "properties"
                    | "required"
                    | "additionalProperties"
                    | "patternProperties"
                    | "propertyNames"
                    | "minProperties"
                    | "maxProperties"
                    | "unevaluatedProperties"
                    | "dependentRequired"
                    | "dependentSchemas"
                    | "dependencies"
                    | "definitions"
            )
    };
    if schema.get("properties").is_some() || members.all(|(word, _)| of_objects(&word)) {
        Root::Unsaid
    } else {
        Root::Other
    }
}

/// Whether the text begins as nearly all schemas of arguments do.
fn begins_as_object(schema: &str) -> bool {
    schema.starts_with(r#"{"type":"object""#) || schema.starts_with(r#"{"type": "object""#)
}

/// Whether arguments of that schema are sent inside of an object's one property.
pub(crate) fn is_wrapped(schema: Option<&Json>) -> bool {
    let Some(schema) = schema.map(|schema| schema.as_str().trim()) else { return false };
    if begins_as_object(schema) {
        return false;
    }
    let mut tape = Tape::default();
    let Ok(root) = tape.read(schema) else { return false };
    match root_of(root) {
        Root::Other => true,
        Root::Reference => serde_json::from_str(schema).is_ok_and(|schema| followed(&schema).is_none()),
        _ => false,
    }
}

/// The schema as wires take it: an object at the root, flags of draft 3 in their list, and no references for a
/// model that knows none.
///
/// # Errors
/// It has no such form; the error names the path, which is that of the tool.
pub(crate) fn parameters<'t>(
    at: &str,
    schema: Option<&'t Json>,
    can: &Capabilities,
    losses: &mut Vec<Loss>,
) -> Result<Parameters<'t>, Error> {
    let Some(given) = schema.map(|schema| schema.as_str().trim()).filter(|schema| *schema != "null") else {
        return Ok(Parameters { json: Cow::Borrowed(NO_ARGUMENTS), wrapped: false });
    };
    let references = !can.schema_refs && given.contains("\"$ref\"");
    let flags = may_have_flags(given);
    if begins_as_object(given) && !references && !flags {
        return Ok(Parameters { json: Cow::Borrowed(given), wrapped: false });
    }
    let path = || format!("{at}.parameters");
    let mut tape = Tape::default();
    let root = tape.read(given).map_or(Root::None, root_of);
    if root == Root::None {
        return Err(Unfit::NoSchema.refuse(&path(), CODE));
    }
    if root == Root::Object && !references && !flags {
        return Ok(Parameters { json: Cow::Borrowed(given), wrapped: false });
    }
    if root == Root::Unsaid && !references && !flags {
        let rest = given.strip_prefix('{').unwrap_or(given).trim_start();
        let comma = if rest == "}" { "" } else { "," };
        return Ok(Parameters { json: format!(r#"{{"type":"object"{comma}{rest}"#).into(), wrapped: false });
    }
    let mut value: Value = serde_json::from_str(given).map_err(|_| Unfit::NoSchema.refuse(&path(), CODE))?;
    if references {
        value = expand(&value).map_err(|unfit| unfit.refuse(&path(), CODE))?;
        losses.push(Loss::emulate(path(), "sent with its references written out"));
    }
    let (mut value, wrapped) = with_object_root(value, root);
    if wrapped {
        losses.push(Loss::emulate(path(), "sent inside of an object, which the upstream asks for"));
    } else if root == Root::Either {
        losses.push(Loss::hint(path(), "sent as an object and nothing else, as arguments are"));
    }
    if lift_flags(&mut value) {
        losses.push(Loss::emulate(path(), "flags 'required' are sent as the list of their object"));
    }
    Ok(Parameters { json: Cow::Owned(text(&value).as_str().to_owned()), wrapped })
}

/// The schema with an object at its root, and whether it was put inside of one.
fn with_object_root(schema: Value, root: Root) -> (Value, bool) {
    match (schema, root) {
        (Value::Object(members), Root::Unsaid) => (typed(members), false),
        (Value::Object(mut members), Root::Either) => {
            members.insert("type".into(), "object".into());
            (Value::Object(members), false)
        }
        (schema, Root::Bare) => (json!({"type": "object", "properties": schema}), false),
        // After references are written out, the root is what it referred to.
        (schema, Root::Reference) => match followed(&schema) {
            Some(followed) => (followed, false),
            None => (wrapped(schema), true),
        },
        (schema, Root::Other) => (wrapped(schema), true),
        (schema, Root::Object | Root::None | Root::Unsaid | Root::Either) => (schema, false),
    }
}

fn typed(members: Map<String, Value>) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), "object".into());
    out.extend(members);
    Value::Object(out)
}

/// The object that a root refers to, with the definitions of the root; `None` if it is none.
fn followed(schema: &Value) -> Option<Value> {
    let mut at = schema;
    for _ in 0..MOST_STEPS {
        let members = at.as_object()?;
        let reference = members.get("$ref").and_then(Value::as_str);
        let bound = |word: &String| !is_remark(word) && !word.starts_with('$') && word != "definitions";
        let Some(reference) = reference.filter(|_| !members.keys().any(bound)) else {
            return (members.get("type")? == "object" && !members.contains_key("$ref")).then(|| {
                let mut whole = members.clone();
                // Other parts may refer to these by their place.
                for word in ["$defs", "definitions"] {
                    if let Some(definitions) = schema.get(word) {
                        whole.insert(word.into(), definitions.clone());
                    }
                }
                Value::Object(whole)
            });
        };
        at = schema.pointer(reference.strip_prefix('#')?)?;
    }
    None
}

/// The schema as the one property of an object. References in it name places, which move.
fn wrapped(mut schema: Value) -> Value {
    move_references(&mut schema);
    json!({
        "type": "object",
        "properties": { VALUE: schema },
        "required": [VALUE],
        "additionalProperties": false,
    })
}

fn move_references(schema: &mut Value) {
    let Some(members) = schema.as_object_mut() else { return };
    for (word, value) in members.iter_mut() {
        match (below(word), value) {
            (None, Value::String(reference)) if word == "$ref" => {
                if let Some(pointer) = reference.strip_prefix('#')
                    && (pointer.is_empty() || pointer.starts_with('/'))
                {
                    *reference = format!("#/properties/{VALUE}{pointer}");
                }
            }
            (Some(Below::Named), Value::Object(named)) => named.values_mut().for_each(move_references),
            (Some(Below::Schemas), Value::Array(list)) => list.iter_mut().for_each(move_references),
            (Some(Below::Schemas), schema) => move_references(schema),
            _ => {}
        }
    }
}

/// Arguments as the object's one property.
pub(crate) fn wrap(args: &str) -> String {
    let value = match args.trim() {
        "" => Cow::Borrowed("null"),
        args if Tape::default().read(args).is_ok() => Cow::Borrowed(args),
        args => Cow::Owned(crate::json::text_json(args).as_str().to_owned()),
    };
    format!("{{\"{VALUE}\":{value}}}")
}

/// The arguments inside of the object; what a model wrote otherwise stays as it is.
pub(crate) fn unwrap(args: String) -> String {
    let mut tape = Tape::default();
    let inner = tape.read(&args).ok().and_then(|object| {
        let alone = object.members().count() == 1;
        object.member(VALUE).filter(|_| alone).map(|value| value.raw().to_owned())
    });
    inner.unwrap_or(args)
}
