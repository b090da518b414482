#![no_main]

#[allow(dead_code)] // Every target takes one of them.
#[path = "../../crates/barchan/tests/fuzz/judges.rs"]
mod judges;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| judges::frame(bytes));
