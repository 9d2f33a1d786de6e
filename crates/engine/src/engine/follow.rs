//! Following a log that another engine writes. The follower applies each record as the writer did, publishes snapshots, and keeps
//! files of its own.
//!
//! Example: the writer has appended records 1 to 12 and synced up to 10; the follower has applied 7. Its next turn reads 8 to 10
//! and stops there: a power cut may still take 11 and 12 from the writer, and other records would get their positions.
//!
//! A follower decides nothing: leases do not end, rows do not expire and commands that write are refused, since each of these
//! would be a record. At equal positions both engines hold equal rows. Their segments and files may differ.

use journal::Position;

use super::Engine;
use crate::error::{Error, Result};
use crate::failure;
use crate::record::Record;
use crate::state::Prepared;

/// Bytes of records after which a turn ends, so that readers see how far it is: some milliseconds of work.
const TURN_BYTES: usize = 8 << 20;

impl Engine {
    /// Applies what the log's writer has synced since the last turn, or the first [`TURN_BYTES`] of it.
    ///
    /// # Errors
    /// Those of reading. `Poisoned` where a record cannot be applied.
    pub(super) fn follow(&mut self) -> Result<()> {
        let log = self.journal.log_mut();
        let synced = log.status().synced;
        let from = Position(self.state.position).next();
        let (mut records, mut bytes_read) = (Vec::new(), 0);
        if from <= synced {
            let read = log.read(from, &mut |position, bytes| {
                records.push((position, Record::decode(bytes)));
                bytes_read += bytes.len();
                position < synced && bytes_read < TURN_BYTES
            });
            read.map_err(failure::of_journal)?;
        }
        for (position, record) in records {
            let record = record.map_err(|damage| Error::Poisoned {
                why: format!("record {position}: expected {}", damage.why),
            })?;
            self.status.records_total += 1;
            self.apply(&record, position.0, Prepared::default())?;
        }
        Ok(())
    }
}
