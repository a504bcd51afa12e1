//! The entry functions of the fuzz targets. The fuzzer and the test that replays the corpora both call
//! them, so they lie here and not with the targets. They panic when a property fails.

use crate::{decode_item, encode_item};

/// An entry function: it takes any bytes.
pub type Target = fn(&[u8]);

/// Every target by the name of its file and of its folder in `fuzz/corpus`.
pub const TARGETS: &[(&str, Target)] = &[("stored_item", fuzz_stored_item)];

/// Stored items: bytes are refused or read, and what is read comes back from its own stored form.
pub fn fuzz_stored_item(input: &[u8]) {
    let Ok(item) = decode_item(input) else { return };
    let again = decode_item(&encode_item(&item));
    // Numbers that are none equal nothing, themselves included; their words do.
    assert_eq!(format!("{again:?}"), format!("{:?}", Ok::<_, crate::Corrupt>(item)));
}
