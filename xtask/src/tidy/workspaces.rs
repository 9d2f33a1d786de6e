//! The benchmarks are a workspace of their own, and cargo shares nothing between workspaces. So their manifest repeats lints,
//! profiles and facts of the package as the root manifest has them, and an outside crate has one version in both.

use std::collections::BTreeMap;

use super::Problem;
use super::tree::Tree;

const ROOT: &str = "Cargo.toml";
const BENCH: &str = "bench/Cargo.toml";

/// Sections of the root manifest, and the sections of the benchmarks that must have their lines.
const SECTIONS: [(&str, &str); 6] = [
    ("[workspace.package]", "[package]"),
    ("[workspace.lints.rust]", "[lints.rust]"),
    ("[workspace.lints.clippy]", "[lints.clippy]"),
    ("[profile.release]", "[profile.release]"),
    ("[profile.dev]", "[profile.dev]"),
    ("[profile.dev.package.\"*\"]", "[profile.dev.package.\"*\"]"),
];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    let (Some(root), Some(bench)) = (tree.text(ROOT), tree.text(BENCH)) else {
        return;
    };
    for (section, same) in SECTIONS {
        let there: Vec<&str> = lines(bench, same).map(|(_, line)| line).collect();
        for (_, line) in lines(root, section).filter(|(_, line)| !there.contains(line)) {
            let message = format!("{same} lacks {line:?} of {section} in {ROOT}");
            problems.push(Problem::new(BENCH, 1, message));
        }
    }
    let of_root: BTreeMap<&str, &str> = lines(root, "[workspace.dependencies]")
        .filter_map(|(_, line)| version(line))
        .collect();
    for (number, line) in lines(bench, "[dependencies]") {
        let Some((name, own)) = version(line) else {
            continue;
        };
        if let Some(other) = of_root.get(name).filter(|other| **other != own) {
            let message = format!("{name} {own} here, {other} in {ROOT}");
            problems.push(Problem::new(BENCH, number, message));
        }
    }
}

/// Number, from 1, and text of the lines of a section, without comments and blank lines.
fn lines<'a>(manifest: &'a str, section: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let mut inside = false;
    manifest
        .lines()
        .enumerate()
        .filter_map(move |(index, line)| {
            if line.starts_with('[') {
                inside = line == section;
                return None;
            }
            let is_blank = line.trim().is_empty() || line.starts_with('#');
            (inside && !is_blank).then_some((index + 1, line))
        })
}

/// Name and version of an outside crate; `None` for one of ours.
fn version(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let version = value.split('"').nth(1)?;
    (!name.starts_with("seine-")).then_some((name.trim(), version))
}
