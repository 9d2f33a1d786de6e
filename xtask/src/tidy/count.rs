//! Counts the lines of code that ship, without blank lines, comments and tests.

use std::collections::BTreeMap;

use super::source::Source;
use super::tree::{Tree, in_crate};

/// Count of lines of each crate, by its folder.
pub(super) fn by_crate(tree: &Tree) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for (path, text) in tree.ending(".rs") {
        let Some((folder, _)) = in_crate(path) else {
            continue;
        };
        *lines.entry(folder.to_owned()).or_default() += of_source(&Source::new(path, text));
    }
    lines
}

fn of_source(source: &Source) -> usize {
    let counts =
        |(number, line): &(usize, &str)| !line.trim().is_empty() && !source.is_test(*number);
    source.lines().filter(counts).count()
}
