//! ARCHITECTURE.md: every path and every `path.rs::name` between backticks exists. No file has two functions called `of`.

use super::Problem;
use super::source::{Source, words};
use super::tree::Tree;

/// The page. Its paths are relative to one of `ROOTS`.
const PAGE: &str = "ARCHITECTURE.md";

/// Where a path of the page may begin.
const ROOTS: [&str; 2] = ["crates/", ""];

/// What stands before the name of an item that the page may name.
const KEYWORDS: [&str; 9] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "const",
    "static",
    "mod",
    "macro_rules!",
];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.ending(".rs") {
        check_source(path, &Source::new(path, text), problems);
    }
    check_page(tree, problems);
}

/// `of` says nothing by itself: a reader who finds it by its name must find one.
fn check_source(path: &str, source: &Source, problems: &mut Vec<Problem>) {
    let functions = source.functions();
    let shipped = |line: usize| !source.is_test(line);
    let called = functions
        .iter()
        .filter(|it| it.name == "of" && shipped(it.first));
    for function in called.skip(1) {
        let message = "a second fn `of` in this file: say of what, as in `from_value` or `named`";
        problems.push(Problem::new(path, function.first, message));
    }
}

fn check_page(tree: &Tree, problems: &mut Vec<Problem>) {
    let Some(text) = tree.text(PAGE) else {
        return;
    };
    for (index, line) in text.lines().enumerate() {
        let quoted = line.split('`').skip(1).step_by(2);
        for problem in quoted.filter_map(|quoted| missing(tree, quoted)) {
            problems.push(Problem::new(PAGE, index + 1, problem));
        }
    }
}

/// What is wrong with the text between two backticks: `None` where it is no path, or where its file and item exist.
fn missing(tree: &Tree, quoted: &str) -> Option<String> {
    if quoted.contains(' ') || !quoted.contains('/') {
        return None;
    }
    let Some((stem, name)) = quoted.split_once(".rs::") else {
        let is_there = ROOTS.iter().any(|root| {
            let path = format!("{root}{quoted}");
            let below = format!("{}/", path.trim_end_matches('/'));
            let mut files = tree.files.iter();
            files.any(|file| file.path == path || file.path.starts_with(&below))
        });
        return (!is_there).then(|| format!("no such file or folder: {quoted}"));
    };
    let mut paths = ROOTS.iter().map(|root| format!("{root}{stem}.rs"));
    let Some((path, text)) = paths.find_map(|path| tree.text(&path).map(|text| (path, text)))
    else {
        return Some(format!("no such file: {stem}.rs"));
    };
    let source = Source::new(&path, text);
    (!defines(&source.code, name)).then(|| format!("no item {name} in {path}"))
}

/// Whether the code has an item of that name.
fn defines(code: &str, name: &str) -> bool {
    words(code, name).any(|start| {
        let before = code[..start].trim_end();
        KEYWORDS.iter().any(|keyword| {
            let head = before.strip_suffix(keyword);
            head.is_some_and(|head| !head.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    })
}
