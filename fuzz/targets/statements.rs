//! SQL of strangers: splitting and parsing never panic.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for statement in wire::sql::split(text) {
        let _ = wire::sql::parse(statement);
    }
});
