//! `seine bench compare`: compares the results of two servers, versions or settings, by the measures of the study of distributed
//! search. The results come from live servers or from files.

mod ask;
mod measures;
mod saved;

#[cfg(test)]
mod tests;

use crate::error::Result;

pub use ask::{Asking, results_of};
pub use measures::{Line, Measures};
pub use saved::{read, write};

/// A server's answers to a list of queries, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// An answer for each query.
    pub answers: Vec<Answered>,
}

/// The answer to one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// The query's words.
    pub query: String,
    /// Count of matching rows, by the server.
    pub total_found: u64,
    /// Ids and weights of the rows in the answer, best first.
    pub rows: Vec<(u64, i64)>,
}

/// Compares answers to the same queries.
///
/// # Errors
/// The two lists are of different queries.
pub fn compare(one: &Results, other: &Results) -> Result<Measures> {
    Measures::of(one, other)
}
