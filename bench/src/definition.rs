//! Definitions of workloads and their expected answers: `benchmarks/definitions/*.toml`, compiled in.

use serde::Deserialize;

use crate::{
    error::{Error, Result},
    workload::{Post, Recipe},
};

const PERCOLATE: &str = include_str!("../../benchmarks/definitions/percolate.toml");
const INSERT: &str = include_str!("../../benchmarks/definitions/insert.toml");

/// A definition: queries drawn from posts, and the count of their hits.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    /// Name on the command line.
    pub(crate) name: String,
    /// How the queries are drawn.
    pub(crate) recipe: Recipe,
    /// Count of queries.
    pub(crate) queries: usize,
    /// Seed of the random numbers.
    pub(crate) seed: u64,
    /// The posts that `matches` is for, by their count and the bytes of their texts.
    pub(crate) posts: usize,
    pub(crate) body_bytes: usize,
    /// Count of pairs of a post and a query that it hits.
    pub(crate) matches: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    bench: Vec<Definition>,
}

impl Definition {
    /// The definition of that name of `seine bench percolate`.
    pub(crate) fn percolate(name: &str) -> Result<Definition> {
        find(&read(PERCOLATE)?, name)
    }

    /// The definition of that name of `seine bench insert`.
    pub(crate) fn insert(name: &str) -> Result<Definition> {
        find(&read(INSERT)?, name)
    }

    /// The count of pairs that these posts must give; `None`: they are not the posts of the definition.
    pub(crate) fn matches_of(&self, posts: &[Post]) -> Option<u64> {
        let body_bytes: usize = posts.iter().map(|post| post.body.len()).sum();
        (posts.len() == self.posts && body_bytes == self.body_bytes).then_some(self.matches)
    }
}

/// The names of the definitions of `seine bench percolate`, the default first.
///
/// # Errors
/// [`Error::BadDefinition`], which a test rules out.
pub(crate) fn percolate_names() -> Result<Vec<String>> {
    Ok(read(PERCOLATE)?
        .into_iter()
        .map(|definition| definition.name)
        .collect())
}

fn read(text: &str) -> Result<Vec<Definition>> {
    let file: File =
        toml::from_str(text).map_err(|error| Error::BadDefinition(error.to_string()))?;
    Ok(file.bench)
}

fn find(definitions: &[Definition], name: &str) -> Result<Definition> {
    let found = definitions
        .iter()
        .find(|definition| definition.name == name);
    found.cloned().ok_or_else(|| Error::UnknownDefinition {
        name: name.to_owned(),
        known: definitions
            .iter()
            .map(|definition| definition.name.clone())
            .collect(),
    })
}

#[cfg(test)]
mod tests;
