//! The options of a queue in CREATE TABLE.

/// The options of one queue. The default has none, and the queue then does what Q4M's does. Meaning of each: docs/queues.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// `visible_again=`: how long a lease lasts where its taker does not say. Microseconds.
    pub visible_again_us: Option<u64>,
    /// `max_deliveries=`: a row that comes back from its delivery of this number goes to the queue `dead`.
    pub max_deliveries: Option<u32>,
    /// `dead=`: the queue of rows that were delivered too often. `None`: such rows are dropped.
    pub dead: Option<String>,
    /// `groups=`: consumer groups, lower case. Each group gets every row. Empty: one lane for all workers.
    pub groups: Vec<String>,
    /// `rows_max=`: the most rows in the backlog.
    pub rows_max: Option<u64>,
    /// `bytes_max=`: the most bytes of rows as stored, in memory and in files, estimated for removed rows.
    pub bytes_max: Option<u64>,
    /// `when_full=`: the answer to an INSERT above one of these bounds.
    pub when_full: WhenFull,
    /// `order_by=`: rows with the same value of this column go out one after the other.
    pub order_by: Option<String>,
    /// `unique_by=`: a row whose value of this column came within `unique_for_us` is passed over.
    pub unique_by: Option<String>,
    /// `unique_for=`: how long a value counts. Microseconds.
    pub unique_for_us: u64,
    /// `deliver_at=`: the column of the time before which a row may not go out. A TIMESTAMP, or a BIGINT of microseconds since
    /// 1970-01-01 UTC. NULL: at once.
    pub deliver_at: Option<String>,
}

/// The answer to an INSERT into a full queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The INSERT is refused: MySQL error 1114, HTTP 429.
    #[default]
    Refuse,
    /// The oldest rows that nobody holds are removed, in the record of the INSERT.
    DropOldest,
}
