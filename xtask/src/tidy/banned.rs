//! What may not stand in the tree, and the few places where it may.

use super::Problem;
use super::source::{Source, words};
use super::tree::Tree;

/// Where a rule looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In code that ships.
    Shipped,
    /// In test code, wherever it stands.
    Tests,
    /// In code that ships and in tests.
    Code,
}

/// One rule: no `word` except below the `allowed` paths.
struct Ban {
    word: &'static str,
    within: Where,
    allowed: &'static [&'static str],
    reason: &'static str,
}

/// The crates that touch the outside world.
const OUTSIDE: &[&str] = &[
    "crates/disk/",
    "crates/session/src/clock.rs",
    "crates/session/src/faults.rs",
    "crates/session/src/remote.rs",
    "crates/server/",
    "crates/cli/",
    "bench/",
    "benchmarks/peers/",
    "xtask/",
];

const BANS: [Ban; 16] = [
    ban(
        "std::fs",
        OUTSIDE,
        "files are reached through the Disk trait",
    ),
    ban(
        "std::net",
        &[
            "crates/cli/",
            "crates/server/",
            "crates/session/",
            "crates/client/",
            "bench/",
            "xtask/",
            "crates/collect/src/client.rs",
        ],
        "only doors, their clients and the load generator know sockets",
    ),
    ban("SystemTime", OUTSIDE, "times are arguments"),
    ban(
        "Instant",
        &[
            "crates/disk/",
            "crates/session/src/clock.rs",
            "crates/session/src/faults.rs",
            "crates/server/",
            "crates/cli/",
            "bench/",
            "benchmarks/peers/",
            "xtask/",
            "crates/collect/src/client.rs",
        ],
        "times are arguments",
    ),
    ban(
        "println",
        &["crates/cli/", "bench/", "xtask/"],
        "libraries return facts",
    ),
    ban(
        "eprintln",
        &["crates/cli/", "bench/", "xtask/"],
        "libraries return facts",
    ),
    ban(
        "tracing",
        &["crates/session/", "crates/collect/", "crates/server/"],
        "libraries do not log, they return facts",
    ),
    ban(
        "tokio",
        &["crates/session/", "crates/server/", "crates/cli/", "bench/"],
        "async stops at the mailbox",
    ),
    ban("tokio::net", OUTSIDE, "only doors know sockets"),
    everywhere(
        "unsafe",
        &[
            "crates/disk/src/map.rs",
            "crates/index/src/integers/vectors.rs",
            "crates/index/src/pool.rs",
            "crates/index/src/wide.rs",
            "crates/percolate/src/wide.rs",
            "crates/percolate/src/wide/look_up.rs",
            "crates/percolate/src/wide/scan.rs",
            "crates/language/src/analysis/wide.rs",
            "crates/relation/src/processor.rs",
            "crates/cli/src/allocator.rs",
        ],
        "unsafe lives in named modules only",
    ),
    everywhere(
        "todo",
        &[],
        "finish it, or say in the changelog that it is missing",
    ),
    everywhere(
        "unimplemented",
        &[],
        "finish it, or return an error that says so",
    ),
    everywhere("dbg", &[], "left over from debugging"),
    in_tests(
        "thread::sleep",
        "a test that sleeps is slow or wrong; wait for the fact",
    ),
    in_tests(
        "time::sleep",
        "a test that sleeps is slow or wrong; wait for the fact",
    ),
    in_tests(
        "should_panic",
        "return an error, or assert on what is left behind",
    ),
];

const fn ban(word: &'static str, allowed: &'static [&'static str], reason: &'static str) -> Ban {
    Ban {
        word,
        within: Where::Shipped,
        allowed,
        reason,
    }
}

const fn everywhere(
    word: &'static str,
    allowed: &'static [&'static str],
    reason: &'static str,
) -> Ban {
    Ban {
        word,
        within: Where::Code,
        allowed,
        reason,
    }
}

const fn in_tests(word: &'static str, reason: &'static str) -> Ban {
    Ban {
        word,
        within: Where::Tests,
        allowed: &[],
        reason,
    }
}

/// Marks of unfinished work, in any text. Put together here so that this file does not hold them.
const UNFINISHED: [&str; 3] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
];

/// First folders of paths that exist on one person's machine only.
const MACHINE_FOLDERS: [&str; 4] = ["home", "root", "Users", "work"];

/// Names that say nothing about what a file holds.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "common", "helpers", "types", "misc"];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.texts() {
        check_text(path, text, problems);
        if path.ends_with(".rs") {
            check_code(path, &Source::new(path, text), problems);
        }
    }
}

fn check_code(path: &str, source: &Source, problems: &mut Vec<Problem>) {
    let stem = path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".rs");
    if EMPTY_NAMES.contains(&stem) {
        problems.push(Problem::new(path, 1, "name the file after what it holds"));
    }
    for ban in BANS
        .iter()
        .filter(|ban| !ban.allowed.iter().any(|prefix| path.starts_with(prefix)))
    {
        for (number, line) in source.lines() {
            let looked_at = match ban.within {
                Where::Shipped => !source.is_test(number),
                Where::Tests => source.is_test(number),
                Where::Code => true,
            };
            if looked_at && words(line, ban.word).next().is_some() {
                problems.push(Problem::new(
                    path,
                    number,
                    format!("{}: {}", ban.word, ban.reason),
                ));
            }
        }
    }
}

fn check_text(path: &str, text: &str, problems: &mut Vec<Problem>) {
    for (index, line) in text.lines().enumerate() {
        for word in UNFINISHED {
            if words(line, word).next().is_some() {
                problems.push(Problem::new(
                    path,
                    index + 1,
                    format!("{word} does not go into the tree"),
                ));
            }
        }
        if MACHINE_FOLDERS
            .iter()
            .any(|folder| has_absolute_path(line, folder))
        {
            problems.push(Problem::new(
                path,
                index + 1,
                "a path of one person's machine",
            ));
        }
    }
}

/// Whether `/folder/` stands in the line as the beginning of a path.
fn has_absolute_path(line: &str, folder: &str) -> bool {
    line.match_indices(&format!("/{folder}/"))
        .any(|(start, _)| {
            let before = line[..start].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || ".-_}/$~".contains(c))
        })
}
