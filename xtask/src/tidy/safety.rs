//! SAFETY.md: every test that it names must exist.

use super::Problem;
use super::tree::Tree;

/// The page. It names tests as `path.rs::name` between backticks.
const PAGE: &str = "SAFETY.md";

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    let Some(text) = tree.text(PAGE) else {
        return;
    };
    for (index, line) in text.lines().enumerate() {
        for (path, name) in tests_named(line) {
            if !holds_test(tree, path, name) {
                let message = format!("no test {name} in {path}");
                problems.push(Problem::new(PAGE, index + 1, message));
            }
        }
    }
}

fn tests_named(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter_map(|quoted| quoted.split_once(".rs::"))
}

/// Whether the file has a function of that name behind `#[test]`.
fn holds_test(tree: &Tree, path: &str, name: &str) -> bool {
    let path = format!("{path}.rs");
    let Some(text) = tree.text(&path) else {
        return false;
    };
    let head = format!("fn {name}(");
    let mut lines = text.lines().rev().skip_while(|line| !line.contains(&head));
    lines.next();
    lines
        .take_while(|line| {
            let line = line.trim();
            line.starts_with('#') || line.starts_with("//")
        })
        .any(|line| line.trim() == "#[test]")
}
