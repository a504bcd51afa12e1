//! Runs `trilith_store::fuzzing::fuzz_stored_item`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| trilith_store::fuzzing::fuzz_stored_item(input));
