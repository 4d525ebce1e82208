#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| bakeoff_load::fuzz::websocket(data));
