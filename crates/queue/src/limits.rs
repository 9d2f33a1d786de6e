//! Every bound of a queue, with its unit.

/// Rows of one queue that come back in one turn because their lease is over or their time has come; the others follow in the
/// next turns, with commands in between.
pub const DUE_ROWS_MAX: usize = 1_024;
/// Lines with a condition that nobody stands in and that are kept for the next who asks.
pub const IDLE_LINES_MAX: usize = 100;
