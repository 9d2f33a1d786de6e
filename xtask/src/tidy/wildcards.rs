//! A match on an enum that grows names every variant, so that the compiler finds the places where a new one matters.
//!
//! A match is told by its patterns: one of them names `Enum::Variant`. Code that only asks for a variant or two is written with
//! `if let`, `let … else` or `matches!`. A `matches!` that lists types of columns is refused: a new type that it forgets would compile,
//! and answer wrong.

use super::Problem;
use super::source::{Source, line_of, words};
use super::tree::Tree;

/// The enums. Others of the same names are held to the rule too.
const ENUMS: [&str; 18] = [
    "Accumulator",
    "AggregateKind",
    "CatalogRecord",
    "ColumnType",
    "Command",
    "Kind",
    "Loose",
    "Node",
    "NumberForm",
    "QueueRecord",
    "QueueSlot",
    "Record",
    "ShowKind",
    "Slot",
    "Statement",
    "StoreConfig",
    "TypeFamily",
    "Write",
];

/// The enums of which no `matches!` lists variants.
const ASKED_BY_NAME: [&str; 2] = ["ColumnType", "TypeFamily"];

/// Functions with a wildcard all the same: (path, function, why).
const EXCUSED: &[(&str, &str, &str)] = &[
    (
        "bench/src/percolate/doors/elastic.rs",
        "translated",
        "another engine lacks the others: they are left out",
    ),
    (
        "bench/src/percolate/export.rs",
        "conjunction",
        "another engine lacks the others: they are left out",
    ),
    (
        "bench/src/percolate/export.rs",
        "plain",
        "another engine lacks the others: they are left out",
    ),
    (
        "bench/src/queue.rs",
        "measure",
        "contenders of each kind of test",
    ),
    (
        "crates/collect/src/config/tables.rs",
        "table",
        "of three kinds of tables, two are named",
    ),
    (
        "crates/engine/src/engine/transact.rs",
        "within",
        "refuses what no session sends there",
    ),
    (
        "crates/engine/src/engine/turn.rs",
        "take",
        "`execute` gets the others and names each",
    ),
    (
        "crates/relation/src/expression/beside.rs",
        "unified",
        "pairs of types, told by `is_number` and `is_text`",
    ),
    (
        "crates/relation/src/expression/kept.rs",
        "of_given",
        "pairs of types; the others end in `Kept::and`",
    ),
    (
        "crates/server/src/settings.rs",
        "words",
        "settings of one kind have words",
    ),
    (
        "crates/session/src/statement.rs",
        "read_rows",
        "refuses what is no SELECT",
    ),
    (
        "crates/session/src/statement/temporary.rs",
        "of_temporary",
        "refuses what it does not know",
    ),
    (
        "crates/session/src/statement/together.rs",
        "command",
        "the others are done alone",
    ),
    (
        "crates/session/src/statement/translate.rs",
        "define",
        "refuses what its caller does not send",
    ),
    (
        "crates/session/src/statement/translate.rs",
        "write",
        "refuses what its caller does not send",
    ),
    (
        "crates/wire/src/sql/facet.rs",
        "faceted",
        "refuses FACET behind others",
    ),
    (
        "crates/wire/src/sql/statement/expressions.rs",
        "each_table",
        "a FROM that it misses has no such table",
    ),
    (
        "crates/wire/src/sql/union.rs",
        "part",
        "refuses UNION of others",
    ),
];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    check_but(tree, EXCUSED, problems);
}

/// As [`check`], with excuses of its own.
pub(super) fn check_but(tree: &Tree, excused: &[(&str, &str, &str)], problems: &mut Vec<Problem>) {
    let mut unused: Vec<(&str, &str)> = excused.iter().map(|row| (row.0, row.1)).collect();
    for (path, text) in tree.ending(".rs") {
        let source = Source::new(path, text);
        for line in lists(&source) {
            let message = "a list of types: make it a question in crates/relation/src/schema/family.rs, which each family answers";
            problems.push(Problem::new(path, line, message.to_owned()));
        }
        let sites = wildcards(&source);
        for (line, name) in &sites {
            let functions = source.functions();
            let mut around = functions.iter().rev();
            let function = around.find(|it| it.first <= *line && *line <= it.last);
            let function = function.map_or("", |it| it.name.as_str());
            unused.retain(|row| *row != (path, function));
            if !excused.iter().any(|row| (row.0, row.1) == (path, function)) {
                let message = format!(
                    "a wildcard arm of a match on {name}: name every variant, or ask with `if let`, `let … else` or `matches!`"
                );
                problems.push(Problem::new(path, *line, message));
            }
        }
    }
    for (path, function) in &unused {
        let message = format!(
            "fn {function} has no wildcard arm any more: take it from the list of xtask/src/tidy/wildcards.rs"
        );
        problems.push(Problem::new(path, 1, message));
    }
}

/// The wildcard arms of matches on [`ENUMS`] outside of tests: line and the enum, as the file names it.
fn wildcards(source: &Source) -> Vec<(usize, String)> {
    let code = source.code.as_str();
    let mut names: Vec<&str> = ENUMS.to_vec();
    for name in ENUMS {
        let renamed = words(code, name).filter_map(|at| {
            let rest = code[at + name.len()..].strip_prefix(" as ")?;
            rest.split(|c: char| !is_word(c)).next()
        });
        names.extend(renamed.filter(|other| *other != "_"));
    }
    let mut found = Vec::new();
    for start in words(code, "match") {
        if source.is_test(line_of(code, start)) {
            continue;
        }
        let arms = end_of(code, start, "{").map_or_else(Vec::new, |open| arms(code, open + 1));
        let wild = arms.iter().find(|(_, pattern)| is_wildcard(pattern));
        let named = names.iter().find(|name| {
            let mut patterns = arms.iter().map(|arm| arm.1);
            patterns.any(|pattern| has_variant(pattern, name))
        });
        if let (Some((at, _)), Some(name)) = (wild, named) {
            found.push((line_of(code, *at), (*name).to_owned()));
        }
    }
    found
}

/// The lines of each `matches!`, outside of tests, that lists variants of an enum of [`ASKED_BY_NAME`].
fn lists(source: &Source) -> Vec<usize> {
    let code = source.code.as_str();
    let calls = words(code, "matches").filter_map(|at| {
        let inside = at
            + code[at..]
                .find("!(")
                .filter(|bang| *bang == "matches".len())?
            + 2;
        let end = end_of(code, inside, ")")?;
        let named = |name: &&str| words(&code[inside..end], name).count() > 1;
        ASKED_BY_NAME.iter().any(named).then(|| line_of(code, at))
    });
    calls.filter(|line| !source.is_test(*line)).collect()
}

/// The patterns of a match whose first arm begins at `at`, each with its place. A pattern with a guard keeps it.
fn arms(code: &str, mut at: usize) -> Vec<(usize, &str)> {
    let skip = |at: usize| {
        code.len()
            - code[at..]
                .trim_start()
                .trim_start_matches(',')
                .trim_start()
                .len()
    };
    let mut arms = Vec::new();
    at = skip(at);
    while let Some(arrow) = end_of(code, at, "=>")
        && code[arrow..].starts_with("=>")
    {
        arms.push((at, code[at..arrow].trim()));
        let body = skip(arrow + 2);
        let end = if code[body..].starts_with('{') {
            end_of(code, body + 1, "}").map(|close| close + 1)
        } else {
            end_of(code, body, ",")
        };
        at = skip(end.unwrap_or(code.len()));
    }
    arms
}

/// The first place from `at` on, outside of further brackets, that has the text `end` or closes the brackets around `at`.
fn end_of(code: &str, at: usize, end: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let mut angles = 0_u32; // of `::<A, B>`
    for (offset, c) in code[at..].char_indices() {
        let (before, rest) = code.split_at(at + offset);
        if depth == 0 && angles == 0 && rest.starts_with(end) {
            return Some(at + offset);
        }
        match c {
            '<' if angles > 0 || before.ends_with("::") => angles += 1,
            '>' if angles > 0 && !before.ends_with(['-', '=']) => angles -= 1,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return Some(at + offset),
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a pattern names a variant of an enum; what stands in its guard does not count.
fn has_variant(pattern: &str, name: &str) -> bool {
    let guard = words(pattern, "if").next().unwrap_or(pattern.len());
    words(&pattern[..guard], name).any(|at| {
        let rest = pattern[at + name.len()..].strip_prefix("::");
        rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
    })
}

/// Whether a pattern without a guard takes every value: `_`, a name, or a tuple of these.
fn is_wildcard(pattern: &str) -> bool {
    let pattern = pattern.trim();
    let pattern = pattern.strip_prefix("mut ").unwrap_or(pattern);
    if let Some(inside) = pattern
        .strip_prefix('(')
        .and_then(|it| it.strip_suffix(')'))
    {
        let mut parts = inside.split(',').filter(|part| !part.trim().is_empty());
        return parts.all(is_wildcard);
    }
    let is_name = pattern.chars().all(is_word) && !matches!(pattern, "" | "true" | "false");
    is_name && pattern.starts_with(|c: char| c == '_' || c.is_lowercase()) || pattern == ".."
}
