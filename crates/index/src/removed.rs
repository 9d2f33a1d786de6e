//! The words of a part's deleted rows, to be taken off its statistics while it still holds the
//! rows.
//!
//! Each deletion adds one short list. Eight lists of a size class are merged into one, as the
//! tail's chunks are. So a deletion costs a logarithm of the number of deletions, and snapshots
//! share the lists.

use std::sync::Arc;

/// Number of lists of one size class that are merged into one of the next.
const FAN: usize = 8;

/// A word and its occurrences in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordCount {
    /// Number of the word in its part's dictionary.
    pub(crate) word: u32,
    /// Occurrences in the row; at least 1.
    pub(crate) hits: u32,
}

/// Rows and occurrences of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frequency {
    /// Rows that hold it.
    pub(crate) documents: u64,
    /// Occurrences in these rows.
    pub(crate) hits: u64,
}

impl Frequency {
    /// Adds the counts of other rows.
    pub(crate) fn add(&mut self, more: Frequency) {
        self.documents += more.documents;
        self.hits += more.hits;
    }
}

/// Words of the deleted rows of one part.
#[derive(Clone, Default)]
pub(crate) struct Removed {
    /// Each list is sorted by word and has each word once. Sizes fall from the first list to the
    /// last, apart from a few.
    lists: Vec<Arc<[(u32, Frequency)]>>,
    /// Occurrences in all lists together.
    hits: u64,
}

impl Removed {
    /// Adds one deleted row. `words`: sorted by word, each once.
    pub(crate) fn add(&mut self, words: &[WordCount]) {
        self.hits += words.iter().map(|word| u64::from(word.hits)).sum::<u64>();
        let one = |word: &WordCount| {
            (
                word.word,
                Frequency {
                    documents: 1,
                    hits: u64::from(word.hits),
                },
            )
        };
        self.lists.push(words.iter().map(one).collect());
        self.merge();
    }

    /// Adds the words of several deleted rows, each word once, in any order.
    pub(crate) fn add_counts(&mut self, mut counts: Vec<(u32, Frequency)>) {
        if counts.is_empty() {
            return;
        }
        counts.sort_unstable_by_key(|(word, _)| *word);
        self.hits += counts.iter().map(|(_, sum)| sum.hits).sum::<u64>();
        self.lists.insert(0, counts.into()); // the largest come first
    }

    /// Adds the words of other deleted rows. Cost: a reference for each of their lists.
    pub(crate) fn join(&mut self, other: &Removed) {
        self.lists.extend(other.lists.iter().cloned());
        self.hits += other.hits;
    }

    /// Deleted rows that held a word, and its occurrences in them.
    pub(crate) fn frequency(&self, word: u32) -> Frequency {
        let mut sum = Frequency::default();
        for list in &self.lists {
            if let Ok(at) = list.binary_search_by_key(&word, |entry| entry.0) {
                sum.documents += list[at].1.documents;
                sum.hits += list[at].1.hits;
            }
        }
        sum
    }

    /// Words of the deleted rows, every occurrence counted.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    fn merge(&mut self) {
        while let Some(last) = self.lists.last() {
            let class = class_of(last.len());
            let small = self
                .lists
                .iter()
                .rev()
                .take_while(|list| class_of(list.len()) <= class);
            let first = self.lists.len() - small.count();
            if self.lists.len() - first < FAN {
                return;
            }
            let merged = merge_lists(&self.lists[first..]);
            self.lists.truncate(first);
            self.lists.push(merged);
        }
    }
}

/// Size class of a list. Lists of one row are of class 0, unless the row has hundreds of words.
fn class_of(words: usize) -> u32 {
    (words / 64 + 1).ilog(FAN)
}

fn merge_lists(lists: &[Arc<[(u32, Frequency)]>]) -> Arc<[(u32, Frequency)]> {
    let mut all: Vec<(u32, Frequency)> =
        lists.iter().flat_map(|list| list.iter().copied()).collect();
    all.sort_by_key(|entry| entry.0);
    all.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1.documents += later.1.documents;
            kept.1.hits += later.1.hits;
        }
        same
    });
    all.into()
}
