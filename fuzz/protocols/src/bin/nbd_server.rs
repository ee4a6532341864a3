#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sojourn_fuzz_protocols::nbd_server(data));
