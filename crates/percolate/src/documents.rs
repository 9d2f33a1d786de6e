//! What a call asks about.

use query::{analysis::Words, value::Value};

/// Memory of a pair of a query and a document while a call runs: when it is found, when pairs are put in order, and in a row of
/// the answer, each in a list that grows by doubling.
pub const PAIR_BYTES: usize = 64;

/// The documents of one call.
#[derive(Clone, Copy)]
pub struct Documents<'a> {
    /// The words of each.
    pub words: &'a [Words],
    /// The value of an attribute: the document's index in `words`, and the column's slot as the filters were prepared
    /// with. Asked only for documents that hit a query but for its filter.
    pub attributes: &'a dyn Fn(usize, usize) -> Value,
    /// Asked once for each 64 documents and run of queries, and every 32,768 steps, some tenths of a millisecond: `false`
    /// ends the call.
    pub goes_on: &'a dyn Fn() -> bool,
    /// Most steps of the call: the unit is the work of taking one place of one word through one operation on places.
    pub steps_max: u64,
    /// Asked likewise, with the pairs of one run that were found: `false` where there is no memory for them, at
    /// [`PAIR_BYTES`] each. The call then ends with [`TooManyPairs`](crate::Unfinished::TooManyPairs).
    pub has_room: &'a dyn Fn(usize) -> bool,
}

impl<'a> Documents<'a> {
    /// Documents without attributes: each is NULL. Nothing ends the call but [`QUERY_STEPS_MAX`](crate::QUERY_STEPS_MAX).
    #[must_use]
    pub fn of(words: &'a [Words]) -> Documents<'a> {
        Documents {
            words,
            attributes: &|_, _| Value::Null,
            goes_on: &|| true,
            steps_max: u64::MAX,
            has_room: &|_| true,
        }
    }
}
