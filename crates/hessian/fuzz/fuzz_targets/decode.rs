//! Any bytes: reading them never panics, and what was read is the same after writing and reading it
//! once more.
#![no_main]

use equipoise_hessian::Value;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = Value::decode(bytes) else { return };
    let written = value.encode();
    let again = Value::decode(&written).expect("what was written can be read");
    assert!(again == value, "another value after writing and reading");
    assert_eq!(again.encode(), written, "other bytes the second time");
});
