//! A page of pairs of words: the reader never panics.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = index::strangers::read_pairs(bytes);
});
