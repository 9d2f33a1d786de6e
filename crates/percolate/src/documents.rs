//! The documents of a call, and the bounds of the call.

use language::analysis::Words;
use relation::value::Value;

/// Memory of one pair of a query and a document during a call, in bytes. It covers three lists that grow by doubling:
/// the pairs as they are found, the copy that they are sorted into, and the rows of the answer.
pub const PAIR_BYTES: usize = 64;

/// The documents of one call.
#[derive(Clone, Copy)]
pub struct Documents<'a> {
    /// The analysed words of each document.
    pub words: &'a [Words],
    /// Returns an attribute's value, by the document's index in `words` and the column's slot in the prepared
    /// filters. Called only for documents that satisfy all of a query but its filter.
    pub attributes: &'a dyn Fn(usize, usize) -> Value,
    /// Called for every 64 documents and level, and every 32,768 steps, which take some tenths of a millisecond.
    /// `false` ends the call with [`Stopped`](crate::Unfinished::Stopped).
    pub goes_on: &'a dyn Fn() -> bool,
    /// Most steps of the call. One step is about the work of taking one place of one word through one operation on
    /// places.
    pub steps_max: u64,
    /// Called for every 64 documents and level, with the number of pairs found in that level so far. `false` means
    /// that there is no memory for them, at [`PAIR_BYTES`] each, and ends the call with
    /// [`TooManyPairs`](crate::Unfinished::TooManyPairs).
    pub has_room: &'a dyn Fn(usize) -> bool,
}

impl<'a> Documents<'a> {
    /// Documents whose attributes are all NULL. Only [`QUERY_STEPS_MAX`](crate::QUERY_STEPS_MAX) and
    /// [`PAIRS_MAX`](crate::PAIRS_MAX) can end the call.
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
