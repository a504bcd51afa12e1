//! Codes, and what only looks like one.

use super::*;

#[test]
fn codes_are_undone_and_everything_else_stays() {
    for (piece, plain) in [
        ("", ""),
        ("resp%5Fa", "resp_a"),
        ("%72%65sp", "resp"),
        ("a%2Fb", "a/b"),
        ("a%2fb", "a/b"),
        ("%E6%BC%A2", "漢"),
        ("%", "%"),
        ("%4", "%4"),
        ("%+4", "%+4"),
        ("%zz%41", "%zzA"),
        ("a+b", "a+b"),
        ("%2541", "%41"),
    ] {
        assert_eq!(decode(piece, false).as_deref(), Some(plain), "{piece}");
    }
    assert_eq!(decode("a+b%2B", true).as_deref(), Some("a b+"));
    assert_eq!(decode("%FF", false), None);
}
