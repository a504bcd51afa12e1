//! Runs `trilith_net::fuzzing::fuzz_http_response`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| trilith_net::fuzzing::fuzz_http_response(input));
