//! Every bound of sessions and their statements, with its unit. Bounds of packets and statements are `wire::limits`.

use std::time::Duration;

/// Places of each door beside `connections_max`: for health checks and for the server's owner.
pub const RESERVED_PLACES: usize = 8;

/// Most bytes of an HTTP reply to SQL or a search, which is made whole before it is sent.
pub const REPLY_BYTES_MAX: usize = 256 << 20;

/// Longest text that is highlighted, in bytes: finding what matched costs the square of its words at worst.
pub const HIGHLIGHT_TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of a request that are not counted, of each kind: packet, statement, rows found, answer.
pub const GRANT_FREE_BYTES: usize = 64 << 10;

/// Least that a request takes of the budget where it grows piece by piece, in bytes.
pub const GRANT_STEP_BYTES: usize = 256 << 10;

/// Time that a request waits for memory that others hold.
pub const BUDGET_WAIT: Duration = Duration::from_secs(5);

/// The part of `memory` that requests may hold together is one divided by this.
pub const REQUEST_SHARE_OF_MEMORY: u64 = 4;

/// Memory that a statement gets at first for each byte of its text. Constants and small rows become that much.
pub const PARSED_FACTOR: usize = 12;

/// Longest text that gets so much at first, in bytes. A longer one would keep others waiting for memory that it seldom needs.
pub const PARSED_FACTOR_BYTES_MAX: usize = 1 << 20;

/// Memory that a longer statement gets at first for each byte of its text: rows of long texts become no more.
pub const PARSED_FACTOR_LONG: usize = 2;

/// A statement that becomes more is read again with so many times the memory.
pub const PARSED_GROWTH: usize = 4;

/// The part of `memory` for what conditions on attributes say of pages of segments is one divided by this.
pub const FILTER_SHARE_OF_MEMORY: u64 = 32;

/// Rows that are gathered on the event loop; more are sorted, and dropped, off it.
pub const ROWS_INLINE_MAX: u64 = 1_000;

/// Time that a statement with many rows waits for its turn.
pub const TURN_WAIT: Duration = Duration::from_secs(1);

/// Queries of MATCH longer than this are made ready off the event loop.
pub const MATCH_INLINE_BYTES: usize = 1 << 10;

/// Statements longer than this are parsed off the event loop.
pub const PARSE_INLINE_BYTES: usize = 16 << 10;

/// Most variables that one session may SET.
pub const SESSION_VARIABLES_MAX: usize = 256;

/// Most bytes of one such variable.
pub const SESSION_VARIABLE_BYTES_MAX: usize = 4 << 10;

/// Most bytes of a name that a session keeps: of a user, a database, a variable.
pub const SESSION_NAME_BYTES_MAX: usize = 256;

/// Most warnings kept for SHOW WARNINGS.
pub const WARNINGS_MAX: usize = 64;

/// Most characters kept of one of them.
pub const WARNING_CHARS_MAX: usize = 1_024;

/// Most words, or queries of a CALL PQ, whose numbers SHOW META gives; as many as a query of Sphinx may have words.
pub const META_KEYWORDS_MAX: usize = 256;

/// Time between two looks at the searches that run: how exact `max_query_time` is.
pub const SEARCH_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Looks in a row that found no search before there are no more until one begins: 2 s.
pub const SEARCH_LOOKS_IDLE: u32 = 200;

/// Microseconds that a search runs before it is asked whether its client is still there.
pub const SEARCH_CLIENT_AFTER_US: u64 = 50_000;

/// Bytes of a statement that SHOW THREADS shows.
pub const SHOWN_STATEMENT_BYTES: usize = 1 << 10;

/// A turn of the engine's thread that lasts longer makes `/readyz` say so.
pub const STUCK_AFTER: Duration = Duration::from_secs(10);

const _: () = assert!(PARSE_INLINE_BYTES < GRANT_FREE_BYTES);
