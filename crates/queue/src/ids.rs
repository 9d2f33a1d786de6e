//! Who asks a queue, and when.

/// A connection: owner mode and waiting are per session. Never used twice by one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u64);

/// The time, as an argument: nothing here reads a clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Microseconds since 1970-01-01 UTC: what is stored (`hit_at`).
    pub unix_us: i64,
    /// Microseconds of a clock that never goes back: what deadlines are counted in.
    pub steady_us: u64,
}
