//! The frame of a batch: its records are encoded one behind the other and appended to the journal in one write.
//!
//! [`Engine::admit`] finds room for a record before the record is applied. While the journal has room for sure, the record waits
//! in the frame. Else the record is appended at once, in a frame of its own, and a full disk refuses it with nothing changed.

use super::{Engine, Journal};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::RECORD_BYTES_MAX;
use crate::record::Record;
use crate::sync_mode::SyncMode;

/// Bytes of a frame's header and padding, and bytes of each record's header. Both are upper bounds.
const FRAME_OVERHEAD_BYTES: u64 = 16 << 10;
const RECORD_OVERHEAD_BYTES: u64 = 32;
/// Capacity of the frame's buffer that stays from batch to batch. Bytes.
const FRAME_BYTES_KEPT: usize = 16 << 20;

/// The records of the batch that are not appended yet, one after the other.
#[derive(Default)]
pub(super) struct Frame {
    pub(super) bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Engine {
    /// Takes a record into the batch's frame, and gives its position. Where the journal may have no room left, the
    /// record is appended at once, before it is applied, so that a full disk refuses it with nothing changed.
    pub(super) fn admit(&mut self, record: &Record, gives_room: bool) -> Result<u64> {
        let mode = self.sync_mode(record);
        self.admit_with(record, gives_room, mode)
    }

    /// As [`Engine::admit`], with the sync mode of the reply.
    pub(super) fn admit_with(
        &mut self,
        record: &Record,
        gives_room: bool,
        mode: SyncMode,
    ) -> Result<u64> {
        let start = self.frame.bytes.len();
        record.encode(&mut self.frame.bytes);
        let bytes = self.frame.bytes.len() - start;
        if bytes > RECORD_BYTES_MAX {
            self.frame.bytes.truncate(start);
            return Err(Error::Limit {
                what: "bytes of a statement",
                max: RECORD_BYTES_MAX as u64,
            });
        }
        self.frame.ends.push(self.frame.bytes.len());
        if !self.has_room() {
            self.append_alone(start, gives_room)?;
        }
        self.journal_full &= gives_room; // a write that was taken says that there is room
        self.note_sync(record, mode);
        self.status.records_total += 1;
        self.status.record_bytes_total += bytes as u64;
        Ok(self.state.position + 1)
    }

    /// Whether the frame as it is now surely fits. A frame is written into one segment, so of the room in the current
    /// and the prepared one the larger half counts.
    pub(super) fn has_room(&self) -> bool {
        let Some(log) = self.journal.local() else {
            return true;
        };
        let room = log.room_bytes().saturating_sub(self.reserve_bytes());
        let records = self.frame.ends.len() as u64 * RECORD_OVERHEAD_BYTES;
        self.frame.bytes.len() as u64 + records + FRAME_OVERHEAD_BYTES <= room / 2
    }

    fn append_alone(&mut self, start: usize, gives_room: bool) -> Result<()> {
        let record = self.frame.bytes.split_off(start);
        self.frame.ends.pop();
        self.append_frame()?;
        let appended = match &mut self.journal {
            Journal::Local(log) if gives_room => log.append_reserved(&[&record]),
            journal => journal.log_mut().append(&[&record]),
        };
        let appended = appended.map_err(failure::of_journal);
        self.journal_full |= appended == Err(Error::DiskFull);
        appended?;
        self.unsynced.records += 1;
        Ok(())
    }

    /// Appends what the frame holds; it was admitted, so a refusal ends the engine.
    pub(super) fn append_frame(&mut self) -> Result<()> {
        if self.frame.ends.is_empty() {
            return Ok(());
        }
        let Frame { bytes, ends } = &mut self.frame;
        self.shared.work.batch_bytes.add(bytes.len() as u64);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let records: Vec<&[u8]> = starts
            .zip(ends.iter().copied())
            .filter_map(|(start, end)| bytes.get(start..end))
            .collect();
        let last = self.journal.log_mut().append(&records);
        let last = last.map_err(|error| Error::Poisoned {
            why: error.to_string(),
        })?;
        self.unsynced.records += ends.len() as u64;
        bytes.clear();
        bytes.shrink_to(FRAME_BYTES_KEPT);
        ends.clear();
        assert_eq!(
            last.0, self.state.position,
            "records are applied at the positions they are appended at"
        );
        Ok(())
    }
}
