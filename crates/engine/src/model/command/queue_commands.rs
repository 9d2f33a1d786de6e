//! The parts of commands on queues: sources, receipts, taken rows, options, changes of columns.

use relation::schema::ColumnType;
use relation::value::Value;

pub use ::queue::{
    Now, QUEUE_OPTIONS, QueueOptions, QueueStats, RowNumber, SessionId, Slot as QueueSlot, WhenFull,
};
pub use relation::request::{Change, ColumnPlace, SourceMode, WaitSource};

/// Takes up to `rows` rows at once; it waits for the first only.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueNext {
    /// The sources of rows, the highest priority first. All rows of an answer come from one source.
    pub sources: Vec<WaitSource>,
    /// A consumer group of the queues; `None`: the queue's own rows.
    pub group: Option<String>,
    /// Most rows that are taken; above 0.
    pub rows: u32,
    /// Longest wait for the first row, in microseconds; 0: no wait.
    pub timeout_us: u64,
    /// How the rows are held.
    pub hold: Hold,
    /// Deliveries that are ended before rows are taken. With [`Hold::Session`] the row that the session owns is ended too, as by `queue_wait`.
    pub done: Vec<Receipt>,
}

/// How a worker holds the rows that it took, until it ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// By the session, in owner mode, until it ends, aborts or is closed.
    Session,
    /// By the bearer of the receipt, until a time.
    Lease {
        /// From now, in microseconds; `None`: the queue's own time.
        visible_again_us: Option<u64>,
    },
}

/// Who handed a row out. A start of the server counts deliveries from 1 again, and after a power cut it may give row
/// numbers again that were given before; a new table counts its rows from 1. So a receipt names its issuer too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Issuer {
    /// [`crate::Options::incarnation`] of the engine.
    pub incarnation: u64,
    /// Number of the queue's table, from 1; an incarnation never gives a number twice.
    pub table: u32,
}

/// Names one delivery of one row. A receipt whose issuer is not the queue of today is late: it is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Name of the queue.
    pub table: String,
    /// As [`Taken::issuer`] said.
    pub issuer: Issuer,
    /// The consumer group it was delivered to.
    pub group: Option<String>,
    /// The row's number.
    pub row: RowNumber,
    /// Which delivery of the row.
    pub delivery: u32,
}

/// Rows that were taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// The 1-based place of the source that they came from; 0 and no rows: time ran out.
    pub source: u32,
    /// What receipts of the rows bear; the default where there are no rows.
    pub issuer: Issuer,
    /// The queue's columns.
    pub columns: Vec<(String, ColumnType)>,
    /// The rows, in queue order.
    pub rows: Vec<TakenRow>,
}

impl Taken {
    /// Memory of the rows' texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let values = self.rows.iter().flat_map(|row| &row.values);
        let texts = values.filter_map(|value| value.text_bytes());
        texts.map(<[u8]>::len).sum()
    }
}

/// One row that was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenRow {
    /// Number of the row in its queue.
    pub row: RowNumber,
    /// How often it was delivered, this time included.
    pub delivery: u32,
    /// Values of the row, in the order of the queue's columns.
    pub values: Vec<Value>,
}
