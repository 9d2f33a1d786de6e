//! What this crate refuses, and at which size.

/// Words of one field of one document. A word's place is stored as `field << 24 | position` (positions count from 1).
pub const FIELD_POSITION_MAX: u32 = (1 << 24) - 1;

/// Rows held in one tail, dead ones included: their numbers stay below `i32::MAX`.
pub const TAIL_ROWS_MAX: u32 = i32::MAX as u32 - 1;

/// Most words of a table that one wildcard or regular expression of a SELECT may stand for.
pub const EXPANSION_MAX: usize = 16_384;

/// Memory of the rows that one search has found and keeps, in bytes, unless its [`crate::Control`] says otherwise: some four
/// million rows of a SELECT without LIMIT.
pub const SEARCH_BYTES_MAX: u64 = 256 << 20;

/// Most shards of one table.
pub const SHARDS_MAX: u16 = 64;

/// Longest text of a condition on attributes whose answers are kept ([`crate::Filters`]), in bytes: a list of some two thousand
/// numbers.
pub const FILTER_TEXT_BYTES_MAX: usize = 32 << 10;
