//! A server's answers to a list of queries: as a file, and compared with those of another server by the measures of the study of
//! distributed search.
//!
//! ```text
//! reply    result sets → an Answer: ids, weights and a digest of all columns and cells
//! saved    answers ↔ a file
//! measures two lists of answers → how many agree, and the first that differ
//! ```

mod measures;
mod reply;
mod saved;

#[cfg(test)]
mod tests;

pub use measures::{Line, Measures, compare};
pub use reply::{ReplySet, digest_of_text};
pub use saved::{HEAD, read, write, write_line};

/// Answers to a list of queries, by rising number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// An answer for each query that was asked.
    pub answers: Vec<Answer>,
}

/// The answer to one query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Number of the query in its list, from 1. Queries that were skipped have numbers, too.
    pub number: u64,
    /// Text of the query.
    pub query: String,
    /// The rows, or why there are none.
    pub reply: Reply,
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Rows, perhaps none.
    Rows(Rows),
    /// The server refused the query, or the connection broke.
    Failed {
        /// Number of the error in the protocol; 0 for a connection that broke.
        code: u16,
        /// The server's own words.
        message: String,
    },
}

impl Default for Reply {
    /// No rows.
    fn default() -> Reply {
        Reply::Rows(Rows::default())
    }
}

/// The rows of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Number of matching rows, by the server.
    pub total_found: u64,
    /// Number of rows in the first result set.
    pub count: u64,
    /// Ids and weights of the first result set, best first. Empty without a column `id`; a weight is 0 without a column for it.
    pub documents: Vec<(i128, i64)>,
    /// Digest of all result sets, with columns and cells; `None` where the file does not tell it.
    pub digest: Option<u128>,
}
