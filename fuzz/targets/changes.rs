//! Content of a file of changed values: the reader never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = index::strangers::read_changes(bytes);
});
