//! `seine bench compare`: whether two servers, versions or settings give the same results, in the measures of the study of
//! distributed search, from live servers or from results that were saved.

mod ask;
mod measures;
mod saved;

#[cfg(test)]
mod tests;

use crate::error::Result;

pub use ask::{Asking, results_of};
pub use measures::{Line, Measures};
pub use saved::{read, write};

/// What a server answered to a list of queries, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// One a query.
    pub answers: Vec<Answered>,
}

/// The answer to one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The query's words.
    pub query: String,
    /// Rows that match, as the server counts them.
    pub total_found: u64,
    /// The rows given, ids and weights, best first.
    pub rows: Vec<(u64, i64)>,
}

/// Compares answers to the same queries.
///
/// # Errors
/// The two were not asked the same.
pub fn compare(one: &Results, other: &Results) -> Result<Measures> {
    Measures::of(one, other)
}
