//! The seeds of the fuzzer are bytes of this format, and no change of a byte or of the length makes a reader panic.

use std::path::{Path, PathBuf};

use relation::value::Value;

use super::{DICTIONARY, read_changes, read_packed_row, read_pairs};
use crate::segment::packing::{Packer, Packing};

type Read = fn(&[u8]) -> bool;

/// The fuzzer's targets, each with a reader.
const TARGETS: [(&str, Read); 3] = [
    ("changes", read_changes),
    ("pairs", read_pairs),
    ("packed_rows", read_packed_row),
];

fn seeds(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/seeds")
        .join(target)
}

/// A row with a short text, a long one and a number, packed.
fn packed_row() -> Vec<u8> {
    let text = |text: &str| Value::Str(text.to_owned());
    let long = "the measurement of spectra, ".repeat(9);
    let row = relation::row::encode(&[text("ab"), text(&long), Value::Int(7)]);
    let packing = Packing::with(DICTIONARY.repeat(20));
    let prepared = packing.prepare().unwrap();
    let mut packed = Vec::new();
    let mut packer = Packer::new(&prepared).unwrap();
    packer.append(&row, &mut packed).unwrap();
    packed
}

/// With `SEINE_WRITE_FIXTURE=1` the seed is written.
#[test]
fn a_row_that_this_build_packs_is_read() {
    let row = packed_row();
    assert!(read_packed_row(&row));
    if std::env::var_os("SEINE_WRITE_FIXTURE").is_some() {
        std::fs::write(seeds("packed_rows").join("long_text"), row).unwrap();
    }
}

#[test]
fn seeds_are_read_and_no_change_of_a_byte_or_of_the_length_makes_a_reader_panic() {
    for (target, read) in TARGETS {
        let mut count = 0;
        for entry in std::fs::read_dir(seeds(target)).unwrap() {
            let seed = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(read(&seed), "{target}: a seed is not read");
            count += 1;
            for at in 0..seed.len() {
                let _ = read(&seed[..at]);
                for byte in [0, 0x7f, 0x80, 0xff, seed[at] ^ 1, seed[at] ^ 0x20] {
                    let mut changed = seed.clone();
                    changed[at] = byte;
                    let _ = read(&changed);
                }
            }
        }
        assert!(count > 0, "{target} has no seed");
    }
}
