//! The queries and posts of a definition, and the right answer, which is found before the clock starts.

use std::sync::Arc;

use percolate::{QuerySet, Snapshot};

use super::{
    matcher::{self, Matcher},
    oracle::Oracle,
    queries::Queries,
};
use crate::{
    definition::Definition,
    error::{Error, Result},
    workload::Post,
};

/// Documents of a call while the set learns which words are common.
const LEARN_BATCH: usize = 512;

/// A workload whose answer is known.
pub(crate) struct Prepared {
    /// The documents, in the order in which they are matched.
    pub(crate) posts: Vec<Post>,
    pub(crate) queries: Queries,
    /// Whether some queries have filters on attributes.
    pub(crate) filtered: bool,
    /// For each document the count of queries that it hits.
    pub(crate) hits: Vec<u32>,
    /// Sum of `hits`.
    pub(crate) matches: u64,
    pub(super) set: QuerySet,
    pub(super) snapshot: Arc<Snapshot>,
    /// Count of documents that were compared with the reference.
    sample: usize,
    /// Mean count of candidates of a document.
    candidates: f64,
    /// Whether the posts are those of the definition, so that its count was compared.
    counted: bool,
}

impl Prepared {
    /// Draws the queries and percolates every post. Compares a sample with the reference, and the count of pairs with the
    /// definition's.
    pub(crate) fn new(definition: &Definition, posts: Vec<Post>) -> Result<Prepared> {
        let (queries, set) = draw(definition, &posts)?;
        let mut prepared = Prepared {
            filtered: definition.recipe.has_filters(),
            posts,
            queries,
            hits: Vec::new(),
            matches: 0,
            set,
            snapshot: Arc::default(),
            sample: 0,
            candidates: 0.0,
            counted: false,
        };
        prepared.percolate_all();
        prepared.sample = Oracle::new(&prepared.queries)?.compare(
            &prepared.posts,
            &prepared.queries,
            &prepared.snapshot,
        )?;
        if let Some(matches) = definition.matches_of(&prepared.posts) {
            Error::unless_equal("pairs of document and query", matches, prepared.matches)?;
            prepared.counted = true;
        }
        Ok(prepared)
    }

    /// Percolates all documents twice: first the set learns which words are common, then it is as the benchmark measures it.
    fn percolate_all(&mut self) {
        self.set.settle();
        let mut matcher = Matcher::default();
        for posts in self.posts.chunks(LEARN_BATCH) {
            matcher.take(&self.set.snapshot(), posts);
        }
        self.set.settle();
        self.snapshot = self.set.snapshot();
        self.hits = vec![0; self.posts.len()];
        let mut matcher = Matcher::default();
        let batches = self.posts.chunks(LEARN_BATCH);
        for (posts, counts) in batches.zip(self.hits.chunks_mut(LEARN_BATCH)) {
            for (_, documents) in matcher.take(&self.snapshot, posts).ids() {
                for document in documents {
                    counts[*document as usize] += 1;
                }
            }
        }
        self.candidates = matcher.counts().candidates as f64 / self.posts.len().max(1) as f64;
        self.matches = self.hits.iter().map(|count| u64::from(*count)).sum();
    }

    /// Keeps `limit` documents from the number `from` on, counted from 1; behind the last comes the first again. Without a limit
    /// it keeps those up to the last.
    pub(crate) fn select(&mut self, from: u64, limit: Option<u64>) {
        let count = self.posts.len();
        let first = usize::try_from(from.saturating_sub(1)).unwrap_or(usize::MAX);
        let limit = limit.map_or(count.saturating_sub(first), |limit| {
            usize::try_from(limit).unwrap_or(usize::MAX)
        });
        if (first == 0 && limit == count) || count == 0 {
            return;
        }
        let chosen = || (0..limit).map(|number| (first % count + number % count) % count);
        self.posts = chosen().map(|number| self.posts[number].clone()).collect();
        self.hits = chosen().map(|number| self.hits[number]).collect();
        self.matches = self.hits.iter().map(|count| u64::from(*count)).sum();
    }

    /// Lines that a reader of the figures must know.
    pub(crate) fn notes(&self, definition: &Definition) -> Vec<String> {
        let documents = self.posts.len().max(1) as f64;
        let bytes: usize = self.posts.iter().map(|post| post.body.len()).sum();
        let counted = match self.counted {
            true => "the definition's",
            false => "other posts than the definition's: not compared with its count",
        };
        vec![
            format!(
                "{} posts of {:.0} bytes, {} queries ({:?}, seed {})",
                self.posts.len(),
                bytes as f64 / documents,
                self.queries.len(),
                definition.recipe,
                definition.seed,
            ),
            format!(
                "{:.2} matches a document; {} pairs in all; {:.0} candidates a document of all posts ({counted})",
                self.matches as f64 / documents,
                self.matches,
                self.candidates,
            ),
            format!(
                "{} documents compared with the reference, query by query; {:.0} bytes a query are read while matching",
                self.sample,
                self.snapshot.hot_bytes() as f64 / self.queries.len().max(1) as f64,
            ),
        ]
    }
}

/// Draws the queries, as texts and as a compiled set. It does not keep their trees: ten million would not fit into memory.
fn draw(definition: &Definition, posts: &[Post]) -> Result<(Queries, QuerySet)> {
    let draw = definition.recipe.draw(posts, definition.seed);
    let mut queries = Queries::default();
    let mut set = QuerySet::new();
    for (query, id) in draw
        .ok_or(Error::TooFewPosts)?
        .take(definition.queries)
        .zip(1..)
    {
        matcher::insert(&mut set, id, &query)?;
        queries.push(&query);
    }
    Ok((queries, set))
}
