//! Merging levels and filing queries anew, away from the writer's thread.
//!
//! A job owns what it reads: levels never change, and what has been removed from them, the counts of words and the
//! dictionary are copies of the moment it began. What changed meanwhile is applied when its result is installed.

use std::sync::Arc;

use crate::{
    dictionary::Dictionary,
    frequency::{Costs, Stream, Uses},
    level::{Builder, Level},
    set::Held,
};

/// Work on the larger levels of a set, made by [`QuerySet::merge_job`](crate::QuerySet::merge_job). Runs on any
/// thread while the set changes and matchers match.
#[derive(Debug)]
pub struct MergeJob {
    pub(crate) number: u64,
    /// Neighbouring levels to become one; may be none.
    pub(crate) inputs: Vec<Held>,
    /// All queries are filed under what is rare now: the stream's past counts less from here on.
    pub(crate) is_anew: bool,
    pub(crate) stream: Arc<Stream>,
    pub(crate) uses: Arc<Uses>,
    /// The dictionary, if its layers are to become one.
    pub(crate) dictionary: Option<Dictionary>,
    /// Levels that nobody else holds any more: giving a large one back takes as long as reading it.
    pub(crate) retired: Vec<Arc<Level>>,
}

/// What came of a [`MergeJob`]; goes to [`QuerySet::install`](crate::QuerySet::install).
#[derive(Debug)]
pub struct Merged {
    pub(crate) number: u64,
    pub(crate) inputs: Vec<Held>,
    /// None if every query was removed, or no level was to be merged.
    pub(crate) level: Option<Level>,
    pub(crate) dictionary: Option<Dictionary>,
}

impl MergeJob {
    /// Does the work: about 0.3 µs for each query.
    #[must_use]
    pub fn run(self) -> Merged {
        drop(self.retired);
        if self.is_anew {
            self.stream.decay();
        }
        let costs = Costs::new(&self.stream, &self.uses);
        let level = (!self.inputs.is_empty()).then(|| Builder::merge(&self.inputs, &costs));
        let dictionary = self.dictionary.map(|mut dictionary| {
            dictionary.compact();
            dictionary
        });
        Merged {
            number: self.number,
            inputs: self.inputs,
            level: level.filter(|level| level.len() > 0),
            dictionary,
        }
    }
}
