//! What CREATE TABLE may say of a queue.

/// What a queue does beyond Q4M's; the default is Q4M's queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueOptions {
    /// `visible_again=`: how long a lease lasts, in microseconds.
    pub visible_again_us: Option<u64>,
    /// `max_deliveries=`: a row that comes back after so many goes to the dead.
    pub max_deliveries: Option<u32>,
    /// `dead=`: the queue of rows that were delivered too often; none: they are dropped.
    pub dead: Option<String>,
    /// `groups=`: consumer groups; each gets every row.
    pub groups: Vec<String>,
    /// `rows_max=`.
    pub rows_max: Option<u64>,
    /// `bytes_max=`.
    pub bytes_max: Option<u64>,
    /// `when_full=`.
    pub when_full: WhenFull,
    /// `order_by=`: of rows with one value of this column only one is out at a time.
    pub order_by: Option<String>,
    /// `unique_by=`: rows with one value of this column are taken once.
    pub unique_by: Option<String>,
    /// `unique_for=`: for so long, in microseconds.
    pub unique_for_us: u64,
    /// `deliver_at=`: the column that says from when on a row may go out: a TIMESTAMP, or a BIGINT of microseconds.
    pub deliver_at: Option<String>,
}

/// What an INSERT into a full queue does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It is refused.
    #[default]
    Refuse,
    /// The oldest free rows go.
    DropOldest,
}
