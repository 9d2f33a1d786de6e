//! Every bound of a queue, with its unit.

/// Rows of one queue whose lease is over or whose delay has ended, handled in one turn of the engine. The rest follow in
/// the next turns, so that commands are answered in between.
pub const DUE_ROWS_MAX: usize = 1_024;
/// Lines with a condition that a lane keeps, as long as some of them have no waiters. A line remembers which rows its
/// condition takes, so the next wait with the same condition does not read those rows again.
pub const IDLE_LINES_MAX: usize = 100;
