//! What a SELECT gives back.

use query::schema::ColumnType;
use query::value::Value;

use crate::error::Reason;
use crate::error::Result;
use crate::search::fetch::FoundRows;
use crate::warning::Warning;

/// The answer of one SELECT.
pub struct Answer {
    /// Header and type of each column shown; `None` for the type of an expression.
    pub columns: Vec<(String, Option<ColumnType>)>,
    /// The rows, in order, after OFFSET and LIMIT.
    pub rows: Rows,
    /// Rows that matched, before OFFSET and LIMIT. Exact.
    pub total_found: u64,
    /// One for each distinct word that MATCH asked for, in the order of the query, for SHOW META.
    pub keywords: Vec<Keyword>,
    /// Why rows may be missing, and `total_found` may be too small; `None`: nothing is.
    pub partial: Option<Reason>,
    /// What was met on the way; the answer is right all the same, or `partial` says why not.
    pub warnings: Vec<Warning>,
}

/// Live statistics of one word, over the whole table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// As analysis gives it.
    pub word: String,
    /// Rows that hold it.
    pub documents: u64,
    /// Times it occurs in them.
    pub hits: u64,
}

/// Rows of an answer, each made when it is asked for. Holds its snapshot alive.
pub struct Rows {
    rest: Rest,
}

enum Rest {
    Found(FoundRows),
    /// The row of COUNT(*), unless OFFSET or LIMIT took it.
    Count(Option<Vec<Value>>),
}

impl Rows {
    pub(crate) fn new(found: FoundRows) -> Rows {
        Rows {
            rest: Rest::Found(found),
        }
    }

    pub(crate) fn of_count(row: Option<Vec<Value>>) -> Rows {
        Rows {
            rest: Rest::Count(row),
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Vec<Value>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.rest {
            Rest::Found(found) => found.next(),
            Rest::Count(row) => row.take().map(Ok),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.rest {
            Rest::Found(found) => found.len(),
            Rest::Count(row) => usize::from(row.is_some()),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Rows {}
