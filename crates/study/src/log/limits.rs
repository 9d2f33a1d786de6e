//! Limits of the study. Each bounds memory; the reports say what a limit left out.

/// Bytes of one record: a line, or a statement over several lines. A longer line is counted as too long and skipped.
pub const RECORD_BYTES_MAX: usize = 1 << 20;
/// Bytes of one block that a thread parses.
pub const BLOCK_BYTES: usize = 4 << 20;
/// Threads that parse.
pub const THREADS_MAX: usize = 64;
/// Names of indexes that are told apart. The lines of later names count below `(other indexes)`.
pub const INDEXES_MAX: usize = 16_384;
/// Pairs of server and index with a distribution of their own. Later pairs count below `(other indexes)` of their server.
pub const GROUPS_MAX: usize = 32_768;
/// Bytes of an index list that is shown. A longer one is cut.
pub const INDEX_NAME_BYTES_MAX: usize = 256;
/// Minutes with a count of their own: two years. Later minutes are counted together.
pub const MINUTES_MAX: usize = 1 << 20;
/// Slowest queries that are kept.
pub const SLOWEST_MAX: usize = 1_000;
/// Different messages of errors that are kept. Later ones are counted together.
pub const ERRORS_MAX: usize = 1_000;
/// Unknown lines kept as examples: those with the lowest line numbers.
pub const EXAMPLES_MAX: usize = 20;
/// Bytes of an example, a message or a slow query that are kept.
pub const TEXT_BYTES_MAX: usize = 256;
/// Different queries that are counted exactly.
pub const QUERIES_MAX: usize = 1 << 20;
/// Bytes of the texts of those queries, together.
pub const QUERY_TEXT_BYTES_MAX: usize = 48 << 20;
/// Bytes of a statement in a written line, unless the writer is told another bound.
pub const STATEMENT_BYTES_MAX: usize = 64 << 10;

const _: () = assert!(
    BLOCK_BYTES >= 4 * RECORD_BYTES_MAX,
    "a block holds several of the longest records"
);
const _: () = assert!(
    STATEMENT_BYTES_MAX * 8 <= RECORD_BYTES_MAX,
    "a written line is read back, its escapes included"
);
const _: () = assert!(
    QUERY_TEXT_BYTES_MAX < u32::MAX as usize,
    "offsets of texts are 32-bit"
);
