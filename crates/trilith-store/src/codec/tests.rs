//! The stored form comes back whole, stays readable for later versions, and is never trusted.

mod golden;

use proptest::prelude::*;
use trilith_core::{Settings, Tool, ToolKind};

use super::{wire::put_varint, *};
use crate::arbitrary;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn an_item_comes_back(item in arbitrary::item()) {
        prop_assert_eq!(decode_item(&encode_item(&item)), Ok(item));
    }

    #[test]
    fn settings_come_back_and_equal_ones_have_equal_bytes(settings in arbitrary::settings()) {
        let bytes = encode(&settings);
        prop_assert_eq!(&bytes, &encode(&settings.clone()));
        prop_assert_eq!(decode(&bytes), Ok(settings));
    }

    #[test]
    fn a_response_comes_back(response in arbitrary::stored_response()) {
        prop_assert_eq!(decode(&encode(&response)), Ok(response));
    }

    #[test]
    fn cut_or_changed_bytes_are_refused_or_read_but_never_a_panic(
        item in arbitrary::item(),
        cut in any::<proptest::sample::Index>(),
        place in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let bytes = encode_item(&item);
        let part = decode_item(&bytes[..cut.index(bytes.len())]);
        prop_assert_ne!(part.as_ref(), Ok(&item));
        for mut changed in [bytes, encode_plain(&item)] {
            let place = place.index(changed.len());
            changed[place] = byte;
            decode_item(&changed).ok();
            changed.truncate(place);
            decode_item(&changed).ok();
        }
    }

    #[test]
    fn any_bytes_at_all_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..200), zstd: bool) {
        let bytes = [&[if zstd { V1_ZSTD } else { V1_PLAIN }], &*bytes].concat();
        decode_item(&bytes).ok();
        decode::<Settings>(&bytes).ok();
        decode::<StoredResponse>(&bytes).ok();
    }
}

fn long_item() -> Item {
    Item::message(trilith_core::Role::User, "all work and no play ".repeat(1000))
}

#[test]
fn long_values_are_compressed_and_short_ones_are_not() {
    let long = encode_item(&long_item());
    assert_eq!(long[0], V1_ZSTD);
    assert!(long.len() < 500, "{}", long.len());
    assert_eq!(decode_item(&long), Ok(long_item()));
    let short = encode_item(&Item::message(trilith_core::Role::User, "hello"));
    assert_eq!(short[0], V1_PLAIN);
    assert!(short.len() < 30, "{}", short.len());
}

#[test]
fn a_header_that_lies_about_the_size_is_refused_before_room_is_made() {
    let long = encode_item(&long_item());
    let actual = u64::from_le_bytes(long[1..9].try_into().unwrap());
    for lie in [0, actual - 1, actual + 1, LARGEST as u64, LARGEST as u64 + 1, u64::MAX] {
        let mut bytes = long.clone();
        bytes[1..9].copy_from_slice(&lie.to_le_bytes());
        assert_eq!(decode_item(&bytes), Err(Corrupt), "{lie}");
    }
    // The room that a header may ask for grows with the bytes that are there.
    let few = [&[V1_ZSTD], &(LARGEST as u64).to_le_bytes()[..], &[0; 100]].concat();
    assert_eq!(unpack(&few[1..]), Err(Corrupt));
}

#[test]
fn the_best_compressible_value_is_still_read() {
    let item = Item::message(trilith_core::Role::User, "a".repeat(40 << 20));
    let bytes = encode_item(&item);
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    assert!(decode_item(&bytes) == Ok(item));
}

#[test]
fn fields_of_a_later_version_are_skipped() {
    let mut bytes = encode_item(&Item::message(trilith_core::Role::User, "hello"));
    put_varint(&mut bytes, 4_000);
    put_varint(&mut bytes, 3);
    bytes.extend_from_slice(b"new");
    assert_eq!(decode_item(&bytes), Ok(Item::message(trilith_core::Role::User, "hello")));
}

#[test]
fn an_unknown_version_kind_or_missing_field_is_refused() {
    let mut bytes = encode_item(&Item::message(trilith_core::Role::User, "hello"));
    bytes[0] = 0x20;
    assert_eq!(decode_item(&bytes), Err(Corrupt));
    assert_eq!(decode_item(&[]), Err(Corrupt));
    assert_eq!(decode_item(&[V1_PLAIN]), Err(Corrupt));
    // Field 3 (the body) of a kind that no version has.
    assert_eq!(decode_item(&[V1_PLAIN, 3, 1, 99]), Err(Corrupt));
}

#[test]
fn nesting_ends_before_the_stack_does() {
    let wrap = |head: &[u8], inner: &[u8]| {
        let mut outer = head.to_vec();
        put_varint(&mut outer, inner.len() as u64);
        outer.extend_from_slice(inner);
        outer
    };
    // A tool (1: kind) that is a namespace (3) whose tools (3) are a list of one such tool, and so on.
    let nest = |depth| {
        let tool = (0..depth).fold(vec![1, 1, 3], |tool, _| wrap(&[1], &wrap(&[3, 3], &wrap(&[], &tool))));
        [vec![V1_PLAIN], wrap(&[3], &wrap(&[], &tool))].concat()
    };
    let mut tool = Tool::new(ToolKind::Namespace { name: "".into(), description: None, tools: vec![] });
    tool = Tool::new(ToolKind::Namespace { name: "".into(), description: None, tools: vec![tool] });
    assert_eq!(decode(&nest(1)), Ok(Settings { tools: vec![tool], ..Settings::default() }));
    assert!(decode::<Settings>(&nest(10)).is_ok());
    assert_eq!(decode::<Settings>(&nest(2_000)), Err(Corrupt));
}
