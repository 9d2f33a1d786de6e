//! Marks of stores of several: no panic, and bytes that are marks are their only form.
#![no_main]

use collect::store::Marks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some(marks) = Marks::decode(bytes) {
        assert_eq!(marks.encode(), bytes);
    }
});
