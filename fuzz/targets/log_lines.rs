//! Lines of query logs: no panic; an entry that is written in a form and read back gives the same line again; each line of a block
//! is counted once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use study::log::frame::{Framed, Records};
use study::log::line::{parse, write_json};
use study::log::{Place, Summary, SummaryOptions};

fuzz_target!(|block: &[u8]| {
    for record in Records::new(block) {
        let Framed::Text(text) = record.framed else {
            continue;
        };
        let Some((_, entry)) = parse(text) else {
            continue;
        };
        let mut line = Vec::new();
        write_json(&entry, 1 << 16, &mut line);
        if let Some((_, again)) = parse(line.trim_ascii_end()) {
            let mut twice = Vec::new();
            write_json(&again, 1 << 16, &mut twice);
            assert_eq!(line, twice);
        }
    }
    let mut summary = Summary::new(&SummaryOptions::default());
    summary.add_block("fuzz", Place::default(), block);
    let counts = summary.counts();
    let counted = counts.queries + counts.failed + counts.others + counts.unknown + counts.too_long;
    assert_eq!(counts.lines, counted + counts.blank + counts.continued);
});
