//! What the entries of a log say together, in bounded memory.
//!
//! ```text
//! lines = queries + failed + others + outside + unknown + losses + too long + blank + further lines of statements
//! ```
//!
//! Two summaries of parts of a log merge into the summary of the whole, in any order and however the log was split, as long as no
//! bound of [`limits`](super::limits) was met. Past a bound the report says what was left out.

mod minutes;
mod slowest;
mod tally;

use std::collections::BTreeMap;

use super::entry::{Entry, Form};
use super::histogram::Histogram;
use super::place::Place;
use super::queries::{Batch, QueryTable};

pub use minutes::{Minute, Minutes};
pub use slowest::SlowQuery;
pub(crate) use tally::Tally;
pub use tally::{BandCost, Counts, ErrorCount, Example, Filter, Group, WORD_CLASSES, word_class};

/// How a log is counted.
#[derive(Clone, Debug, Default)]
pub struct SummaryOptions {
    /// The entries that count.
    pub filter: Filter,
    /// Bounds of the exact counts of queries: queries and bytes of their texts; `None` for the defaults of
    /// [`limits`](super::limits).
    pub queries_max: Option<(usize, usize)>,
}

/// The summary of a log or of a part of it.
#[derive(Clone, Debug)]
pub struct Summary {
    tally: Tally,
    queries: QueryTable,
}

impl Summary {
    /// A summary without lines.
    pub fn new(options: &SummaryOptions) -> Summary {
        Summary {
            tally: Tally::new(options.filter.clone()),
            queries: QueryTable::of_options(options.queries_max),
        }
    }

    /// A summary whose parts were counted apart.
    pub(crate) fn of_parts(tally: Tally, queries: QueryTable) -> Summary {
        Summary { tally, queries }
    }

    /// Counts an entry that was not read from a file.
    pub fn add_entry(&mut self, server: &str, place: Place, form: Form, entry: &Entry<'_>) {
        let mut batch = Batch::default();
        self.tally.set_server(server);
        self.tally.add_entry(place, form, entry, &mut batch);
        self.queries.add_batch(&batch);
    }

    /// Counts the lines of `block`, a log of `server` or a part of it that begins at `first`.
    pub fn add_block(&mut self, server: &str, first: Place, block: &[u8]) {
        let mut batch = Batch::default();
        self.tally.set_server(server);
        self.tally.add_block(first, block, &mut batch);
        self.queries.add_batch(&batch);
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: Summary) {
        self.tally.merge(other.tally);
        self.queries.merge(&other.queries);
    }

    /// Counts of lines.
    pub fn counts(&self) -> Counts {
        self.tally.counts()
    }

    /// Times of all queries.
    pub fn times(&self) -> Histogram {
        let mut all = Histogram::default();
        self.tally
            .groups()
            .for_each(|(_, _, group)| all.merge(&group.times));
        all
    }

    /// What each server answered, by name.
    pub fn servers(&self) -> BTreeMap<&str, Group> {
        let mut servers = BTreeMap::<&str, Group>::new();
        for (server, _, group) in self.tally.groups() {
            servers.entry(server).or_default().merge(group);
        }
        servers
    }

    /// What was answered from each index list, by name.
    pub fn indexes(&self) -> BTreeMap<&str, Group> {
        let mut indexes = BTreeMap::<&str, Group>::new();
        for (_, index, group) in self.tally.groups() {
            indexes.entry(index).or_default().merge(group);
        }
        indexes
    }

    /// What each server answered from each index list, by both names.
    pub fn pairs(&self) -> BTreeMap<(&str, &str), &Group> {
        self.tally
            .groups()
            .map(|(server, index, group)| ((server, index), group))
            .collect()
    }

    /// Times by number of words, one for each of [`WORD_CLASSES`].
    pub fn by_words(&self) -> &[Histogram] {
        self.tally.by_words()
    }

    /// Queries and their time by minute.
    pub fn minutes(&self) -> &Minutes {
        self.tally.minutes()
    }

    /// The slowest queries, the slowest first; equal ones in the order of the log.
    pub fn slowest(&self) -> Vec<SlowQuery> {
        self.tally.slowest()
    }

    /// Messages of failed queries, by message.
    pub fn errors(&self) -> &BTreeMap<String, ErrorCount> {
        self.tally.errors()
    }

    /// Failed queries whose message is not among [`errors`](Self::errors).
    pub fn other_errors(&self) -> u64 {
        self.tally.other_errors()
    }

    /// The first lines of unknown form.
    pub fn examples(&self) -> &BTreeMap<Place, Example> {
        self.tally.examples()
    }

    /// Page faults and bytes read by time of the answer: highest time of the bin in microseconds, and the sums. Empty if no line
    /// has them.
    pub fn costs(&self) -> Vec<(u64, BandCost)> {
        self.tally.costs()
    }

    /// Counts of queries.
    pub fn queries(&self) -> &QueryTable {
        &self.queries
    }
}

#[cfg(test)]
mod tests;
