//! Matches batches of documents against a snapshot of standing queries.
//!
//! One writer owns a [`QuerySet`] and publishes immutable [`Snapshot`]s of it. Any number of matchers call
//! [`Snapshot::matches`] while the writer changes the set. Matchers take no lock and never wait for the writer.
//!
//! ```
//! use std::sync::Arc;
//!
//! use percolate::{Documents, Hits, QuerySet, Scratch, StandingQuery};
//! use language::analysis::{Analyzer, Words};
//!
//! let analyzer = Analyzer::default();
//! let mut set = QuerySet::new();
//! for (id, text) in [(1, "gulf storm"), (2, "\"storm warning\""), (3, "flood -storm")] {
//!     let root = language::parse(text, &["body"], &analyzer)?.root;
//!     let query = StandingQuery { id, text: text.into(), ..StandingQuery::default() };
//!     set.insert(Arc::new(query), &root, None);
//! }
//! let snapshot = set.snapshot();
//!
//! let mut words = Words::new();
//! words.push_field(&analyzer, 0, "Storm warning for the Gulf coast");
//! let documents = [words];
//! let (mut scratch, mut hits) = (Scratch::new(), Hits::new());
//! let matched = snapshot.matches(&Documents::of(&documents), &mut scratch, &mut hits);
//! assert!(matched.is_ok());
//! assert_eq!(hits.ids().map(|(id, _)| id).collect::<Vec<_>>(), [1, 2]);
//! # Ok::<(), language::tree::QueryError>(())
//! ```
//!
//! From a query's tree to its hits:
//! 1. `conjunction` turns the tree into conjunctions of terms. A term is a word, a pair of neighbours, or a pattern.
//! 2. `level` files each conjunction as an entry under one term that it requires, the anchor.
//! 3. `scratch` marks the terms of 64 documents, finds the entries whose anchor and second term a document holds, and
//!    decides them with 64-bit masks. `check` decides the conditions that masks of single terms
//!    cannot.
//! 4. `hits` sorts the pairs of query and document into the answer.

mod anchors;
mod check;
mod compound;
mod conjunction;
mod dictionary;
mod documents;
mod entry;
mod fetch;
mod filter;
mod frequency;
mod hit_pairs;
mod hits;
mod level;
mod limits;
mod live_level;
mod merging;
mod meter;
mod pairs;
mod pattern;
mod removed;
mod rows;
mod scratch;
mod set;
mod snapshot;
mod standing;
mod term;
mod unfinished;
mod vocabulary;
mod wide;
mod word_terms;

pub use documents::{Documents, PAIR_BYTES};
pub use hits::{Hits, Work};
pub use limits::{LOOK_UNITS, PAIRS_MAX, QUERY_STEPS_MAX, STEPS_PER_WORD, statement_steps};
pub use merging::{MergeJob, Merged};
pub use pattern::Matchers;
pub use scratch::Scratch;
pub use set::{QueryBatch, QuerySet};
pub use snapshot::Snapshot;
pub use standing::{HitCount, StandingQuery};
pub use unfinished::{Costly, Unfinished};

#[cfg(test)]
mod tests;
