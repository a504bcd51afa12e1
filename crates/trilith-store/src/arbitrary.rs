//! Generators of every stored type, each variant of each kind included. They are boxed, since the trees of
//! nested choices would not fit on a stack.

mod answers;
mod items;
mod settings;

use proptest::{collection::vec, option, prelude::*, sample::select};
use trilith_core::{DialectId, Extra, ExtraField, Json};

pub(crate) use answers::{events, stored_response};
pub(crate) use items::item;
pub(crate) use settings::settings;

/// Usually short, sometimes empty, seldom long enough to be compressed.
fn text() -> BoxedStrategy<String> {
    prop_oneof![
        8 => "\\PC{0,12}",
        1 => Just(String::new()),
        1 => "[a-z\u{e9}\u{1f600}]{600}".prop_map(|text| text.repeat(3)),
    ]
    .boxed()
}

fn word() -> BoxedStrategy<Box<str>> {
    text().prop_map(Into::into).boxed()
}

fn maybe_word() -> BoxedStrategy<Option<Box<str>>> {
    option::of(word()).boxed()
}

fn json() -> BoxedStrategy<Json> {
    prop_oneof![
        Just(r#"{"b": 1.0, "a":[true,null]}"#),
        Just("[]"),
        Just("\"\\u00e9 \u{e9}\""),
        Just("1e400"),
    ]
    .prop_map(Json::from_checked).boxed()
}

fn dialect() -> BoxedStrategy<DialectId> {
    select(DialectId::ALL.to_vec()).boxed()
}

fn extra() -> BoxedStrategy<Extra> {
    let field =
        (dialect(), word(), json()).prop_map(|(dialect, name, value)| ExtraField { dialect, name, value });
    vec(field, 0..3).prop_map(|fields| fields.into_iter().collect()).boxed()
}

/// Numbers that are equal to themselves.
fn number() -> BoxedStrategy<f64> {
    prop_oneof![Just(0.0), Just(-0.0), Just(f64::NEG_INFINITY), -2.0..2.0f64, Just(f64::MAX)].boxed()
}
