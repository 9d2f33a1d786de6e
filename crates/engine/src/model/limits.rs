//! Every bound of the engine, with its unit. What exceeds one is refused before anything changes.

pub use queue::limits::DUE_ROWS_MAX;
use queue::limits::IDLE_LINES_MAX;

/// Commands that may wait for the engine's thread. Beyond: [`crate::Error::Overloaded`].
pub const MAILBOX_COMMANDS_MAX: usize = 65_536;
/// Bytes of commands that may wait; one command larger than that is taken into an empty mailbox all the same.
pub const MAILBOX_BYTES_MAX: usize = 256 << 20;
/// Commands taken at once: one frame of the journal, one sync.
pub const BATCH_COMMANDS_MAX: usize = 1024;
/// Bytes of commands taken at once, the first large one apart: the next command waits for that long.
pub const BATCH_BYTES_MAX: usize = 1 << 20;
/// Bytes of a small command: those pass large ones of other sessions.
pub const SMALL_COMMAND_BYTES_MAX: usize = 64 << 10;
/// Of `memory_bytes`, the part that only statements whose rows take no more bytes than a small command begin to use: one divided by
/// this.
pub const SMALL_SHARE_OF_MEMORY: u64 = 16;
/// Bytes of a command that its bringer's thread may do itself.
pub const LED_COMMAND_BYTES_MAX: usize = 4 << 10;
/// Bytes of the name and the value of one cursor of the collector.
pub const CURSOR_BYTES_MAX: u64 = 64 << 10;
/// Bytes of the names and values of all cursors of the collector.
pub const CURSORS_BYTES_MAX: u64 = 64 << 20;
/// Tables of all kinds.
pub const TABLES_MAX: usize = 4096;
/// Search tables that one pq table listens to.
pub const ON_MAX: usize = 64;
/// Local tables of one distributed table.
pub const LOCALS_MAX: usize = 64;
/// Documents of one piece of a backfill: what the engine's thread does in one go, in some milliseconds.
pub const BACKFILL_DOCUMENTS_MAX: usize = 256;
/// Bytes of an INSERT from which on its session converts and analyses the rows, instead of the engine's thread.
pub const MADE_BYTES_MIN: usize = SMALL_COMMAND_BYTES_MAX;
/// Rows of an INSERT from which on it is so, however short they are.
pub const MADE_ROWS_MIN: usize = 256;
/// Buffers for the words of documents that the engine keeps from statement to statement.
pub const WORDS_KEPT_MAX: usize = 64;
/// Bytes of such a buffer; a larger one is not kept.
pub const WORDS_BYTES_KEPT_MAX: usize = 64 << 10;
/// Columns of one table.
pub const COLUMNS_MAX: usize = 256;
/// Bytes of a table's or column's name.
pub const NAME_BYTES_MAX: usize = 64;
/// Bytes of one row of a queue, as stored.
pub const QUEUE_ROW_BYTES_MAX: usize = 128 << 20;
/// Bytes of the defaults of all columns of a table: each row may have them.
pub const DEFAULTS_BYTES_MAX: usize = 64 << 10;
/// Memory of a SELECT on a pq table or queue that the engine's thread answers where there is no other thread.
pub const ANSWER_BYTES_MAX: u64 = 256 << 20;
/// Memory of a SELECT on a queue that the engine's thread answers; what takes more the reader does.
pub const ANSWER_BYTES_HERE_MAX: u64 = 1 << 20;
/// Rows of a queue that one DELETE removes: their numbers are one record.
pub const DELETED_ROWS_MAX: usize = 1 << 24;
/// Rows of one UPDATE: they and their values are one record.
pub const UPDATED_ROWS_MAX: usize = 1 << 24;
/// Rows of one UPDATE of a table whose standing queries hear it: the engine's thread reads, analyses and matches each.
pub const HEARD_ROWS_MAX: usize = 10_000;
/// Rows that were changed since a DELETE or UPDATE was planned, and that the engine's thread looks at again. With more, the
/// statement is planned again.
pub const MOVED_ROWS_MAX: usize = 4_096;
/// The same, where an expression of the statement may take long over one row.
pub const MOVED_COSTLY_ROWS_MAX: usize = 16;
/// Rows that were changed since a plan, and that the next plan looks at alone. With more, it looks at the whole table.
pub const REPLANNED_ROWS_MAX: usize = 262_144;
/// Changes of rows that a table keeps by id while a statement on it is planned: 8 MiB.
pub const RECENT_IDS_MAX: usize = 1 << 20;
/// How often a DELETE or UPDATE is planned, and a COMMIT rehearsed, before it is refused: [`crate::Error::Conflict`].
pub const PLANS_MAX: u32 = 8;
/// Rows that the plan of a DELETE with LIMIT chooses beyond it, in case that others take some of the first.
pub const SPARE_ROWS: u64 = 64;
/// Ids named by a condition that the engine's thread looks up without a plan.
pub const NAMED_IDS_MAX: usize = 1_000;
/// Units of work that the engine's thread spends on the condition of one statement; a unit is about a nanosecond. What takes more
/// is planned on a reader's thread.
pub const DECIDED_UNITS_MAX: u64 = 2_000_000;
/// The same, of all statements of one batch.
pub const TURN_UNITS_MAX: u64 = 10_000_000;
/// The same, of all statements of a transaction at its COMMIT: enough for [`TRANSACTION_STATEMENTS_MAX`] of one row each. With more
/// the COMMIT is rehearsed.
pub const COMMIT_UNITS_MAX: u64 = 64_000_000;
/// Memory that a text takes at most while its row is made, for each byte: values, row, and words of one letter.
pub const ANALYSED_FACTOR: usize = 10;
/// Units that the engine's thread spends on making the rows of an INSERT, where its session had no memory for them. With more the
/// INSERT is refused: [`crate::Error::Overloaded`].
pub const MADE_UNITS_MAX: u64 = 20_000_000;
/// Units of finding one row by its id, and of reading a row of a queue beside its bytes.
pub const ROW_UNITS: u64 = 500;
/// Bytes of a value that are read for one unit.
pub const BYTES_A_UNIT: u64 = 8;
/// Rows of a queue that the engine's thread looks at for a SELECT; where there are more, the reader does.
pub const SCANNED_ROWS_MAX: u64 = 1_000;
/// Bytes of one record. The journal takes no larger one.
pub const RECORD_BYTES_MAX: usize = 256 << 20;
/// Units that conditions of `queue_wait` and `QUEUE_NEXT` may spend in a turn; their searches go on in the next.
pub const CONDITION_UNITS_MAX: u64 = 5_000_000;
/// Commands in one [`crate::Command::Many`].
pub const MANY_COMMANDS_MAX: usize = 100_000;
/// Statements that one transaction keeps until COMMIT.
pub const TRANSACTION_STATEMENTS_MAX: usize = MANY_COMMANDS_MAX;
/// Memory of the rows that one transaction keeps until COMMIT, in bytes.
pub const TRANSACTION_BYTES_MAX: u64 = 64 << 20;
/// Share of `memory_bytes` that all open transactions may take: an eighth.
pub const TRANSACTIONS_SHARE_OF_MEMORY: u64 = 8;
/// Longest time from a transaction's first statement to its COMMIT, in microseconds: five minutes.
pub const TRANSACTION_US_MAX: u64 = 300_000_000;
/// INSERTs of a transaction that are not in its own view of the tables yet. One more puts them there.
pub const WAITING_STATEMENTS_MAX: usize = 1_000;
/// Memory of the rows of those statements, in bytes.
pub const WAITING_BYTES_MAX: u64 = 1 << 20;
/// Statements of a transaction that the engine carries out again for a later one on a queue or a table of standing queries.
pub const REPLAYED_STATEMENTS_MAX: usize = 1_000;
/// Memory of the rows of those statements, in bytes.
pub const REPLAYED_BYTES_MAX: u64 = 1 << 20;
/// Rows of queues whose ends one transaction keeps.
pub const TRANSACTION_ENDS_MAX: usize = RECEIPTS_MAX;
/// Rows of an INSERT whose ids its answer lists; of one with more rows a client is told the last.
pub const INSERTED_IDS_MAX: usize = 1000;
/// Tables in one DROP TABLE.
pub const DROPPED_TABLES_MAX: usize = 256;
/// Renames in one RENAME TABLE.
pub const RENAMED_TABLES_MAX: usize = 256;
/// Loads that were begun and are not over, of all tables. Another one is refused.
pub const LOADS_MAX: usize = 256;
/// Longest `queue_wait`, in microseconds: a year.
pub const WAIT_US_MAX: u64 = 31_536_000_000_000;
/// ALTERs of a queue while it holds rows from before the first of them.
pub const LAYOUTS_MAX: usize = 256;
/// How long a lease lasts where neither the taker nor the queue says so, in microseconds.
pub const LEASE_US: u64 = 30_000_000;
/// Keys that a queue with `unique_by=` remembers.
pub const UNIQUE_KEYS_MAX: usize = 1_000_000;
/// Consumer groups of one queue.
pub const GROUPS_MAX: usize = 64;
/// Receipts of one command.
pub const RECEIPTS_MAX: usize = 100_000;
/// Queues of one wait.
pub const WAIT_SOURCES_MAX: usize = 64;
/// Rows taken at once.
pub const TAKEN_ROWS_MAX: u32 = 10_000;
/// Bytes of rows taken at once; one larger row goes alone.
pub const TAKEN_BYTES_MAX: u64 = 1 << 20;
/// Room held back so that a manifest can be written on a full disk, in bytes: what it then no longer names is room again.
pub const SPARE_BYTES: usize = 1 << 20;
/// Longest address of a webhook, in bytes.
pub const URL_BYTES_MAX: usize = 2048;

/// Room in the journal held back for deletes and ends of rows on a full disk, in bytes.
pub const RESERVE_BYTES: u64 = 8 << 20;

const _: () = assert!(
    BATCH_BYTES_MAX < MAILBOX_BYTES_MAX,
    "a full batch fits into the mailbox"
);
const _: () = assert!(
    QUEUE_ROW_BYTES_MAX < RECORD_BYTES_MAX,
    "a record holds the largest row"
);
const _: () = assert!(BATCH_COMMANDS_MAX < MAILBOX_COMMANDS_MAX);
const _: () = assert!(
    WAIT_SOURCES_MAX < IDLE_LINES_MAX,
    "a wait drops no line of its own"
);
const _: () = assert!(
    NAMED_IDS_MAX as u64 * ROW_UNITS < DECIDED_UNITS_MAX && DECIDED_UNITS_MAX < TURN_UNITS_MAX,
    "a statement that names few ids is decided at once, and leaves units to others"
);
