//! The log in memory: the oracle that tests compare every other log with.

use crate::{Error, Log, Position, RECORD_BYTES_MAX, Result, Status};
use std::collections::VecDeque;

/// A log that keeps its records in memory. Every append succeeds within [`RECORD_BYTES_MAX`], `sync` only moves a number, and
/// `trim` drops every record that it may. Segments, poison and frames are absent.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    records: VecDeque<Vec<u8>>,
    /// The last position that was trimmed: `records[0]` has the next one.
    trimmed: u64,
    synced: Position,
    counts: Status,
}

impl MemoryLog {
    /// An empty log, whose first record will have position 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops every record that is not synced: the worst that a crash may do.
    pub fn lose_unsynced(&mut self) {
        self.records
            .truncate((self.synced.0 - self.trimmed) as usize);
    }

    fn last(&self) -> Position {
        Position(self.trimmed + self.records.len() as u64)
    }
}

impl Log for MemoryLog {
    fn append(&mut self, records: &[&[u8]]) -> Result<Position> {
        if let Some(record) = records
            .iter()
            .find(|record| record.len() > RECORD_BYTES_MAX)
        {
            return Err(Error::RecordTooLarge {
                bytes: record.len(),
            });
        }
        self.records
            .extend(records.iter().map(|record| record.to_vec()));
        self.counts.frame_count += u64::from(!records.is_empty());
        self.counts.record_count += records.len() as u64;
        Ok(self.last())
    }

    fn sync(&mut self) -> Result<Position> {
        self.counts.sync_count += u64::from(self.synced != self.last());
        self.synced = self.last();
        Ok(self.synced)
    }

    fn read(
        &mut self,
        from: Position,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> Result<()> {
        let from = from.max(Position(1));
        if from.0 <= self.trimmed {
            return Err(Error::Trimmed {
                asked: from,
                first: Position(self.trimmed + 1),
            });
        }
        let skipped = (from.0 - self.trimmed - 1) as usize;
        for (position, record) in (from.0..).zip(self.records.iter().skip(skipped)) {
            if !visit(Position(position), record) {
                break;
            }
        }
        Ok(())
    }

    fn trim(&mut self, below: Position) -> Result<()> {
        while self.trimmed + 1 < below.0.min(self.synced.0) {
            self.records.pop_front();
            self.trimmed += 1;
        }
        Ok(())
    }

    fn status(&self) -> Status {
        let bytes = self.records.iter().map(|record| record.len() as u64).sum();
        Status {
            first: Position(self.trimmed + 1),
            last: self.last(),
            synced: self.synced,
            disk_bytes: bytes,
            ..self.counts
        }
    }
}
