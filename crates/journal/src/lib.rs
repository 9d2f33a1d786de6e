//! An ordered, checksummed, group-committed log of opaque records.
//!
//! [`Log`] is the contract that an engine needs, wherever the log is kept. [`LocalLog`] adds the room and the files of a log on
//! this machine. [`FileJournal`] implements both in segment files; [`MemoryLog`] is the oracle of the tests.
//!
//! Limits: a record of at most [`RECORD_BYTES_MAX`], a frame (one call of `append`) of at most [`FRAME_BYTES_MAX`]. One writer
//! for each directory; the caller holds the lock of the data directory.
//!
//! # Example
//! Segments of four pages. Records 1 and 2 are appended in one frame and synced. Then 3, 4, 5 and 6 follow, each in a frame of
//! its own, without a sync by the caller. Record 4 takes two pages, so record 5 goes to segment 2, and the journal syncs
//! segment 1 before:
//!
//! | segment | page | frame | records | `synced` in its header | chain |
//! |---|---|---|---|---|---|
//! | 1 | 0 | A | 1, 2 | 0 | 0 |
//! | 1 | 1 | B | 3 | 2 | header of A |
//! | 1 | 2–3 | C | 4 | 2 | header of B |
//! | 2 | 0 | D | 5 | 4 | header of C |
//! | 2 | 1 | E | 6 | 4 | header of D |
//!
//! The power is cut, and one frame cannot be read at the next start:
//! - E: no header says that record 6 was synced. It is a torn tail: E is cut, and the journal ends at record 5.
//! - D: the header of E says 4, and record 5 is above it. D and E are cut, although E is whole.
//! - C: the header of D says 4. A synced record is lost, so the journal refuses to open and names the file and the offset.
//!
//! # Invariants
//! - Positions are dense, from 1, and follow the order of the frames.
//! - A header's `synced` is a position whose sync had returned before the frame was written. It is below the frame's records.
//! - A segment is synced whole before the next one is begun. So the first frame of a segment proves all earlier segments, and
//!   frames without a sync lie in one segment only.
//! - A frame begins and ends at a page. So a torn write cannot damage an earlier frame.
//! - Each header holds the checksum of the header before it, so a frame counts only behind the frame that it was written after.
//! - The epochs of segments have no gaps, so a missing file is found.
//!
//! # Failures
//! A failed sync poisons the journal, and so does a failed write, unless the disk is full. It then takes nothing more and the
//! process must end, because the content of the device is unknown until a new start reads it. A full disk poisons nothing:
//! [`LocalLog::append_reserved`]. The bytes on disk are described in `docs/formats/journal.md`.
//!
//! # Use
//! ```
//! use disk::MemoryDisk;
//! use journal::{FileJournal, JournalOptions, Log, Position, Preparation};
//! use std::sync::Arc;
//!
//! let options = JournalOptions {
//!     segment_bytes: 16 << 10,
//!     reserve_bytes: 0,
//!     known_synced: Position(0),
//!     preparation: Preparation::Inline,
//! };
//! let disk = Arc::new(MemoryDisk::new());
//! let (mut journal, _) = FileJournal::open(disk.clone(), "journal", options.clone())?;
//! assert_eq!(journal.append(&[b"a".as_slice(), b"b"])?, Position(2)); // one frame, not yet durable
//! assert_eq!(journal.sync()?, Position(2)); // now it is
//! drop(journal);
//!
//! let (mut journal, recovered) = FileJournal::open(disk, "journal", options)?;
//! assert_eq!((recovered.frames, recovered.records), (1, 2));
//! let mut records = Vec::new();
//! journal.read(Position(2), &mut |position, record| {
//!     records.push((position.0, record.to_vec()));
//!     true
//! })?;
//! assert_eq!(records, [(2, b"b".to_vec())]);
//! # Ok::<(), journal::Error>(())
//! ```

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

/// A record's number in the log. Dense, from 1; 0 means "before the first record".
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

/// An ordered log of records, wherever it is kept. It has one owner; every call may block on the device.
///
/// # Example
/// | call | `last` | `synced` | records after a crash now |
/// |---|---|---|---|
/// | `append(a, b)` gives 2 | 2 | 0 | none, or a and b |
/// | `sync()` gives 2 | 2 | 2 | a, b |
/// | `append(c)` gives 3 | 3 | 2 | a, b, perhaps c |
/// | `trim(2)` | 3 | 2 | b, perhaps a, perhaps c |
///
/// # Contract
/// - The records that a crash leaves are a prefix of those appended, and hold everything synced. The engine sends an OK only
///   after the sync that it promises.
/// - A frame is whole after a crash or gone.
/// - A record keeps its position for ever. A position is given again only where a crash has lost its record.
pub trait Log: Send {
    /// Appends the records in order as one frame. Returns the position of the last one; that of the log's last record where
    /// `records` is empty. The records are not durable yet.
    ///
    /// Errors: `Full`, `RecordTooLarge`, `FrameTooLarge` (nothing was taken, and the log stays usable), `Poisoned`. Cost: one
    /// copy of the bytes and one write.
    fn append(&mut self, records: &[&[u8]]) -> Result<Position>;

    /// Makes every appended record durable. Returns the position of the last. Cost: one `fdatasync`, none where nothing was
    /// appended since the last. Error: `Poisoned`, after which the caller ends the process.
    fn sync(&mut self) -> Result<Position>;

    /// Visits the records from `from` upward, records without a sync included, until `visit` returns false. 0 counts as 1; a
    /// `from` above the last record visits nothing. Each record's checksum is verified before the visit.
    ///
    /// Errors: `Trimmed` where `from` is no longer kept, `Corrupt`, `Io`. Works on a poisoned log.
    fn read(
        &mut self,
        from: Position,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> Result<()>;

    /// Allows the log to drop the records below `below`, which the caller reads no more. A log in files drops whole segments,
    /// so older records may stay. The last synced record always stays: positions go on behind it. Cost: a message to the
    /// background thread, where there is one.
    fn trim(&mut self, below: Position) -> Result<()>;

    /// Positions, sizes and counters. Cost: the segments.
    fn status(&self) -> Status;
}

/// A log in files on a device of this machine.
///
/// It takes room from the device before it needs it, in whole segments, and keeps a reserve of that room for records that
/// free room. Say three segments of four pages fit a device, and the reserve is three pages. `append` takes nine frames of a
/// page and then refuses with `Full`. `append_reserved` takes three more, so DELETE and `queue_end` work on the full device.
/// Then it refuses too, until a `trim`.
pub trait LocalLog: Log {
    /// As `append`, for records that free room: deletes, and rows that workers end. It may use the reserve.
    fn append_reserved(&mut self, records: &[&[u8]]) -> Result<Position>;

    /// Room in the prepared segments, the reserve included: frames of this size need nothing more of the device. Bytes. Cost:
    /// the prepared segments; the engine asks for each record.
    fn room_bytes(&self) -> u64;

    /// The files that hold records, oldest first, each with the end of its frames. The bytes below never change until a `trim`
    /// takes the file away, so a backup may copy them meanwhile.
    fn extents(&self) -> Vec<Extent>;
}

/// The part of a segment file that holds frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Path below the root of the disk.
    pub path: String,
    /// Offset of the end of its last frame. Bytes.
    pub bytes: u64,
}

/// The positions of a log, and its counters since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The oldest record still kept; one above `last` where none is.
    pub first: Position,
    /// The newest record; 0 where there never was one.
    pub last: Position,
    /// The newest record that is known to be durable; at most `last`.
    pub synced: Position,
    /// Length of all files, prepared and spare segments included. Bytes.
    pub disk_bytes: u64,
    /// Frames appended.
    pub frame_count: u64,
    /// Records appended.
    pub record_count: u64,
    /// Syncs of segments that held unsynced frames; syncs of the preparation do not count.
    pub sync_count: u64,
    /// Time spent in these syncs. Microseconds.
    pub sync_us: u64,
    /// Time that `append` waited for a segment to be prepared. Microseconds.
    pub stall_us: u64,
}

#[cfg(test)]
mod tests;
