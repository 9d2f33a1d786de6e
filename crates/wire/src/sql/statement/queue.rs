//! What statements ask of queues.

use query::request::{SourceMode, WaitSource};

/// A function of queues, as the one item of a SELECT without a table.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueCall {
    /// `queue_wait('q' [, 'q:condition' …] [, seconds])`.
    Wait {
        /// Where from, by priority; at least one.
        sources: Vec<WaitSource>,
        /// Longest wait in microseconds; 60 s where none is written.
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
        /// 0 to 63.
        sender: u8,
        /// What the next INSERT does with the row's number.
        mode: SourceMode,
        /// The row's number at the sender.
        row: u64,
    },
    /// `queue_compact('q')`.
    Compact {
        /// The queue.
        table: String,
    },
    /// `queue_stats('q')`.
    Stats {
        /// The queue.
        table: String,
    },
    /// Arguments with which it can never be done: the answer is NULL, and this is the warning.
    Wrong(String),
}

/// `CALL QUEUE_NEXT`.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueNext {
    /// Where from, by priority; at least one.
    pub sources: Vec<WaitSource>,
    /// Longest wait in microseconds.
    pub timeout_us: u64,
    /// At most so many rows; at least 1.
    pub rows: u32,
    /// A consumer group; `None`: the queue's own rows.
    pub group: Option<String>,
}
