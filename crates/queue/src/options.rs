//! The options of a queue in CREATE TABLE: a field and a row of [`QUEUE_OPTIONS`] for each.
//!
//! What reads, writes and checks options goes through the rows, by the form of their values.

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
    pub unique_for_us: Option<u64>,
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

/// Where the value of an option is, by the form in which it is written. Unset is `None`, empty, or the default.
#[derive(Debug)]
pub enum Slot<'o> {
    /// A time with its unit; in microseconds, at least 1.
    Time(&'o mut Option<u64>),
    /// A whole number, at least 1.
    Count(&'o mut Option<u32>),
    /// A whole number, at least 1.
    Number(&'o mut Option<u64>),
    /// A size, with a unit or in bytes, at least 1.
    Size(&'o mut Option<u64>),
    /// The name of a column of the queue.
    Column(&'o mut Option<String>),
    /// The name of another queue.
    Queue(&'o mut Option<String>),
    /// Names with commas between them.
    Names(&'o mut Vec<String>),
    /// `refuse` or `drop_oldest`.
    WhenFull(&'o mut WhenFull),
}

/// An option: its name in CREATE TABLE and the place of its value.
pub type QueueOption = (&'static str, fn(&mut QueueOptions) -> Slot<'_>);

/// Each option, in the order of SHOW CREATE TABLE.
pub const QUEUE_OPTIONS: [QueueOption; 11] = [
    ("visible_again", |of| Slot::Time(&mut of.visible_again_us)),
    ("max_deliveries", |of| Slot::Count(&mut of.max_deliveries)),
    ("dead", |of| Slot::Queue(&mut of.dead)),
    ("groups", |of| Slot::Names(&mut of.groups)),
    ("rows_max", |of| Slot::Number(&mut of.rows_max)),
    ("bytes_max", |of| Slot::Size(&mut of.bytes_max)),
    ("when_full", |of| Slot::WhenFull(&mut of.when_full)),
    ("order_by", |of| Slot::Column(&mut of.order_by)),
    ("unique_by", |of| Slot::Column(&mut of.unique_by)),
    ("unique_for", |of| Slot::Time(&mut of.unique_for_us)),
    ("deliver_at", |of| Slot::Column(&mut of.deliver_at)),
];

impl QueueOptions {
    /// The place of an option's value, by its name; `None`: no option has this name.
    pub fn slot(&mut self, name: &str) -> Option<Slot<'_>> {
        let (_, slot) = QUEUE_OPTIONS.iter().find(|(own, _)| *own == name)?;
        Some(slot(self))
    }

    /// The columns that options name, each with the option's name.
    pub fn columns(&mut self) -> impl Iterator<Item = (&'static str, String)> {
        let each = QUEUE_OPTIONS.iter();
        each.filter_map(|(name, slot)| match slot(self) {
            Slot::Column(column) => Some((*name, column.clone()?)),
            Slot::Time(_)
            | Slot::Count(_)
            | Slot::Number(_)
            | Slot::Size(_)
            | Slot::Queue(_)
            | Slot::Names(_)
            | Slot::WhenFull(_) => None,
        })
    }
}

impl WhenFull {
    /// Each answer with its name.
    pub const NAMES: [(WhenFull, &str); 2] = [
        (WhenFull::Refuse, "refuse"),
        (WhenFull::DropOldest, "drop_oldest"),
    ];
}
