use proptest::prelude::*;

use super::*;

/// The definition, slow and plain.
fn matches_slowly(pattern: &[char], name: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|skip| matches_slowly(rest, &name[skip..])),
        Some((first, rest)) => name.first() == Some(first) && matches_slowly(rest, &name[1..]),
    }
}

#[test]
fn parts_may_not_overlap() {
    assert!(!Pattern::new("ab*ba").matches("aba"));
    assert!(Pattern::new("ab*ba").matches("abba"));
    assert!(Pattern::new("*").matches(""));
    assert!(Pattern::new("gpt-*-mini*").matches("gpt-5-mini-2026"));
    assert!(!Pattern::new("gpt-4").matches("gpt-4o"));
}

#[test]
fn a_set_holds_names_and_patterns() {
    let names = Names::new(["a", "b-*"]);
    assert!(names.contains("a") && names.contains("b-1"));
    assert!(!names.contains("a1") && !names.contains("b"));
    assert!(!Names::default().contains("a"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn agrees_with_the_definition(pattern in "[ab*é]{0,7}", name in "[abé]{0,9}") {
        let p: Vec<char> = pattern.chars().collect();
        let n: Vec<char> = name.chars().collect();
        prop_assert_eq!(Pattern::new(&pattern).matches(&name), matches_slowly(&p, &n));
    }
}
