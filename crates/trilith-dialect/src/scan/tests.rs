use std::fmt::Write as _;

use bytes::Bytes;
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;

fn read(body: &str) -> Scan<'_> {
    scan(body.as_bytes(), &Limits::default()).unwrap()
}

fn fault(body: impl AsRef<[u8]>) -> Fault {
    scan(body.as_ref(), &Limits::default()).unwrap_err().fault
}

fn text(body: impl AsRef<[u8]>) -> String {
    scan(body.as_ref(), &Limits::default()).unwrap_err().to_string()
}

#[test]
fn members_lie_where_they_are_said_to_lie() {
    let body = " {\"model\" : \"a\\u0062\" ,\"n\":-12,\"stream\":true,\"x\":null,\n\"tools\":[{\"a\":{}},[]], \"o\":{\"model\":1}}\n";
    let scan = read(body);
    assert_eq!(scan.root(), Kind::Object);
    assert_eq!(scan.get("model"), Some(b"\"a\\u0062\"".as_slice()));
    assert_eq!(scan.string("model").as_deref(), Some("ab"));
    assert_eq!(scan.int("n"), Some(-12));
    assert_eq!(scan.bool("stream"), Some(true));
    assert_eq!(scan.kind("x"), Some(Kind::Null));
    assert_eq!(scan.raw("tools"), Some("[{\"a\":{}},[]]"));
    assert_eq!(scan.raw("o"), Some("{\"model\":1}"));
    assert_eq!(scan.get("absent"), None);
    assert_eq!((scan.string("n"), scan.bool("n"), scan.int("model")), (None, None, None));
    let keys: Vec<&str> = scan.members().iter().map(|member| &body[member.key_range.clone()]).collect();
    assert_eq!(keys, ["\"model\"", "\"n\"", "\"stream\"", "\"x\"", "\"tools\"", "\"o\""]);
}

#[test]
fn a_body_may_be_any_value() {
    for (body, root) in
        [("[1]", Kind::Array), (" 0 ", Kind::Number), ("\"\"", Kind::String), ("{}", Kind::Object)]
    {
        assert_eq!((read(body).root(), read(body).members().len()), (root, 0));
    }
}

#[test]
fn a_duplicate_key_is_named_however_it_is_escaped() {
    let duplicate = |key: &str| Fault::DuplicateKey { key: key.to_owned() };
    assert_eq!(fault("{\"model\":1,\"a\":2,\"mod\\u0065l\":3}"), duplicate("model"));
    assert_eq!(fault("{\"\\ud83d\\ude00\":1,\"😀\":2}"), duplicate("😀"));
    let mut many = String::from("{\"k7\":0");
    for key in 0..100 {
        write!(many, ",\"k{key}\":0").unwrap();
    }
    assert_eq!(fault(many + ",\"k3\":0}"), duplicate("k7"));
    assert_eq!(text("{\"a\":1,\n \"é\":1, \"a\":2}"), "duplicate key \"a\" at line 2, column 9 (byte 17)");
    assert!(text(format!("{{\"{0}\":1,\"{0}\":2}}", "k".repeat(9999))).len() < 200);
    read("{\"a\":{\"b\":1,\"b\":2},\"b\":{\"a\":1}}");
}

#[test]
fn what_is_not_json_is_refused() {
    let bodies = [
        "",
        " ",
        "{",
        "[",
        "\"",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "[1,]",
        "[,]",
        "[1 2]",
        "{a:1}",
        "{'a':1}",
        "{\"a\" 1}",
        "{1:2}",
        "}",
        "]",
        "[}",
        "{]",
        "[1}",
        "{\"a\":1]",
        "{}{}",
        "1 2",
        "{}x",
        "nul",
        "nulL",
        "True",
        "NaN",
        "Infinity",
        "-",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x10",
        "1.e1",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\",
        "\"\\u",
        "\"a\nb\"",
        "\"\u{0}\"",
        "\"\t\"",
        "/**/1",
        "\u{feff}{}",
        "\u{a0}1",
        "\"\u{1f}\"",
        "[1]\u{c}",
    ];
    for body in bodies {
        let error = scan(body.as_bytes(), &Limits::default()).expect_err(body);
        assert!(error.offset <= body.len(), "{body:?}");
        assert!(serde_json::from_str::<&RawValue>(body).is_err(), "{body:?}");
    }
}

#[test]
fn what_is_json_is_accepted() {
    let bodies = [
        "0",
        "-0",
        "10.50e+3",
        "1E400",
        "\"\\ud800\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
        "\"\u{7f}é😀\"",
        "[[],{},[[]],\"\",null]",
        "\r\n\t {\"\":\"\"}\r\n\t ",
    ];
    for body in bodies {
        read(body);
    }
}

#[test]
fn errors_say_what_and_where() {
    assert_eq!(text("{\"a\": NaN}"), "expected a value, found 'N' at line 1, column 7 (byte 6)");
    assert_eq!(text("{\n  \"é\": 1,\n}"), "expected a key, found '}' at line 3, column 1 (byte 13)");
    assert_eq!(
        text("{\"a\":1"),
        "expected ',' or '}', found the end of the body at line 1, column 7 (byte 6)"
    );
    assert_eq!(
        text("[\"é\u{1}\"]"),
        "control character U+0001 in a string, which must be escaped at line 1, column 4 (byte 4)"
    );
    assert_eq!(text(b"[\"\xFF\"]"), "invalid UTF-8 at line 1, column 3 (byte 2)");
    assert_eq!(text("[007]"), "a number must not start with a needless zero at line 1, column 2 (byte 1)");
    assert_eq!(text("[1] é"), "expected the end of the body, found 'é' at line 1, column 5 (byte 4)");
}

#[test]
fn every_byte_that_must_end_a_plain_run_does_so_at_every_place() {
    for length in 0..80 {
        for (special, valid) in [("\"", true), ("\u{1f}", false), ("\\n\"", true), ("\\q\"", false)] {
            let plain: String = "é \u{7f}~!#[]".chars().cycle().take(length).collect();
            let body = format!("\"{plain}{special}");
            let outcome = scan(body.as_bytes(), &Limits::default());
            assert_eq!(outcome.is_ok(), valid, "{body:?}");
            let padded = format!("[{body},1]");
            assert_eq!(scan(padded.as_bytes(), &Limits::default()).is_ok(), valid, "{padded:?}");
        }
    }
}

#[test]
fn depth_and_members_are_limited() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    read(&nested(128));
    assert_eq!(fault(nested(129)), Fault::TooDeep { limit: 128 });
    assert_eq!(fault("[".repeat(100_000)), Fault::TooDeep { limit: 128 });
    assert_eq!(fault("{\"a\":".repeat(100_000)), Fault::TooDeep { limit: 128 });
    let deep = nested(100_000);
    assert!(scan(deep.as_bytes(), &Limits { depth: 100_000, members: 0 }).is_ok());
    let limits = Limits { depth: 2, members: 2 };
    assert!(scan(b"{\"a\":[],\"b\":{}}", &limits).is_ok());
    let error = scan(b"{\"a\":1,\"b\":2,\"c\":3}", &limits).unwrap_err();
    assert_eq!((error.fault, error.offset), (Fault::TooManyMembers { limit: 2 }, 13));
}

#[test]
fn a_sealed_string_is_noticed_at_any_depth_in_values_only() {
    for body in [
        "\"tl1.\"",
        "{\"a\":[{\"b\":\"tl1.abc\"}]}",
        "[\"t\\u006c1\\u002eabcdef\"]",
        "[\"\\u0074\\u006c\\u0031\\u002e\"]",
    ] {
        assert!(read(body).has_envelope, "{body}");
    }
    for body in ["{\"tl1.a\":1}", "[\"tl1\",\"a tl1.\",\"TL1.\",\"\\ntl1.\",\"t\\nl1.\"]"] {
        assert!(!read(body).has_envelope, "{body}");
    }
}

#[test]
fn splicing_replaces_the_model_alone() {
    let body = Bytes::from_static(b"{ \"x\": {\"model\":1},\n \"mod\\u0065l\" :\"old\" , \"y\":1.50 }");
    let found = scan(&body, &Limits::default()).unwrap();
    let spliced = splice(&body, &found, "new \"é\"\n").unwrap();
    assert_eq!(spliced.len(), spliced.to_bytes().len());
    let expected = "{ \"x\": {\"model\":1},\n \"mod\\u0065l\" :\"new \\\"é\\\"\\n\" , \"y\":1.50 }";
    assert_eq!(spliced.to_bytes(), expected);
    let other = Bytes::copy_from_slice(&body);
    assert_eq!(splice(&other, &found, "new"), None, "the scan is of other bytes");
    let without = Bytes::from_static(b"{}");
    assert_eq!(splice(&without, &scan(&without, &Limits::default()).unwrap(), "new"), None);
    assert_eq!(splice_string(&without, 1..3, "new"), None);
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // Halves, because serde_json reads longer fractions with a rounding error of its own.
        any::<i32>().prop_map(|half| Value::from(f64::from(half) / 2.0)),
        any::<String>().prop_map(Value::from),
        "tl1\\.[a-z]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("model".to_owned()), "[a-z]{1,3}", any::<String>()]
}

fn has_sealed(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with(ENVELOPE_PREFIX),
        Value::Array(values) => values.iter().any(has_sealed),
        Value::Object(members) => members.values().any(has_sealed),
        _ => false,
    }
}

/// Text that is nearly JSON.
fn soup() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "1", "-", "0", ".", "e", "+", "true", "nul", "l",
        " ", "\\u", "\\", "\"", "00e9", "\n", "é",
    ]);
    proptest::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn agrees_with_serde_json_on_json(value in json(), pretty in any::<bool>()) {
        let body = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let scan = scan(body.as_bytes(), &Limits::default()).unwrap();
        prop_assert_eq!(scan.has_envelope, has_sealed(&value));
        let members = value.as_object().map(serde_json::Map::len).unwrap_or_default();
        prop_assert_eq!(scan.members().len(), members);
        for member in scan.members() {
            let expected = &value[member.key.as_ref()];
            let raw = scan.raw(&member.key).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Value>(raw).unwrap(), expected);
            let string = scan.string(&member.key);
            prop_assert_eq!(string.as_deref(), expected.as_str());
            prop_assert_eq!(scan.int(&member.key), expected.as_i64());
            prop_assert_eq!(scan.bool(&member.key), expected.as_bool());
        }
    }

    #[test]
    fn agrees_with_serde_json_on_broken_json(
        value in json(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..4),
    ) {
        let mut body = serde_json::to_vec(&value).unwrap();
        for (place, byte, edit) in edits {
            let at = place.index(body.len() + 1);
            match edit {
                0 => body.insert(at, byte),
                1 => body.truncate(at.max(1)),
                _ => if let Some(old) = body.get_mut(at) { *old = byte },
            }
        }
        crate::fuzzing::fuzz_scan(&body);
    }

    #[test]
    fn agrees_with_serde_json_on_soup(body in soup()) {
        crate::fuzzing::fuzz_scan(body.as_bytes());
    }

    #[test]
    fn agrees_with_serde_json_on_bytes(body in proptest::collection::vec(any::<u8>(), 0..24)) {
        crate::fuzzing::fuzz_scan(&body);
    }

    #[test]
    fn splicing_keeps_everything_else(value in json(), model in any::<String>(), old in json()) {
        let Value::Object(mut members) = value else { return Ok(()) };
        members.insert("model".to_owned(), old);
        let body = Bytes::from(serde_json::to_vec(&members).unwrap());
        let scan = scan(&body, &Limits::default()).unwrap();
        let spliced = splice(&body, &scan, &model).unwrap().to_bytes();
        members.insert("model".to_owned(), Value::from(model));
        prop_assert_eq!(spliced, serde_json::to_vec(&members).unwrap());
    }

    #[test]
    fn strings_are_written_and_resolved_as_serde_json_does(
        texts in proptest::collection::vec(any::<String>(), 0..40),
        raw in "(\\\\u[0-9a-f]{4}|\\\\[nt\"\\\\/bfr]|[a-zé😀]{1,20}){0,100}",
    ) {
        let text = texts.concat();
        let mut out = Vec::new();
        write_string(&mut out, &text);
        prop_assert_eq!(&out, &serde_json::to_vec(&text).unwrap());
        let written = String::from_utf8(out).unwrap();
        prop_assert_eq!(decode_string(&written).unwrap(), text);
        let quoted = format!("\"{raw}\"");
        if let Ok(expected) = serde_json::from_str::<String>(&quoted) {
            prop_assert_eq!(decode_string(&quoted).unwrap(), expected);
        }
    }
}
