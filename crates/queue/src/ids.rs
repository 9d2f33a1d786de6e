//! Rows of a queue by number, who asks for them, and when.

use std::fmt;

/// The number of a row in its queue: 1 for the first row, one more for each row behind it. The numbers of rows that are
/// lost or removed stay unused. Range: 1 ..= 2^64 - 2, so that the number behind the last row fits; 0 is below every row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowNumber(pub u64);

impl RowNumber {
    /// The number `rows` behind this one.
    #[must_use]
    pub fn plus(self, rows: u64) -> RowNumber {
        RowNumber(self.0 + rows)
    }
}

impl From<u64> for RowNumber {
    fn from(number: u64) -> RowNumber {
        RowNumber(number)
    }
}

impl From<RowNumber> for u64 {
    fn from(row: RowNumber) -> u64 {
        row.0
    }
}

impl fmt::Display for RowNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
/// Id of a connection or request. Owner mode and waiting belong to a session. Never used twice by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// The time of one call, on both clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Microseconds since 1970-01-01 UTC, for times that are stored: `hit_at`, `deliver_at=`, delays, `unique_for=`.
    pub unix_us: i64,
    /// Microseconds of a clock that never goes back, for times in memory: ends of leases and of waits.
    pub steady_us: u64,
}
