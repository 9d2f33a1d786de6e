//! Planted bugs: the list of `xtask/src/mutate` and SAFETY.md must have the same bugs with the same tests. Each text to replace
//! must occur in its file exactly once.

use super::Problem;
use super::tree::Tree;
use crate::mutate::{MUTATIONS, Mutation};

const PAGE: &str = "SAFETY.md";
const SECTION: &str = "## Planted bugs";
const LIST: &str = "xtask/src/mutate/list.rs";

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    check_list(tree, MUTATIONS, problems);
}

pub(super) fn check_list(tree: &Tree, list: &[Mutation], problems: &mut Vec<Problem>) {
    for mutation in list {
        let source = tree.text(mutation.file).unwrap_or_default();
        if let Err(why) = mutation.plant(source) {
            let message = format!("{} is stale: {why}", mutation.name);
            problems.push(Problem::new(LIST, 1, message));
        }
    }
    let rows = rows(tree.text(PAGE).unwrap_or_default());
    for mutation in list {
        let mut rows = rows.iter();
        let row = rows.find(|(_, row)| row.contains(&format!("| `{}` |", mutation.name)));
        if !row.is_some_and(|(_, row)| row.contains(&format!("`{}`", mutation.test))) {
            let message = format!("no row of {} with {}", mutation.name, mutation.test);
            problems.push(Problem::new(PAGE, 1, message));
        }
    }
    for (line, row) in rows {
        let name = row.split('`').nth(1).unwrap_or_default();
        if list.iter().filter(|mutation| mutation.name == name).count() != 1 {
            let message = format!("{name:?} is not once in {LIST}");
            problems.push(Problem::new(PAGE, line, message));
        }
    }
}

/// Line number and text of each row of the section's table, without its head.
fn rows(page: &str) -> Vec<(usize, &str)> {
    let lines = (1..).zip(page.lines());
    let section = lines.skip_while(|(_, line)| *line != SECTION).skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let rows = section.filter(|(_, line)| line.starts_with('|'));
    rows.skip(2).collect()
}
