//! Configurations of Scribe: no panic, and the same text gives the same configuration and problems.
#![no_main]

use collect::config::{Defaults, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    for defaults in [Defaults::V2_2, Defaults::V2008] {
        let (configuration, problems) = read(text, "scribe.conf", defaults);
        let (again, told) = read(text, "scribe.conf", defaults);
        assert_eq!(configuration, again);
        assert_eq!(problems.len(), told.len());
        for problem in problems {
            assert!(!problem.to_string().is_empty());
        }
    }
});
