//! Sessions and times, as a queue is given them.

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
