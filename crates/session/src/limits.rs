//! Every bound of sessions and their statements, with its unit. Bounds of packets and statements are `wire::limits`.

use std::time::Duration;

/// Reserved places of each door, beside `connections_max`: for health checks and for the server's owner.
pub const RESERVED_PLACES: usize = 8;

/// Most bytes of an HTTP reply to SQL or a search. The reply is built whole before it is sent.
pub const REPLY_BYTES_MAX: usize = 256 << 20;

/// Longest text that is highlighted, in bytes. Finding the marks costs the square of its words at worst.
pub const HIGHLIGHT_TEXT_BYTES_MAX: usize = 64 << 10;

/// Bytes of each grant that the budget does not count. A request has one grant each for packet, statement, rows and answer.
pub const GRANT_FREE_BYTES: usize = 64 << 10;

/// Bytes that a growing grant takes from the budget at a time, while they are free.
pub const GRANT_STEP_BYTES: usize = 256 << 10;

/// Longest time that a request waits for memory that other requests hold.
pub const BUDGET_WAIT: Duration = Duration::from_secs(5);

/// Requests together may hold `memory` divided by this.
pub const REQUEST_SHARE_OF_MEMORY: u64 = 4;

/// Memory that a statement gets at first for each byte of its text. Short constants and small rows need that much.
pub const PARSED_FACTOR: usize = 12;

/// Longest text that gets [`PARSED_FACTOR`] at first, in bytes. A longer one would block others by memory that it seldom needs.
pub const PARSED_FACTOR_BYTES_MAX: usize = 1 << 20;

/// Memory that a longer statement gets at first for each byte of its text. Rows of long texts need no more.
pub const PARSED_FACTOR_LONG: usize = 2;

/// A statement that needs more than it got is parsed again with this many times the memory.
pub const PARSED_GROWTH: usize = 4;

/// Cached results of conditions on attributes may take `memory` divided by this.
pub const FILTER_SHARE_OF_MEMORY: u64 = 32;

/// Most rows that a statement finds and drops on the event loop. More are handled off it.
pub const ROWS_INLINE_MAX: u64 = 1_000;

/// Most expressions of rows that are evaluated on the event loop: one for each row of a SELECT without LIMIT.
pub const EVALUATED_INLINE_MAX: usize = 20;

/// Cost units, of about a nanosecond each, that a statement may use on a thread that serves sockets. Beyond them it begins anew in a
/// turn of the scheduler.
pub const INLINE_UNITS: u64 = 400_000;

/// Time that a turn runs, in microseconds, before another turn that waits may take its place.
pub const SLICE_US: u64 = 10_000;

/// Time that a turn runs, in microseconds, before it is asked to give way to a user that has none and has used less.
pub const SLICE_US_MIN: u64 = 1_000;

/// Time, in microseconds, that a user without turns may have used less than those with turns, as it comes again.
pub const CREDIT_US: u64 = 2 * SLICE_US;

/// Users without turns whose used time is remembered.
pub const GONE_USERS_MAX: usize = 1_000;

/// Time that a turn runs in all, in microseconds, before turns of its own user may take its place. Statements up to that long are
/// done one after the other: 32 joins of 50 ms each held their memory at once, and the pages and caches took 15 % of the time.
pub const YOUNG_US: u64 = 100_000;

/// Time between two looks of a turn that gave way, and of a statement that waits for memory, whether it was stopped.
pub const STOPPED_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Most threads of long work: those that run a turn, and those whose turn gave way and waits.
pub const LONG_THREADS_MAX: usize = 512;

/// Most threads of long work that are kept while they have none.
pub const LONG_THREADS_IDLE_MAX: usize = 8;

/// Longest MATCH text that is compiled on the event loop, in bytes.
pub const MATCH_INLINE_BYTES: usize = 1 << 10;

/// Longest statement that is parsed on the event loop, in bytes.
pub const PARSE_INLINE_BYTES: usize = 16 << 10;

/// Most columns that a SELECT shows of a sub-select.
pub const SHOWN_COLUMNS_MAX: usize = 4_096;

/// Most variables that one session may SET, lists among them.
pub const SESSION_VARIABLES_MAX: usize = 256;

/// Most lists that SET GLOBAL may make.
pub const SHARED_LISTS_MAX: usize = 1_024;

/// Memory that a statement takes for each number in a list of a variable: that of its prepared set.
pub const LISTED_NUMBER_BYTES: usize = 5 * size_of::<i64>();

/// Most bytes of a session variable's value.
pub const SESSION_VARIABLE_BYTES_MAX: usize = 4 << 10;

/// Most bytes of a user, database or variable name that a session keeps.
pub const SESSION_NAME_BYTES_MAX: usize = 256;

/// Most warnings of one statement, for SHOW WARNINGS. More are dropped.
pub const WARNINGS_MAX: usize = 64;

/// Most characters of a warning. The rest is cut.
pub const WARNING_CHARS_MAX: usize = 1_024;

/// Most query words, or queries of a CALL PQ, in SHOW META. It is Sphinx's limit of words in a query.
pub const META_KEYWORDS_MAX: usize = 256;

/// Time between two looks of the watcher at the running searches: the precision of `max_query_time`.
pub const SEARCH_LOOK_EVERY: Duration = Duration::from_millis(10);

/// Looks in a row without a search after which the watcher sleeps: 2 s.
pub const SEARCH_LOOKS_IDLE: u32 = 200;

/// Microseconds that a search runs before the watcher checks whether its client is gone.
pub const SEARCH_CLIENT_AFTER_US: u64 = 50_000;

/// Most bytes of a statement in a line of the query log, and of each other text of it. The line says how long the statement was.
pub const LOGGED_TEXT_BYTES_MAX: usize = 16 << 10;

/// Most bytes of the entries of the query log that wait for its writer; one beyond is counted as lost. Some 80,000 look-ups.
pub const LOGGED_WAITING_BYTES_MAX: usize = 16 << 20;
/// Bytes of waiting entries that wake the writer up before its time. It is seldom: to wake it costs as much as a hundred entries.
pub const LOGGED_WAKING_BYTES: usize = 4 << 20;
/// Bytes of entries that are one block.
pub const LOGGED_BLOCK_BYTES: usize = 256 << 10;
/// Empty blocks that are kept for the next entries.
pub const LOGGED_SPARE_MAX: usize = LOGGED_WAKING_BYTES / LOGGED_BLOCK_BYTES;

/// Entries of the query log that `SHOW SLOW QUERIES` knows.
pub const LOGGED_LAST_MAX: usize = 1_000;
/// Most bytes of them.
pub const LOGGED_LAST_BYTES_MAX: usize = 4 << 20;

/// Most bytes of a statement that SHOW THREADS shows.
pub const SHOWN_STATEMENT_BYTES: usize = 1 << 10;

/// Most bytes of values of one INSERT … SELECT; one larger row goes alone. The rows are one record, and other writes wait while
/// it is decided and applied.
pub const INSERT_SELECT_BYTES_MAX: usize = 8 << 20;

/// Most rows of one INSERT … SELECT, for the same reason.
pub const INSERT_SELECT_ROWS_MAX: usize = 50_000;

/// Most bytes of values of a SELECT whose rows go into a temporary table: those of the longest statement.
pub const TEMPORARY_SELECT_BYTES_MAX: usize = 128 << 20;

/// Most rows of a SELECT whose rows go into a temporary table.
pub const TEMPORARY_SELECT_ROWS_MAX: usize = 4_000_000;

/// Most temporary tables of one connection.
pub const TEMPORARY_TABLES_MAX: usize = 64;

/// The temporary tables of all connections may take the memory of requests divided by this.
pub const TABLES_SHARE_OF_REQUESTS: u64 = 2;

/// Longest turn of the engine before `/readyz` answers `stuck`.
pub const STUCK_AFTER: Duration = Duration::from_secs(10);

const _: () = assert!(PARSE_INLINE_BYTES < GRANT_FREE_BYTES);
