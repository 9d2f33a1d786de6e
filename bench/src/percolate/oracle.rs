//! Compares a sample of documents and queries with the slow reference. A wrong or missing pair ends the benchmark.

use language::analysis::Words;
use language::meter::Unmetered;
use language::reference;
use language::tree::Node;
use relation::expression::Metered;
use relation::expression::Prepared as Condition;

use percolate::Snapshot;

use super::{
    matcher::{self, Matcher},
    queries::{Queries, Query},
};
use crate::{
    error::{Error, Result},
    workload::Post,
};

/// Most evaluations of the reference. Each takes about a microsecond.
const EVALUATIONS: usize = 2_000_000;

/// Most queries that are evaluated on every sampled document, chosen evenly. Other queries are evaluated only on the documents
/// that hit them.
const QUERIES_MAX: usize = 100_000;

/// The sampled queries.
pub(super) struct Oracle {
    queries: Vec<(u64, Slow)>,
    step: usize,
}

/// A query in the form of the reference.
struct Slow {
    root: Node,
    condition: Option<Condition>,
}

impl Oracle {
    pub(super) fn new(queries: &Queries) -> Result<Oracle> {
        let step = queries.len().div_ceil(QUERIES_MAX).max(1);
        let sampled = (0..queries.len()).step_by(step);
        let read = |number| {
            queries
                .get(number)
                .map(|query| Ok((query.id, Slow::new(query)?)))
        };
        Ok(Oracle {
            queries: sampled.filter_map(read).collect::<Result<_>>()?,
            step,
        })
    }

    /// Compares, and gives the count of compared documents.
    pub(super) fn compare(
        &self,
        posts: &[Post],
        queries: &Queries,
        snapshot: &Snapshot,
    ) -> Result<usize> {
        let wanted = (EVALUATIONS / self.queries.len().max(1)).max(2);
        let step = posts.len().div_ceil(wanted).max(1);
        let sampled = posts.iter().step_by(step);
        let count = sampled.len();
        for post in sampled {
            self.compare_one(queries, snapshot, post)?;
        }
        Ok(count)
    }

    fn compare_one(&self, queries: &Queries, snapshot: &Snapshot, post: &Post) -> Result<()> {
        let mut matcher = Matcher::default();
        let hits = matcher.take(snapshot, std::slice::from_ref(post));
        let found: Vec<u64> = hits.ids().map(|(id, _)| id).collect();
        let is_sampled = |id: u64| (id as usize - 1).is_multiple_of(self.step);
        let words = matcher::words_of(post);
        let of_sample: Vec<u64> = found.iter().copied().filter(|id| is_sampled(*id)).collect();
        let expected: Vec<u64> = self
            .queries
            .iter()
            .filter(|(_, slow)| slow.matches(post, &words))
            .map(|(id, _)| *id)
            .collect();
        let same = expected
            .iter()
            .filter(|id| of_sample.binary_search(id).is_ok());
        let what = "sampled queries hit by a sampled document";
        Error::unless_equal(what, expected.len() as u64, of_sample.len() as u64)?;
        Error::unless_equal(what, expected.len() as u64, same.count() as u64)?;
        for id in found.into_iter().filter(|id| !is_sampled(*id)) {
            let query = queries.get(id as usize - 1);
            let right = match query {
                Some(query) => Slow::new(query)?.matches(post, &words),
                None => false,
            };
            Error::unless_equal("hits that the reference finds", 1, u64::from(right))?;
        }
        Ok(())
    }
}

impl Slow {
    fn new(query: Query<'_>) -> Result<Slow> {
        Ok(Slow {
            root: matcher::parse(query.text)?,
            condition: matcher::condition(query.filters)?,
        })
    }

    fn matches(&self, post: &Post, words: &Words) -> bool {
        let attribute = Metered::new(&Unmetered, |column: usize| post.attribute(column));
        reference::matches(&self.root, words)
            && self
                .condition
                .as_ref()
                .is_none_or(|each| each.evaluate(&attribute).as_bool() == Some(true))
    }
}
