//! The answer of a SELECT.

use relation::json::JsonStep;
use relation::rows::Fetch;
use relation::schema::ColumnType;
use relation::scroll::Position;
use relation::value::Value;

use crate::error::Reason;
use crate::error::Result;
use crate::search::fetch::FoundRows;
use crate::warning::Warning;

/// The answer of one SELECT.
pub struct Answer {
    /// Header and type of each column shown; `None` as the type of an expression.
    pub columns: Vec<(String, Option<ColumnType>)>,
    /// The rows in order, after OFFSET and LIMIT.
    pub rows: Rows,
    /// Number of matching rows, before OFFSET and LIMIT. Exact unless `partial` is set.
    pub total_found: u64,
    /// For SHOW META: each distinct word and pattern of MATCH, in the order of the query.
    pub keywords: Vec<Keyword>,
    /// Why rows may be missing and `total_found` too small; `None`: the answer is whole.
    pub partial: Option<Reason>,
    /// Where the last of the rows stands, for OPTION scroll; `None` without it, and where there is no row.
    pub last: Option<Position>,
    /// Damage met by the search. The answer is right all the same, or `partial` says why it is not.
    pub warnings: Vec<Warning>,
    /// Damaged keys that the search would have used. The answer is whole: their rows were scanned.
    pub damaged_keys: Vec<Warning>,
}

/// Statistics of one word or pattern over the live rows of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyword {
    /// The word as analysis makes it, or the pattern.
    pub word: String,
    /// Live rows that hold the word. For a pattern, the sum over its words: a row may count twice.
    pub documents: u64,
    /// Occurrences in these rows.
    pub hits: u64,
}

/// The rows of an answer by their place in it; each value is read when it is asked for. Holds its snapshot alive.
pub struct Located {
    found: FoundRows,
    /// Slot of the weight, behind the last column.
    weight: usize,
}

impl Located {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a slot: 0 is the id, column `n` has slot `n + 1`, and the weight follows the last column.
    ///
    /// Errors: `Io`, `Corrupt`. Panics: there is no such row or slot.
    pub fn value(&self, row: usize, slot: usize) -> Result<Value> {
        self.found.value(row, slot, self.weight)
    }

    /// Bytes of the value of a slot; 0 for a short value. Errors and panics: as [`Located::value`].
    pub fn value_bytes(&self, row: usize, slot: usize) -> Result<usize> {
        self.found.value_bytes(row, slot)
    }

    /// Tells the processor to fetch what the values of these slots will need. Panics: there is no such row.
    pub fn fetch(&self, row: usize, slots: &[usize], step: Fetch) {
        self.found.fetch(row, slots, step);
    }

    /// What stands at a path in the document of a slot. Errors and panics: as [`Located::value`].
    pub fn value_at(&self, row: usize, slot: usize, path: &[JsonStep]) -> Result<Value> {
        self.found.value_at(row, slot, path)
    }
}

/// The rows of an answer; each is read when the iterator reaches it. Holds its snapshot alive.
pub struct Rows {
    rest: Rest,
}

enum Rest {
    Found(FoundRows),
    /// The row of COUNT(*); `None` if OFFSET or LIMIT took it, or once it was returned.
    Count(Option<Vec<Value>>),
}

impl Rows {
    pub(crate) fn new(found: FoundRows) -> Rows {
        Rows {
            rest: Rest::Found(found),
        }
    }

    /// Part, number in it and id of each row that is left; none of COUNT(*).
    pub(crate) fn into_places(self) -> Vec<(u32, u32, u64)> {
        match self.rest {
            Rest::Found(found) => found.into_places(),
            Rest::Count(_) => Vec::new(),
        }
    }

    /// The rows that are left, by their place. `columns`: number of the table's columns. `None`: it is the row of COUNT(*).
    #[must_use]
    pub fn located(self, columns: usize) -> Option<Located> {
        match self.rest {
            Rest::Found(found) => Some(Located {
                found,
                weight: columns + 1,
            }),
            Rest::Count(_) => None,
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
