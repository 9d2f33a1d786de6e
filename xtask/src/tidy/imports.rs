//! Imports between crates. The table below says which of our crates may import which. The root manifest says it for outside
//! crates: the comment behind a dependency ends with its importers, in brackets. The manifest of the benchmarks, a workspace of
//! its own, names the outside crates that it alone imports, each with its reason.
//! The code map of `ARCHITECTURE.md` gives our crates an order: no crate imports one that stands behind it.

use std::collections::BTreeMap;

use super::Problem;
use super::tree::Tree;

/// Our crates by folder, and the crates that each may import. The "nevers" of ARCHITECTURE.md rest on this table.
const OURS: &[(&str, &[&str])] = &[
    ("disk", &[]),
    ("language", &[]),
    ("relation", &["language"]),
    ("percolate", &["language", "relation"]),
    ("report", &[]),
    ("study", &["report"]),
    ("journal", &["disk"]),
    ("index", &["language", "relation", "disk"]),
    ("queue", &["language", "relation", "disk"]),
    (
        "engine",
        &[
            "language",
            "relation",
            "percolate",
            "index",
            "queue",
            "journal",
            "disk",
        ],
    ),
    ("wire", &["language", "relation"]),
    ("client", &["wire"]),
    (
        "bench",
        &[
            "language",
            "relation",
            "percolate",
            "index",
            "disk",
            "wire",
            "client",
            "report",
            "study",
            "server",
        ],
    ),
    (
        "session",
        &[
            "language",
            "relation",
            "percolate",
            "study",
            "engine",
            "wire",
        ],
    ),
    (
        "collect",
        &["language", "relation", "disk", "engine", "wire"],
    ),
    (
        "server",
        &[
            "language",
            "relation",
            "percolate",
            "disk",
            "engine",
            "wire",
            "session",
            "study",
            "collect",
        ],
    ),
    (
        "cli",
        &[
            "language",
            "relation",
            "percolate",
            "disk",
            "engine",
            "wire",
            "client",
            "study",
            "report",
            "report",
            "study",
            "collect",
            "server",
        ],
    ),
];

/// Word in the root manifest's brackets for a crate that only tests import.
const TESTS: &str = "tests";

/// The benchmarks: their manifest has versions and reasons of its own.
const BENCH: &str = "bench/Cargo.toml";

/// A workspace of its own, with a nightly compiler's dependencies.
const FUZZ: &str = "fuzz/Cargo.toml";

/// Folder of other people's engines. Each is a workspace of its own that only its `run.sh` builds.
const PEERS: &str = "benchmarks/peers/";

/// Folder of other people's clients. Each is a workspace of its own that only CI builds.
const CLIENTS: &str = "tests/clients/";

/// Its code map lists the crates from the ground up.
const CODE_MAP: &str = "ARCHITECTURE.md";

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    let outside = outside_importers(tree, problems);
    let order = crate_order(tree.text(CODE_MAP).unwrap_or_default());
    let mut imported = Vec::new();
    let manifests = tree.ending("/Cargo.toml");
    let ours = |path: &str| path != FUZZ && !path.starts_with(PEERS) && !path.starts_with(CLIENTS);
    for (path, text) in manifests.filter(|(path, _)| ours(path)) {
        let name = path
            .trim_start_matches("crates/")
            .trim_end_matches("/Cargo.toml");
        if !OURS.iter().any(|(ours, _)| *ours == name) && name != "xtask" {
            problems.push(Problem::new(
                path,
                1,
                "this crate is not in the import table of xtask",
            ));
        }
        for dependency in dependencies(text) {
            let above = || is_above(name, dependency.name, &order);
            let objection = match path {
                BENCH => objection_of_bench(&dependency),
                _ => {
                    imported.push(dependency.name.to_owned());
                    objection(name, &dependency, &outside)
                }
            };
            if let Some(why) = objection.or_else(above) {
                problems.push(Problem::new(path, dependency.line, why));
            }
        }
    }
    for name in outside.keys().filter(|name| !imported.contains(name)) {
        problems.push(Problem::new(
            "Cargo.toml",
            1,
            format!("nobody imports {name}"),
        ));
    }
}

/// The crates in the order of the code map: a crate imports only crates that stand before it.
fn crate_order(map: &str) -> Vec<&str> {
    let lines = map.lines().filter_map(|line| line.strip_prefix("- **"));
    lines.filter_map(|line| line.split("**:").next()).collect()
}

/// Refuses the import of a crate that the code map does not list before the importer.
fn is_above(importer: &str, dependency: &str, order: &[&str]) -> Option<String> {
    let imported = dependency.strip_prefix("seine-")?;
    let importer_row = order.iter().position(|name| *name == importer)?;
    let fine = order[..importer_row].contains(&imported);
    (!fine).then(|| {
        format!("{imported} does not stand before {importer} in the code map of {CODE_MAP}")
    })
}

struct Dependency<'a> {
    name: &'a str,
    line: usize,
    for_tests: bool,
    from_workspace: bool,
    /// Whether a comment stands behind it.
    has_reason: bool,
}

/// The dependencies of one crate's manifest.
fn dependencies(manifest: &str) -> Vec<Dependency<'_>> {
    let mut section = "";
    let mut found = Vec::new();
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]")
            && !line.starts_with('#')
            && let Some((name, value)) = line.split_once('=')
        {
            found.push(Dependency {
                name: name.trim().trim_end_matches(".workspace"),
                line: index + 1,
                for_tests: section == "[dev-dependencies]",
                from_workspace: name.contains(".workspace") || value.contains("workspace = true"),
                has_reason: value.contains(" # "),
            });
        }
    }
    found
}

fn objection(
    importer: &str,
    dependency: &Dependency<'_>,
    outside: &BTreeMap<String, Vec<String>>,
) -> Option<String> {
    let name = dependency.name;
    if !dependency.from_workspace {
        return Some(format!(
            "{name}: versions stand in the root manifest, with their reason"
        ));
    }
    if let Some(ours) = name.strip_prefix("seine-") {
        return not_allowed(importer, ours);
    }
    let importers = outside.get(name)?;
    let fine = importers
        .iter()
        .any(|one| one == importer || (dependency.for_tests && one == TESTS));
    (!fine).then(|| format!("{importer} is not among the importers of {name} in the root manifest"))
}

/// As [`objection`], for the benchmarks.
fn objection_of_bench(dependency: &Dependency<'_>) -> Option<String> {
    let name = dependency.name;
    match name.strip_prefix("seine-") {
        Some(ours) => not_allowed("bench", ours),
        None => (!dependency.has_reason).then(|| format!("{name}: say why in a comment behind it")),
    }
}

/// Refuses an import of one of our crates that the table does not have.
fn not_allowed(importer: &str, ours: &str) -> Option<String> {
    let row = OURS.iter().find(|(name, _)| *name == importer)?;
    (!row.1.contains(&ours)).then(|| format!("{importer} may not import {ours}"))
}

/// Outside crates of the root manifest, each with its allowed importers.
fn outside_importers(tree: &Tree, problems: &mut Vec<Problem>) -> BTreeMap<String, Vec<String>> {
    let mut table = BTreeMap::new();
    let mut inside = false;
    for (index, line) in tree
        .text("Cargo.toml")
        .unwrap_or_default()
        .lines()
        .enumerate()
    {
        if line.starts_with('[') {
            inside = line == "[workspace.dependencies]";
        } else if inside && !line.starts_with("seine-") && line.contains('=') {
            let name = line.split('=').next().unwrap_or_default().trim().to_owned();
            let importers = importers(line);
            if importers.is_empty() {
                let message =
                    format!("{name}: say why, and in brackets at the end who may import it");
                problems.push(Problem::new("Cargo.toml", index + 1, message));
            }
            table.insert(name, importers);
        }
    }
    table
}

/// The names in the last brackets of a line's comment.
fn importers(line: &str) -> Vec<String> {
    let comment = line
        .rsplit_once('#')
        .map_or("", |(_, comment)| comment.trim());
    let list = comment
        .strip_suffix(')')
        .and_then(|comment| comment.rsplit_once('('));
    let names = list.map_or("", |(_, names)| names).split(',');
    names
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}
