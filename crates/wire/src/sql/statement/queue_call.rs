//! Queue functions and CALL QUEUE_NEXT, after parsing.

use relation::request::{SourceMode, WaitSource};

/// A queue function, as the only item of a SELECT without a table.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueCall {
    /// `queue_wait('q' [, 'q:condition' …] [, seconds])`.
    Wait {
        /// Queues and their conditions, highest priority first; at least one.
        sources: Vec<WaitSource>,
        /// Longest wait in microseconds; default 60 s.
        timeout_us: u64,
    },
    /// `queue_end()`.
    End,
    /// `queue_abort()`.
    Abort,
    /// `queue_rowid()`.
    RowId,
    /// `queue_set_srcid(sender, mode, rowid)`.
    SetSource {
        /// Number of the sender, 0 ..= 63.
        sender: u8,
        /// Whether the next INSERT skips a row number that is not new.
        mode: SourceMode,
        /// The row's number at the sender.
        row: u64,
    },
    /// `queue_compact('q')`.
    Compact {
        /// Name of the queue.
        table: String,
    },
    /// `queue_stats('q')`.
    Stats {
        /// Name of the queue.
        table: String,
    },
    /// A call with wrong arguments. Its answer is NULL, with this text as the warning.
    Wrong(String),
}

/// `CALL QUEUE_NEXT`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueNext {
    /// Queues and their conditions, highest priority first; at least one.
    pub sources: Vec<WaitSource>,
    /// Longest wait in microseconds.
    pub timeout_us: u64,
    /// Most rows to take; at least 1.
    pub rows: u32,
    /// A consumer group; `None`: the queue's own rows.
    pub group: Option<String>,
}
