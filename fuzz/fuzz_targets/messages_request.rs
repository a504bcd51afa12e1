//! Runs `trilith_dialect::fuzzing::fuzz_messages_request`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| trilith_dialect::fuzzing::fuzz_messages_request(input));
