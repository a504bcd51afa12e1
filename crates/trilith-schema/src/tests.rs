use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trilith_core::{Json, Schemas};

use super::JsonSchemas;

fn raw(schema: &Value) -> Json {
    Json::from_checked(schema.to_string())
}

fn check(schema: &Value, text: &str) -> Result<(), Box<str>> {
    JsonSchemas.ready(&raw(schema)).unwrap().check(text)
}

#[test]
fn a_text_matches_or_it_is_said_where_not() {
    let schema = json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer", "maximum": 9},
            "s": {"type": "string", "maxLength": 2, "pattern": "^a"},
            "d": {"type": "string", "format": "date"},
            "l": {"type": "array", "items": {"$ref": "#/$defs/even"}, "maxItems": 2},
        },
        "required": ["n"],
        "additionalProperties": false,
        "$defs": {"even": {"multipleOf": 2}},
    });
    for (text, wrong) in [
        (r#"{"n": 1, "s": "a", "d": "2026-12-01", "l": [2]}"#, None),
        (" {\"n\":9}\n", None),
        (r#"{"n": 10}"#, Some("'/n' breaks the rule 'maximum'")),
        (r#"{"n": 1, "l": [2, 3]}"#, Some("'/l/1' breaks the rule 'multipleOf'")),
        (r#"{"n": 1, "s": "abc"}"#, Some("'/s' breaks the rule 'maxLength'")),
        (r#"{"n": 1, "s": "b"}"#, Some("'/s' breaks the rule 'pattern'")),
        (r#"{"n": 1, "d": "soon"}"#, Some("'/d' breaks the rule 'format'")),
        (r#"{}"#, Some("the whole breaks the rule 'required'")),
        (r#"{"n": 1, "x": 1}"#, Some("the whole breaks the rule 'additionalProperties'")),
        (r#"[1]"#, Some("the whole breaks the rule 'type'")),
        (r#"{"n": 1"#, Some("it is no whole JSON")),
        ("", Some("it is no whole JSON")),
        (r#"{"n": 1} and more"#, Some("it is no JSON, or has more than JSON")),
        ("```json\n{\"n\": 1}\n```", Some("it is no JSON, or has more than JSON")),
    ] {
        assert_eq!(check(&schema, text).err().as_deref(), wrong, "{text}");
    }
}

#[test]
fn schemas_that_no_text_can_be_held_to_are_refused() {
    for schema in [
        json!({"type": "strin"}),
        json!({"pattern": "("}),
        json!({"pattern": "(?=a)b"}),
        json!({"pattern": "(a{1000}){1000}"}),
        json!({"$ref": "https://a.example/schema"}),
        json!({"$ref": "file:///etc/passwd"}),
        json!({"$ref": "#/$defs/nothing"}),
    ] {
        assert!(JsonSchemas.ready(&raw(&schema)).is_err(), "{schema}");
    }
}

/// Each of these would run for longer than anybody waits for a test.
#[test]
fn neither_schema_nor_text_makes_it_run_long() {
    let twice = |n: usize| json!({"$ref": format!("#/$defs/d{n}")});
    let mut defs: Map<String, Value> =
        (0..60).map(|n| (format!("d{n}"), json!({"anyOf": [twice(n + 1), twice(n + 1)]}))).collect();
    defs.insert("d60".into(), json!({"type": "integer"}));
    assert!(JsonSchemas.ready(&raw(&json!({"$ref": "#/$defs/d0", "$defs": defs}))).is_err());
    // A part that contains itself in two ways, and a text as deep as a text can be.
    let depth = 100;
    let list = json!({"type": "array", "items": {"$ref": "#"}});
    let schema = json!({"anyOf": [list, list, {"oneOf": [list, list, list]}, {"type": "integer"}]});
    let text = format!("{}\"x\"{}", "[".repeat(depth), "]".repeat(depth));
    assert!(check(&schema, &text).is_err());
    let long = "a".repeat(100_000);
    assert!(check(&json!({"pattern": "^(a+)+$"}), &format!("\"{long}b\"")).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_makes_it_panic(schema in "[{}\\[\\]\",:$a-z#/0-9]{0,60}", text in ".{0,60}") {
        if serde_json::from_str::<Value>(&schema).is_ok()
            && let Ok(ready) = JsonSchemas.ready(&Json::from_checked(schema))
        {
            ready.check(&text).ok();
        }
    }
}
