//! Exports a workload as words, for programs with another analysis.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

use language::tree::Node;

use super::{Options, matcher, prepare};
use crate::{
    definition::Definition,
    error::{Error, Result},
};

/// Writes two files, in the order of the ids. Gives the count of pairs that a correct program finds.
///
/// - `queries.txt`, a query in each line, with spaces between its parts: `+word` is required, `+a|b` requires one of the words,
///   `-word` is excluded.
/// - `documents.txt`, a document in each line: its folded words with spaces between.
///
/// # Errors
/// As [`run`](super::run); [`Error::Query`] for a query that needs anything else, such as positions or a filter;
/// [`Error::Io`].
pub fn export(options: &Options, directory: &Path) -> Result<u64> {
    write(
        &Definition::percolate(&options.definition)?,
        options,
        directory,
    )
}

pub(super) fn write(definition: &Definition, options: &Options, directory: &Path) -> Result<u64> {
    let prepared = prepare(definition, options)?;
    fs::create_dir_all(directory)?;
    write_lines(&directory.join("queries.txt"), |line| {
        for query in prepared.queries.iter() {
            let words = conjunction(&matcher::parse(query.text)?);
            let words = words.filter(|_| query.filters.is_empty());
            let words = words.ok_or_else(|| Error::Query(query.text.to_owned()))?;
            line(&words.join(" "))?;
        }
        Ok(())
    })?;
    write_lines(&directory.join("documents.txt"), |line| {
        for post in &prepared.posts {
            let words = matcher::words_of(post);
            let words: Vec<&str> = words.iter().map(|(word, _, _)| word).collect();
            line(&words.join(" "))?;
        }
        Ok(())
    })?;
    Ok(prepared.matches)
}

fn write_lines(
    path: &Path,
    lines: impl FnOnce(&mut dyn FnMut(&str) -> io::Result<()>) -> Result<()>,
) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    lines(&mut |line| writeln!(file, "{line}"))?;
    Ok(file.flush()?)
}

/// The parts of a tree that is a conjunction of words, groups and excluded words; `None`: another tree.
fn conjunction(root: &Node) -> Option<Vec<String>> {
    let children = match root {
        Node::And(children) => children.as_slice(),
        single => std::slice::from_ref(single),
    };
    let signed = |node: &Node| match node {
        Node::Not(inner) => Some(format!("-{}", plain(inner)?)),
        Node::Or(words) => {
            let words: Option<Vec<&str>> = words.iter().map(plain).collect();
            Some(format!("+{}", words?.join("|")))
        }
        word => Some(format!("+{}", plain(word)?)),
    };
    children.iter().map(signed).collect()
}

/// The text of a node that is a plain word.
fn plain(node: &Node) -> Option<&str> {
    match node {
        Node::Word(word) if word.term.is_plain() => Some(&word.term.text),
        _ => None,
    }
}
