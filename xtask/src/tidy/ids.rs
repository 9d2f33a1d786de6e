//! Ids and positions as types: no function takes two bare integers that a caller could swap.

use super::Problem;
use super::source::Source;
use super::tree::Tree;

/// Types of a bare number.
const BARE: [&str; 3] = ["u32", "u64", "usize"];
/// Names of parameters that say which thing or which place a number is.
const NAMES: [&str; 8] = [
    "id", "position", "table", "session", "lane", "load", "segment", "row",
];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.ending(".rs") {
        if path.starts_with("crates/") && path.contains("/src/") {
            check_source(path, &Source::new(path, text), problems);
        }
    }
}

fn check_source(path: &str, source: &Source, problems: &mut Vec<Problem>) {
    let lines: Vec<&str> = source.code.lines().collect();
    for function in source.functions() {
        if source.is_test(function.first) {
            continue;
        }
        let text = lines[function.first - 1..function.last].join(" ");
        let bare: Vec<&str> = parameters(&text)
            .filter(|(name, kind)| BARE.contains(kind) && is_id(name))
            .map(|(name, _)| name)
            .collect();
        if bare.len() > 1 {
            let message = format!(
                "fn {}: {} are bare integers and can be swapped: give them types",
                function.name,
                bare.join(" and ")
            );
            problems.push(Problem::new(path, function.first, message));
        }
    }
}

/// Name and type of each parameter that has a plain type.
fn parameters(function: &str) -> impl Iterator<Item = (&str, &str)> {
    let head = function.split(['{', ';']).next().unwrap_or_default();
    let inside = head.split_once('(').map_or("", |(_, rest)| rest);
    let inside = inside.split("->").next().unwrap_or_default();
    inside.split([',', '(', ')']).filter_map(|parameter| {
        let (name, kind) = parameter.split_once(':')?;
        Some((name.trim(), kind.trim()))
    })
}

/// Whether a name is one of [`NAMES`], or ends in `_` and one of them.
fn is_id(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or(name);
    NAMES.contains(&last)
}
