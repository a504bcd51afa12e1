//! The quick pass takes nothing that `serde_json` does not take, and takes it as the same.

use proptest::prelude::*;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

use super::quick;

/// One of everything that the wire types are made of.
#[derive(Debug, Default, Deserialize)]
#[expect(dead_code, reason = "most are only compared, by what Debug says of them")]
struct All<'a> {
    text: Option<String>,
    number: Option<f64>,
    count: Option<u64>,
    flag: Option<bool>,
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
    list: Option<Vec<All<'a>>>,
    ignored: Option<IgnoredAny>,
    any: Option<Value>,
}

fn same(text: &str) {
    let slow = serde_json::from_str::<All<'_>>(text).map(|all| format!("{all:?}"));
    if let Ok(quick) = quick::<All<'_>>(text) {
        assert_eq!(format!("{quick:?}"), slow.unwrap_or_default(), "{text}");
    }
    let slow = serde_json::from_str::<Value>(text);
    if let Ok(quick) = quick::<Value>(text) {
        assert_eq!(Some(quick), slow.ok(), "{text}");
    }
    if quick::<&RawValue>(text).is_ok() {
        assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "{text}");
    }
}

#[test]
fn usual_bodies_are_taken() {
    let text = r#" { "text" : "a\n\u00e9\ud83d\ude00", "number": -1.5e3, "count": 18446744073709551615,
        "flag": true, "raw": {"a": [1, {"b": []}, "\ud800"], "c": {}}, "list": [{"count": 7}, {}, {"text": null}],
        "ignored": [[], {}, 0], "any": {"x": [0.25, -3]}, "unknown": {"deep": [[[]]]} } "#;
    let all = quick::<All<'_>>(text).unwrap();
    assert_eq!(all.text.as_deref(), Some("a\né😀"));
    assert_eq!(all.number, Some(-1500.0));
    assert_eq!(all.count, Some(u64::MAX));
    assert_eq!(all.raw.unwrap().get(), r#"{"a": [1, {"b": []}, "\ud800"], "c": {}}"#);
    assert_eq!(all.list.unwrap()[0].count, Some(7));
    same(text);
}

#[test]
fn broken_bodies_are_left_to_serde_json() {
    for text in [
        "",
        "{",
        "{}x",
        r#"{"text":"\ud800"}"#,
        r#"{"raw":}"#,
        r#"{"raw":[1,]}"#,
        r#"{"raw":{"a":1,}}"#,
        r#"{"raw":{"a"}}"#,
        r#"{"raw":[1}}"#,
        r#"{"raw":01}"#,
        r#"{"count":-0}"#,
        "{\"text\":\"\u{1}\"}",
        r#"{"flag":tru}"#,
        r#"{"list":[{}"#,
        r#"{"text":1}"#,
        r#"{"text":"a" "flag":true}"#,
        "{,}",
        "[,1]",
    ] {
        same(text);
    }
    let deep = format!("{{\"raw\":{}1{}}}", "[".repeat(4000), "]".repeat(4000));
    assert!(quick::<All<'_>>(&deep).is_err());
}

/// JSON of the members above, and text that is nearly JSON.
fn text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|flag| flag.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        any::<i64>().prop_map(|number| number.to_string()),
        "-?[0-9]{1,21}(\\.[0-9]{0,3})?([eE][+-]?[0-9]{0,2})?",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        "\"(\\\\u[0-9a-fd]{4}|\\\\[nt\"\\\\/bfr]|[a-zé😀]){0,8}\"",
    ];
    let value = scalar.prop_recursive(4, 24, 5, |inner| {
        let name = prop::sample::select(vec![
            "text",
            "number",
            "count",
            "flag",
            "raw",
            "list",
            "ignored",
            "any",
            "other",
            "t\\u0065xt",
        ]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|list| format!("[{}]", list.join(", "))),
            proptest::collection::vec((name, inner), 0..5).prop_map(|members| {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    (value, any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3, "[\\]\\[{}:,\"a0 ]").prop_map(
        |(text, from, to, edit, insert)| {
            let place = |index: prop::sample::Index| text.floor_char_boundary(index.index(text.len() + 1));
            let (from, to) = (place(from), place(to));
            match edit {
                0 => text,
                1 => format!("{}{insert}{}", &text[..from], &text[from..]),
                _ => format!("{}{}", &text[..from.min(to)], &text[from.max(to)..]),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn agrees_with_serde_json(text in text()) {
        same(&text);
        same(&format!("{{\"any\":{text},\"raw\":{text}}}"));
    }
}
