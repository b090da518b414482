#![no_main]

#[allow(dead_code)] // Every target takes one of them.
#[path = "../../crates/barchan/tests/fuzz/oracles.rs"]
mod oracles;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| oracles::frame(bytes));
