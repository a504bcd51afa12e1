//! Arbitrary but legal values for property tests: texts, turns, answers, and ways to cut bytes.

mod answer;
mod turn;

pub use answer::{answer, heard};
pub use turn::turn;

use proptest::prelude::*;

/// Text with everything that goes wrong in JSON, SSE and UTF-8.
pub fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z ]{1,12}",
        1 => Just("\n\n".to_owned()),
        1 => Just("data: [DONE]\n".to_owned()),
        1 => Just("\"\\\u{7}\u{2028}</think>".to_owned()),
        1 => Just("ñ漢🙂👩‍👧".to_owned()),
        1 => "\\PC{1,6}",
    ];
    proptest::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

/// The text of a small JSON object.
pub fn json_object() -> impl Strategy<Value = String> {
    proptest::collection::vec(("[a-z]{1,6}", text()), 0..3).prop_map(|pairs| {
        let map: serde_json::Map<_, _> =
            pairs.into_iter().map(|(key, value)| (key, serde_json::Value::String(value))).collect();
        serde_json::Value::Object(map).to_string()
    })
}

/// A name that every wire takes.
pub fn name() -> impl Strategy<Value = String> {
    "[a-z][a-z0-9_]{0,12}"
}

/// Places at which to cut `length` bytes, in order.
pub fn cuts(length: usize) -> impl Strategy<Value = Vec<usize>> {
    proptest::collection::btree_set(0..=length, 0..16).prop_map(|set| set.into_iter().collect())
}

/// A text in non-empty pieces, cut between characters.
pub fn pieces() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec(text(), 1..4)
}
