#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz_protocols::http_response(data));
