//! Files that import each other: at most two do. A longer circle is a room of its own that nobody can read by itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Problem;
use super::arrows::Arrows;

/// More files than that may not import each other.
const CIRCLE_FILES_MAX: usize = 2;

pub(super) fn check(crates: &BTreeMap<String, Arrows>, problems: &mut Vec<Problem>) {
    for arrows in crates.values() {
        for circle in circles(arrows) {
            if circle.len() > CIRCLE_FILES_MAX {
                let first = circle.first().map_or("", String::as_str);
                problems.push(Problem::new(first, 1, told(&circle, arrows)));
            }
        }
    }
}

/// Groups of files of which each reaches each other.
fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for from in arrows.keys() {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.as_str()];
        while let Some(file) = open.pop() {
            for to in arrows.get(file).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(to.as_str()) {
                    open.push(to);
                }
            }
        }
        reached.insert(from, seen);
    }
    let mut found = BTreeSet::new();
    for (from, seen) in &reached {
        let back = |to: &&&str| {
            reached
                .get(**to)
                .is_some_and(|others| others.contains(from))
        };
        let circle: Vec<String> = seen
            .iter()
            .filter(back)
            .map(|to| (*to).to_owned())
            .collect();
        found.insert(circle);
    }
    found
        .into_iter()
        .filter(|circle| circle.len() > 1)
        .collect()
}

/// The circle, an arrow a line.
fn told(circle: &[String], arrows: &Arrows) -> String {
    let mut lines = format!("{} files import each other:", circle.len());
    for from in circle {
        let to = arrows.get(from).into_iter().flatten();
        for (to, arrow) in to.filter(|(to, _)| circle.contains(to)) {
            lines.push_str(&format!("\n    {from} -> {to}: {}", arrow.name));
        }
    }
    lines
}
