//! The bounds of this crate, each with its unit. An expression or a request beyond a bound is refused, never cut.

/// Most columns of a row, without `id`.
pub const COLUMNS_MAX: usize = u16::MAX as usize;

/// Deepest expression tree. Chains of OR and of AND are balanced, so they count the logarithm of their length.
pub const EXPRESSION_DEPTH_MAX: u32 = 100;

/// Most nodes of an expression. A million two-column keys, `(a = 1 AND b = 2) OR …`, need eight million.
pub const EXPRESSION_NODES_MAX: usize = 10_000_000;

/// Most constants in all IN lists of an expression, including the equalities that OR joins into a list.
pub const IN_VALUES_MAX: usize = 10_000_000;

/// Most constants of a list beside values of several kinds, such as `IFNULL(due, '') IN (…)`, unless all are whole numbers: each kind
/// has a list of its own.
pub const MIXED_LIST_MAX: usize = 65_536;

/// Most memory of what aliases inside the expressions of a SELECT stand for, in bytes: each of a hundred items may use the one
/// before it twice.
pub const ALIASED_BYTES_MAX: usize = 64 << 20;

/// Longest text that a function makes, in bytes; a longer one becomes NULL.
pub const COMPUTED_TEXT_BYTES_MAX: usize = 4 << 20;

/// Most numbers of a polygon, two for each corner: its document is as long as the longest computed text. With more it is NULL.
pub const POLYGON_NUMBERS_MAX: usize = COMPUTED_TEXT_BYTES_MAX / 13;

/// Most memory of the arguments of a function that takes any number of them, in bytes; with more its value is NULL.
pub const ARGUMENTS_BYTES_MAX: usize = 4 * COMPUTED_TEXT_BYTES_MAX;

/// Most units ([`language::meter`]) of all constants of a statement, beside [`CONSTANT_WORK_A_BYTE`]: some 50 ms, since nothing stops
/// them.
pub const CONSTANT_WORK_MAX: usize = 64 << 20;

/// More of them for each byte of the statement.
pub const CONSTANT_WORK_A_BYTE: usize = 32;

/// Longest token of OPTION scroll, in bytes before they are written as digits: it holds the keys of a row.
pub const SCROLL_TOKEN_BYTES_MAX: usize = 16 << 10;

/// Longest format of a date, in bytes: one sign may become 255 bytes.
pub const DATE_FORMAT_BYTES_MAX: usize = 1_024;

/// Longest number that is read from a text, in bytes. What stands behind them is no part of the number.
pub const NUMBER_BYTES_MAX: usize = 16 << 10;

/// Longest text of a date or time, blanks around it aside; a longer one is none.
pub const DATE_TEXT_BYTES_MAX: usize = 1_024;

/// Longest text of LEVENSHTEIN, in characters: its time is the product of both lengths.
pub const LEVENSHTEIN_CHARS_MAX: usize = 1_024;
