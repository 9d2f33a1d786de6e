//! Rules of the tree that a machine can check. Each rule is a module with a function `check`. Tables that a person edits are at
//! the top of their module: allowed imports, crates that touch the outside world, excused lengths.
//!
//! To add a rule: a module with `check`, and its call in [`check`].

mod arrows;
mod banned;
mod circles;
mod count;
mod documents;
mod ids;
mod imports;
mod lengths;
mod mutations;
mod names;
mod prose;
mod readers;
mod rooms;
mod safety;
mod source;
#[cfg(test)]
mod tests;
mod tree;
mod wildcards;
mod workspaces;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use tree::Tree;

/// A broken rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Path in the tree, with `/`.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// The reason, and the remedy.
    pub message: String,
}

impl Problem {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The root of this workspace, at the time when xtask was built.
#[must_use]
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Checks every rule. Gives the problems, sorted by path and line.
///
/// # Errors
/// A file or folder of the tree cannot be read.
pub fn check(root: &Path) -> io::Result<Vec<Problem>> {
    let tree = Tree::read(root)?;
    let mut problems = Vec::new();
    imports::check(&tree, &mut problems);
    workspaces::check(&tree, &mut problems);
    let arrows = arrows::by_crate(&tree);
    circles::check(&arrows, &mut problems);
    rooms::check(&arrows, &mut problems);
    banned::check(&tree, &mut problems);
    readers::check(&tree, &mut problems);
    ids::check(&tree, &mut problems);
    lengths::check(&tree, &mut problems);
    documents::check(&tree, &mut problems);
    safety::check(&tree, &mut problems);
    mutations::check(&tree, &mut problems);
    names::check(&tree, &mut problems);
    prose::check(&tree, &mut problems);
    wildcards::check(&tree, &mut problems);
    problems.sort();
    Ok(problems)
}

/// Counts the lines of code of each crate, without blank lines, comments and tests.
///
/// # Errors
/// A file or folder of the tree cannot be read.
pub fn count(root: &Path) -> io::Result<BTreeMap<String, usize>> {
    Ok(count::by_crate(&Tree::read(root)?))
}
