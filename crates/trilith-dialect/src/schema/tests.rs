use proptest::prelude::*;
use serde_json::{Value, json};
use trilith_core::Json;

use super::{Unfit, expand, is_recursive, is_wrapped, parameters, qualifies, unwrap, wrap};
use crate::{ALL_CAPABILITIES, Capabilities};

fn raw(value: &Value) -> Json {
    Json::from_checked(value.to_string())
}

fn fit_for(schema: &Value, can: &Capabilities) -> (Value, bool, usize) {
    let schema = raw(schema);
    let mut losses = Vec::new();
    let fit = parameters("tools[0]", Some(&schema), can, &mut losses).unwrap();
    assert_eq!(fit.wrapped, is_wrapped(Some(&schema)));
    (serde_json::from_str(&fit.json).unwrap(), fit.wrapped, losses.len())
}

fn fit(schema: &Value) -> (Value, bool, usize) {
    fit_for(schema, &ALL_CAPABILITIES)
}

#[test]
fn schemas_that_are_taken_stay_as_they_are() {
    for text in [
        r#"{"type":"object","properties":{"n":{"type":["string","null"],"minLength":1.0}}}"#,
        // Siblings of anyOf, and parts that contain themselves, are the target's own business.
        r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}],"type":"string"}}}"#,
        r##"{ "type" : "object","properties":{"next":{"$ref":"#"}},"required":[]}"##,
        r##"{"$defs":{"n":{"$ref":"#/$defs/n"}},"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}"##,
        r#"{"type":"object","properties":{"required":{"type":"boolean"},"a":{"const":{"required":true}}}}"#,
    ] {
        let schema = Json::from_checked(text);
        let fit = parameters("t", Some(&schema), &ALL_CAPABILITIES, &mut Vec::new()).unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&fit.json).unwrap(),
            serde_json::from_str::<Value>(text).unwrap(),
            "{text}"
        );
        assert!(!fit.wrapped);
    }
    let none = parameters("t", None, &ALL_CAPABILITIES, &mut Vec::new()).unwrap();
    assert_eq!((&*none.json, none.wrapped), (r#"{"type":"object","properties":{}}"#, false));
}

#[test]
fn a_root_becomes_an_object() {
    let string = json!({"type": "string"});
    let inside = |schema: &Value| {
        json!({
            "type": "object", "properties": {"value": schema}, "required": ["value"],
            "additionalProperties": false,
        })
    };
    for (schema, sent, wrapped, told) in [
        (json!({}), json!({"type": "object"}), false, 0),
        (
            json!({"properties": {"a": string}}),
            json!({"type": "object", "properties": {"a": string}}),
            false,
            0,
        ),
        (json!({"description": "d"}), json!({"type": "object", "description": "d"}), false, 0),
        (
            json!({"type": ["object", "null"], "properties": {}}),
            json!({"type": "object", "properties": {}}),
            false,
            1,
        ),
        // Properties without an object around them.
        (
            json!({"city": {"type": "string", "required": true}, "type": string}),
            json!({
                "type": "object", "properties": {"city": string, "type": string}, "required": ["city"],
            }),
            false,
            1,
        ),
        (
            json!({"type": "array", "items": string}),
            inside(&json!({"type": "array", "items": string})),
            true,
            1,
        ),
        (json!({"anyOf": [string]}), inside(&json!({"anyOf": [string]})), true, 1),
        (json!({"enum": [1, 2]}), inside(&json!({"enum": [1, 2]})), true, 1),
        (
            json!({"type": "array", "items": {"$ref": "#"}, "contains": {"$ref": "#/$defs/a"}, "$defs": {"a": string}}),
            inside(&json!({
                "type": "array", "items": {"$ref": "#/properties/value"},
                "contains": {"$ref": "#/properties/value/$defs/a"}, "$defs": {"a": string},
            })),
            true,
            1,
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}}),
            json!({
                "type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}},
            }),
            false,
            0,
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}),
            inside(&json!({
                "$ref": "#/properties/value/$defs/a", "$defs": {"a": {"$ref": "#/properties/value/$defs/a"}},
            })),
            true,
            1,
        ),
    ] {
        assert_eq!(fit(&schema), (sent, wrapped, told), "{schema}");
    }
}

#[test]
fn flags_of_old_drafts_become_lists() {
    let old = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "required": true},
            "b": {"type": "object", "required": true, "properties": {"c": {"required": true}, "d": {"required": false}}},
            "e": {"type": "array", "items": {"type": "string", "required": true}},
        },
        "required": ["b"],
    });
    let new = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": "object", "properties": {"c": {}, "d": {}}, "required": ["c"]},
            "e": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["b", "a"],
    });
    assert_eq!(fit(&old), (new, false, 1));
}

#[test]
fn references_are_written_out_for_a_model_without_them() {
    let can = Capabilities { schema_refs: false, ..Capabilities::default() };
    let node = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/node", "description": "first"},
            "b": {"$ref": "#/$defs/node", "required": ["n"]},
            "$ref": {"type": "string"},
            "c": {"const": {"$ref": "#/nowhere"}},
            "d": {"$ref": "#/definitions/a%20b~1c"},
        },
        "$defs": {"node": node},
        "definitions": {"a b/c": {"type": "null"}},
    });
    let mut described = node.clone();
    described["description"] = json!("first");
    let sent = json!({
        "type": "object",
        "properties": {
            "a": described,
            "b": {"allOf": [node, {"required": ["n"]}]},
            "$ref": {"type": "string"},
            "c": {"const": {"$ref": "#/nowhere"}},
            "d": {"type": "null"},
        },
    });
    assert_eq!(fit_for(&schema, &can), (sent, false, 1));
    for (schema, why) in [
        (json!({"type": "object", "properties": {"n": {"$ref": "#"}}}), "contains itself"),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}), "contains itself"),
        (json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/x"}}}), "leads to no part"),
        (json!({"type": "object", "properties": {"n": {"$ref": "https://a.example/s"}}}), "leads to no part"),
    ] {
        let refused = parameters("tools[0]", Some(&raw(&schema)), &can, &mut Vec::new()).unwrap_err();
        assert_eq!(refused.param.as_deref(), Some("tools[0].parameters"));
        assert!(refused.public.contains(why), "{}", refused.public);
    }
}

/// Thirty definitions, each of which holds the next one twice, say a thousand million parts.
#[test]
fn what_grows_without_end_is_refused_at_once() {
    let mut defs = serde_json::Map::new();
    for n in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(format!("d{n}"), json!({"properties": {"a": next, "b": next}}));
    }
    defs.insert("d30".into(), json!({"type": "string"}));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": defs});
    assert_eq!(expand(&schema), Err(Unfit::TooLarge));
    assert!(!is_recursive(&raw(&schema)));
    // A long chain is no deeper than what can be walked.
    let chain = (0..5000).map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)})));
    let schema = json!({"$ref": "#/$defs/d0", "$defs": chain.collect::<serde_json::Map<_, _>>()});
    assert_eq!(expand(&schema), Err(Unfit::TooLarge));
    assert!(is_recursive(&raw(&schema)));
}

#[test]
fn what_contains_itself_is_found() {
    for (schema, recursive) in [
        (json!({"properties": {"n": {"$ref": "#"}}}), true),
        (
            json!({"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
            true,
        ),
        (
            json!({"properties": {"a": {"$ref": "#/$defs/a"}, "b": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}),
            false,
        ),
        (json!({"const": {"$ref": "#"}, "properties": {"$ref": {"type": "string"}}}), false),
    ] {
        assert_eq!(is_recursive(&raw(&schema)), recursive, "{schema}");
    }
}

#[test]
fn strictness_needs_closed_objects_that_ask_for_all() {
    let closed = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let inner = closed(json!({"a": {"type": ["string", "null"]}}), json!(["a"]));
    for (schema, fits) in [
        (inner.clone(), true),
        (closed(json!({"in": inner}), json!(["in"])), true),
        (closed(json!({"in": inner}), json!([])), false),
        (closed(json!({"in": {"type": "object", "properties": {}}}), json!(["in"])), false),
        (json!({"type": "object", "properties": {}}), false),
        (json!({"type": "array", "items": inner}), false),
        (json!({"anyOf": [inner]}), false),
    ] {
        assert_eq!(qualifies(Some(&raw(&schema))), fits, "{schema}");
    }
}

#[test]
fn a_value_comes_back_as_it_was() {
    for args in ["[1, 2]", "\"a\"", "{\"value\":1}", "null"] {
        assert_eq!(unwrap(wrap(args)), args);
    }
    // What is no JSON goes as text, and what a model wrote of its own stays.
    assert_eq!(wrap("[1,"), r#"{"value":"[1,"}"#);
    for other in ["[1]", r#"{"value":1,"b":2}"#, "{\"value\":"] {
        assert_eq!(unwrap(other.to_owned()), other);
    }
}

fn schema() -> impl Strategy<Value = Value> {
    let name = || prop_oneof![Just("a"), Just("b"), Just("c")];
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "object"})),
        Just(json!(true)),
        name().prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/properties/a", "description": "d"})),
        Just(json!({"required": true, "$ref": 1})),
    ];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let named = || prop::collection::vec((name(), inner.clone()), 0..3);
        (named(), named(), prop::collection::vec(inner.clone(), 0..3), 0..4_u8).prop_map(
            |(properties, defs, list, kind)| {
                let object = |members: Vec<(&str, Value)>| {
                    Value::Object(members.into_iter().map(|(name, schema)| (name.into(), schema)).collect())
                };
                let mut schema = json!({"properties": object(properties), "$defs": object(defs)});
                match kind {
                    0 => schema["type"] = json!("object"),
                    1 => schema["anyOf"] = json!(list),
                    2 => schema["type"] = json!(["array", "null"]),
                    _ => {}
                }
                schema
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn writing_out_ends_is_bounded_and_leaves_no_reference(schema in schema()) {
        if let Ok(whole) = expand(&schema) {
            let text = whole.to_string();
            prop_assert!(text.len() <= 2 << 20);
            prop_assert!(!text.contains("\"$ref\":\"#"));
        } else {
            prop_assert!(schema.to_string().contains("$ref"));
        }
    }

    #[test]
    fn arguments_are_always_of_an_object(schema in schema()) {
        let given = raw(&schema);
        for refs in [true, false] {
            let can = Capabilities { schema_refs: refs, ..Capabilities::default() };
            let Ok(fit) = parameters("t", Some(&given), &can, &mut Vec::new()) else { continue };
            let sent: Value = serde_json::from_str(&fit.json).unwrap();
            prop_assert_eq!(&sent["type"], "object");
            prop_assert_eq!(fit.wrapped, is_wrapped(Some(&given)));
        }
    }
}
