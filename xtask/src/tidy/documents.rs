//! Documents: links lead somewhere; decision records are numbered once, short, complete, and listed with their status.

use std::collections::BTreeMap;

use super::Problem;
use super::tree::Tree;

/// Lines of a decision record: one page.
const RECORD_LINES_MAX: usize = 100;

/// The folder of decision records, and the page that lists them.
const RECORDS: &str = "docs/adr/";
const INDEX: &str = "docs/adr/README.md";

/// What a decision record must speak of.
const RECORD_PARTS: [&str; 4] = ["context", "decision", "rejected", "wrong"];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.ending(".md") {
        check_links(tree, path, text, problems);
    }
    check_records(tree, problems);
}

fn check_links(tree: &Tree, path: &str, text: &str, problems: &mut Vec<Problem>) {
    for (index, line) in text.lines().enumerate() {
        for target in link_targets(line) {
            let target = target.split('#').next().unwrap_or_default();
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let place = resolve(folder, target);
            let below = format!("{place}/");
            let found = |file: &str| file == place || file.starts_with(&below);
            if !target.is_empty() && !tree.files.iter().any(|file| found(&file.path)) {
                problems.push(Problem::new(
                    path,
                    index + 1,
                    format!("no such file: {target}"),
                ));
            }
        }
    }
}

/// Targets of `[text](target)` inside the tree.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    let targets = line
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
}

/// `target` as seen from `folder`, without `.` and `..`.
fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn check_records(tree: &Tree, problems: &mut Vec<Problem>) {
    let mut numbers: BTreeMap<&str, &str> = BTreeMap::new();
    let index = tree.text(INDEX).unwrap_or_default();
    for (path, text) in tree
        .ending(".md")
        .filter(|(path, _)| path.starts_with(RECORDS) && *path != INDEX)
    {
        let name = path.trim_start_matches(RECORDS);
        if !text.lines().any(|line| line.starts_with("Status: ")) {
            problems.push(Problem::new(path, 1, "no line \"Status: …\""));
        }
        if !index.contains(&format!("]({name})")) {
            problems.push(Problem::new(path, 1, format!("not listed in {INDEX}")));
        }
        let number = name.split('-').next().unwrap_or_default();
        if number.len() != 3 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            problems.push(Problem::new(
                path,
                1,
                "a decision record is named NNN-title.md",
            ));
        } else if let Some(other) = numbers.insert(number, path) {
            problems.push(Problem::new(
                path,
                1,
                format!("its number is taken by {other}"),
            ));
        }
        let lines = text.lines().count();
        if lines > RECORD_LINES_MAX {
            problems.push(Problem::new(
                path,
                1,
                format!("{lines} lines: a decision fits on a page"),
            ));
        }
        let lower = text.to_lowercase();
        for part in RECORD_PARTS.iter().filter(|part| !lower.contains(**part)) {
            problems.push(Problem::new(
                path,
                1,
                format!("says nothing under {part:?}"),
            ));
        }
    }
}
