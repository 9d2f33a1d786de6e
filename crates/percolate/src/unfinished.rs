//! The reasons for which a call ends without an answer.

/// The reason why a call has no answer. `hits` is then empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It found more than [`PAIRS_MAX`](crate::PAIRS_MAX) pairs, repeated ones included, or
    /// [`Documents::has_room`](crate::Documents::has_room) refused memory for them.
    TooManyPairs,
    /// [`Documents::goes_on`](crate::Documents::goes_on) returned false.
    Stopped,
    /// It reached a bound of steps.
    TooCostly(Costly),
}

/// The bound that a call reached, and the query that took the most steps on one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costly {
    /// The bound in steps: the call's own, or [`QUERY_STEPS_MAX`](crate::QUERY_STEPS_MAX).
    pub max: u64,
    /// The id of the query that took the most steps on one document. `None` where no query looked at places: the
    /// steps then went into finding the documents' words, phrases and patterns.
    pub query: Option<u64>,
    /// The index of that document in the call; 0 without a query.
    pub document: u32,
    /// The steps that the query took on it; 0 without a query.
    pub steps: u64,
}

/// [`Unfinished::TooManyPairs`] as the only possible error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyPairs;

impl From<TooManyPairs> for Unfinished {
    fn from(_: TooManyPairs) -> Unfinished {
        Unfinished::TooManyPairs
    }
}
