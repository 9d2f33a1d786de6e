//! Counts of a table, its tail and its segments.

/// The rows of a table that are in no file yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailStatus {
    /// Rows in memory, deleted ones included, without those of a running job.
    pub rows: u64,
    /// Their memory, in bytes, estimated.
    pub bytes: u64,
}

/// Counts of a table, for SHOW TABLE STATUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Live rows: those that a SELECT finds.
    pub rows_live: u64,
    /// Rows in memory, deleted ones and those of a running job included.
    pub rows_tail: u64,
    /// Their memory, in bytes, estimated.
    pub bytes_tail: u64,
    /// Number of segments.
    pub segments: u64,
    /// Bytes of their files.
    pub bytes_segments: u64,
    /// Deleted rows that are still in segments.
    pub tombstones: u64,
}

/// One segment, as retention sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetainedSegment {
    /// Name of its directory, inside the table's; never used twice.
    pub name: String,
    /// Live rows.
    pub rows_live: u64,
    /// Bytes of its files.
    pub bytes: u64,
    /// Highest value of a column, deleted rows included; `None` for a column that is not all
    /// integers.
    pub newest: Option<i64>,
}

impl TailStatus {
    pub(super) fn and(self, other: TailStatus) -> TailStatus {
        TailStatus {
            rows: self.rows + other.rows,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Status {
    pub(super) fn and(self, other: &Status) -> Status {
        Status {
            rows_live: self.rows_live + other.rows_live,
            rows_tail: self.rows_tail + other.rows_tail,
            bytes_tail: self.bytes_tail + other.bytes_tail,
            segments: self.segments + other.segments,
            bytes_segments: self.bytes_segments + other.bytes_segments,
            tombstones: self.tombstones + other.tombstones,
        }
    }
}
