//! Packed rows and forward lists of a merged segment: the readers never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = index::strangers::read_packed_row(bytes);
});
