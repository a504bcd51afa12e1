//! Runs `trilith_dialect::fuzzing::fuzz_completions_error`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| trilith_dialect::fuzzing::fuzz_completions_error(input));
