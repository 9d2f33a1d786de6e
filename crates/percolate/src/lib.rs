//! Document batches against a snapshot of standing queries.
//!
//! A [`QuerySet`] belongs to one writer. It publishes immutable [`Snapshot`]s; any number of matchers run
//! [`Snapshot::matches`] over them while the set changes, without a lock and without waiting for the writer.

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
pub use limits::{PAIRS_MAX, QUERY_STEPS_MAX, STEPS_PER_WORD, statement_steps};
pub use merging::{MergeJob, Merged};
pub use scratch::Scratch;
pub use set::{QueryBatch, QuerySet};
pub use snapshot::Snapshot;
pub use standing::{HitCount, StandingQuery};
pub use unfinished::{Costly, Unfinished};

#[cfg(test)]
mod tests;
