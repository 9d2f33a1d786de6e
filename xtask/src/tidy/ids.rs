//! Ids and positions as types: no function takes two bare integers that a caller could swap.

use super::Problem;
use super::source::Source;
use super::tree::{Tree, in_crate};

/// Types of a bare number.
const BARE: [&str; 3] = ["u32", "u64", "usize"];
/// Names of parameters that say which thing or which place a number is.
const NAMES: [&str; 8] = [
    "id", "position", "table", "session", "lane", "load", "segment", "row",
];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.ending(".rs") {
        if in_crate(path).is_some_and(|(_, inside)| inside.starts_with("src/")) {
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

/// Name and type of each parameter. `(`, `[` and `<` nest, and a comma inside of them separates nothing.
fn parameters(function: &str) -> impl Iterator<Item = (&str, &str)> {
    let start = function.find('(').map_or(function.len(), |open| open + 1);
    let inside = &function[start..];
    let (mut depth, mut arrow, mut ends) = (0_i32, false, Vec::new());
    for (at, c) in inside.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            '>' if arrow => {} // of `->`
            ')' if depth == 0 => {
                ends.push(at);
                break;
            }
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => ends.push(at),
            _ => {}
        }
        arrow = c == '-';
    }
    let starts = std::iter::once(0).chain(ends.clone().into_iter().map(|end| end + 1));
    let parts = starts.zip(ends).map(|(start, end)| &inside[start..end]);
    parts.filter_map(|parameter| {
        let (name, kind) = parameter.split_once(':')?;
        Some((name.trim(), kind.trim()))
    })
}

/// Whether a name is one of [`NAMES`], or ends in `_` and one of them.
fn is_id(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or(name);
    NAMES.contains(&last)
}
