//! Limits of this crate, each with its unit.

/// Most words of one field of one row. A place is stored as `field << 24 | position`, with
/// positions from 1.
pub const FIELD_POSITION_MAX: u32 = (1 << 24) - 1;

/// Most rows of one tail, deleted ones included: ordinals stay below `i32::MAX`.
pub const TAIL_ROWS_MAX: u32 = i32::MAX as u32 - 1;

/// Most words of a table that one wildcard or regular expression of a SELECT may stand for.
pub const EXPANSION_MAX: usize = 16_384;

/// Bytes of rows that one search may find and keep, unless its [`crate::Control`] says otherwise:
/// some four million rows of a SELECT without LIMIT.
pub const SEARCH_BYTES_MAX: u64 = 256 << 20;

/// Most places of one row at which words and phrases of a query count.
pub const ROW_OCCURRENCES_MAX: usize = language::limits::ROW_OCCURRENCES_MAX;

/// Most shards of one table.
pub const SHARDS_MAX: u16 = 64;

/// Longest text of a condition that is kept ([`crate::Filters`]), in bytes: a list of some two
/// thousand numbers.
pub const FILTER_TEXT_BYTES_MAX: usize = 32 << 10;

/// Bytes of a value from which on its copy is counted before it is made.
pub(crate) const COUNTED_BYTES_MIN: usize = 16 << 10;
