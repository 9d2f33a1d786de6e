//! An ordered, checksummed, group-committed log of opaque records.
//!
//! Limits: a record of at most [`RECORD_BYTES_MAX`], a frame (one call of `append`) of at most [`FRAME_BYTES_MAX`].
//! One writer, one directory; the caller holds the lock of the data directory around it.
//! The bytes on disk are described in `docs/formats/journal.md`.
//!
//! What the callers rely on:
//! - **append** gives the records their positions and hands them to the system; **sync** makes all of them durable.
//!   Nothing may be promised to anyone before that sync has returned.
//! - After a crash the journal holds a prefix of what was appended, and that prefix includes everything synced.
//!   Where that cannot be so the journal refuses to open and names the file and the offset.
//! - A failed sync, or a failed write that is not a full disk, poisons the journal: it takes nothing any more, and the
//!   process has to end, because nobody knows what the device holds until it is read again.
//! - A full disk is no such failure: see [`LocalLog::append_reserved`].
//!
//! [`Log`] is what an engine needs of a journal wherever it is kept; [`LocalLog`] is one in files of this machine, [`FileJournal`].

mod begin;
mod error;
mod file;
mod frame;
mod limits;
mod memory;
mod prepare;
mod recover;
mod segment;
mod survey;

pub use begin::begin_after;
pub use error::{Error, Result};
pub use file::{FileJournal, JournalOptions};
pub use limits::{FRAME_BYTES_MAX, RECORD_BYTES_MAX};
pub use memory::MemoryLog;
pub use prepare::Preparation;
pub use recover::Recovered;
pub use survey::{Damage, Survey, Surveyed, Torn, survey};

use std::fmt;

/// A record's number in the journal. Dense, from 1 up, never used twice; 0 means "before the first record".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl Position {
    /// The position after this one.
    #[must_use]
    pub fn next(self) -> Position {
        Position(self.0 + 1)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The log. One owner; every call may block on the device.
pub trait Log: Send {
    /// Appends the records, in order, as one frame: after a crash all of them are there or none. Returns the position of
    /// the last one (that of the journal's last record where `records` is empty). Accepted, not yet durable.
    ///
    /// Errors: `Full` (nothing was taken, the journal stays usable), `RecordTooLarge`, `FrameTooLarge` (nothing was
    /// taken), `Poisoned`. Cost: one copy of the bytes and one write.
    fn append(&mut self, records: &[&[u8]]) -> Result<Position>;

    /// Makes everything appended so far durable and returns the last position that is. Cost: one `fdatasync`, none
    /// where nothing was appended since. Error: `Poisoned`, after which the caller ends the process.
    fn sync(&mut self) -> Result<Position>;

    /// Visits the records from `from` (inclusive; 0 as 1) upward, those not yet synced included, until `visit` returns
    /// false. A `from` above the last record visits nothing. Each record's checksum is verified before it is shown.
    ///
    /// Errors: `Trimmed` where `from` is no longer kept, `Corrupt`, `Io`. Works on a poisoned journal.
    fn read(
        &mut self,
        from: Position,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> Result<()>;

    /// Says that this caller will not read below `below` again. Whole files wholly below it are recycled or removed, except
    /// that the last synced record is always kept. Cost: none of the caller's time where a background thread does it.
    fn trim(&mut self, below: Position) -> Result<()>;

    /// Where the journal stands. Cost: its files.
    fn status(&self) -> Status;
}

/// A log in files on a device of this machine, whose room is known before it is asked for.
pub trait LocalLog: Log {
    /// As `append`, for records that give room back (deletes, acknowledgements): may also use the space that `append`
    /// leaves alone, so it works for a while on a full disk.
    fn append_reserved(&mut self, records: &[&[u8]]) -> Result<Position>;

    /// What may still be appended without asking the device for more room, the reserve included. Bytes. Asked for each record.
    fn room_bytes(&self) -> u64;

    /// The files that hold records, oldest first, and how far each is written: what is below that is never changed, until
    /// a `trim` that takes the file away.
    fn extents(&self) -> Vec<Extent>;
}

/// A file of the journal, as far as it holds frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Below the root of the disk.
    pub path: String,
    /// Where its frames end. Bytes.
    pub bytes: u64,
}

/// Where a journal stands, and what it did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The oldest record still kept; one above `last` where none is.
    pub first: Position,
    /// The newest record; 0 where there never was one.
    pub last: Position,
    /// The newest record known durable.
    pub synced: Position,
    /// What the files take on the device, prepared and spare ones included. Bytes.
    pub disk_bytes: u64,
    /// Frames appended.
    pub frame_count: u64,
    /// Records appended.
    pub record_count: u64,
    /// Syncs of the device that appended records waited for.
    pub sync_count: u64,
    /// Time spent in them. Microseconds.
    pub sync_us: u64,
    /// Time that `append` waited for a segment to be prepared. Microseconds.
    pub stall_us: u64,
}

#[cfg(test)]
mod tests;
