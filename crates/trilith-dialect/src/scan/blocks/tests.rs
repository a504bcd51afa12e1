use proptest::prelude::*;

use super::{Scanned, string_end};

/// The end by the plainest means, for texts without faults.
fn end_step_by_step(body: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn ends_are_found_whatever_the_backslashes(
        parts in proptest::collection::vec(
            prop::sample::select(vec!["\\\\", "\\\"", "\\n", "\\u00e9", "plain text ", "é", "x", "\\\\\\\\\\\\"]),
            0..90,
        ),
        behind in "[\"\\\\a-z]{64,130}",
    ) {
        let body = parts.concat() + "\"" + &behind;
        let expected = end_step_by_step(body.as_bytes());
        match string_end(body.as_bytes(), 0) {
            Scanned::Ended(end) => prop_assert_eq!(Some(end), expected),
            Scanned::Reached { .. } | Scanned::Doubtful => prop_assert!(false, "the end was not found in {}", body),
        }
    }
}

#[test]
fn faults_before_the_end_are_noticed_and_those_behind_it_are_not() {
    let long = "a".repeat(70);
    for (text, sound) in [
        (format!("{long}\\x{long}\"{long}"), false),
        (format!("{long}\\u12g4{long}\"{long}"), false),
        (format!("{long}\\u12\"{long}"), false),
        (format!("{long}\n{long}\"{long}"), false),
        (format!("{long}\\n\"\n\\x{long}"), true),
        (format!("{}\\u00e9{long}\"{long}", "a".repeat(60)), true),
        (format!("{}\\{}", "a".repeat(63), "q".repeat(64)), false),
    ] {
        assert_eq!(matches!(string_end(text.as_bytes(), 0), Scanned::Ended(_)), sound, "{text}");
    }
}

#[test]
fn what_is_left_tells_whether_it_is_escaped() {
    for (text, place, escaped) in [
        ("a".repeat(63) + "\\", 64, true),
        ("a".repeat(62) + "\\\\", 64, false),
        ("\\\\".repeat(32) + "\"", 64, false),
        ("a\\".to_owned(), 0, false),
    ] {
        match string_end(text.as_bytes(), 0) {
            Scanned::Reached { at, open } => assert_eq!((at, open), (place, escaped), "{text}"),
            Scanned::Ended(_) | Scanned::Doubtful => panic!("{text}"),
        }
    }
}
