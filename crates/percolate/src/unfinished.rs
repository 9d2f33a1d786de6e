//! Why a call ends without an answer.

/// Why a call has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It found more than [`PAIRS_MAX`] pairs, or so many entries that it might, or more than there is memory for.
    TooManyPairs,
    /// Nobody wants the answer any more: [`Documents::goes_on`](crate::Documents::goes_on).
    Stopped,
    /// It took more steps than it may.
    TooCostly(Costly),
}

/// Which bound a call reached, and the query that took most of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costly {
    /// The bound, in steps: the call's own, or [`QUERY_STEPS_MAX`](crate::QUERY_STEPS_MAX).
    pub max: u64,
    /// The id of the query that took the most steps on one document; none where no query had to look at places: the steps
    /// went into finding the documents' words, phrases and patterns.
    pub query: Option<u64>,
    /// The index of that document in the call; 0 without a query.
    pub document: u32,
    /// The steps that the query took on it; 0 without a query.
    pub steps: u64,
}

/// [`Unfinished::TooManyPairs`], where nothing else can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyPairs;

impl From<TooManyPairs> for Unfinished {
    fn from(_: TooManyPairs) -> Unfinished {
        Unfinished::TooManyPairs
    }
}
