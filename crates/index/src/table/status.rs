//! What a table says of itself.

/// The part of a table that is not in files yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailStatus {
    /// Rows held in memory, deleted ones included, those of a running job not.
    pub rows: u64,
    /// Memory they take, roughly.
    pub bytes: u64,
}

/// Counts of a table, for SHOW TABLE STATUS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Rows that a SELECT finds.
    pub rows_live: u64,
    /// Rows held in memory, deleted ones and those of a running job included.
    pub rows_tail: u64,
    /// Memory they take, roughly.
    pub bytes_tail: u64,
    /// Segments.
    pub segments: u64,
    /// Their bytes in files.
    pub bytes_segments: u64,
    /// Deleted rows that segments still hold.
    pub tombstones: u64,
}

/// One segment, for retention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its directory in the table's; never used twice.
    pub name: String,
    /// Rows that a SELECT finds.
    pub rows_live: u64,
    /// Its bytes in files.
    pub bytes: u64,
    /// The highest value of a column, deleted rows included; `None` for a column that is not all integers.
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
