//! The journal in files.

use crate::{Journal, MemoryJournal, Position, Result, Status};
use disk::Disk;
use std::sync::Arc;

/// Who prepares the next segment while one is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// The caller of `append`, when a segment is begun: for tests, which want the same order of calls every time.
    Inline,
    /// A thread of the journal's own, so that `append` does not wait.
    Background,
}

/// How a journal is opened. The lengths are rounded up to whole pages of 4 KiB.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// Length of a new segment. Bytes.
    pub segment_bytes: u64,
    /// Room in prepared segments that `append` leaves to `append_reserved`. Bytes.
    pub reserve_bytes: u64,
    /// A position that the caller knows to have been synced, such as that of its newest checkpoint.
    pub known_synced: Position,
    /// Who prepares segments.
    pub preparation: Preparation,
}

impl Default for JournalOptions {
    fn default() -> Self {
        JournalOptions {
            segment_bytes: 64 << 20,
            reserve_bytes: 4 << 20,
            known_synced: Position(0),
            preparation: Preparation::Background,
        }
    }
}

/// What opening a journal found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Records in the journal.
    pub records: u64,
    /// Frames in the journal.
    pub frames: u64,
    /// Segments that hold them.
    pub segments: u64,
    /// What was cut from the end because it had not been written whole: never acknowledged to anyone. Bytes.
    pub bytes_cut: u64,
    /// The file that was cut, where one was.
    pub cut_file: Option<String>,
    /// Where it was cut. Bytes.
    pub cut_offset: u64,
}

/// The journal in the segment files of one directory.
pub struct FileJournal {
    records: MemoryJournal,
}

impl FileJournal {
    /// Opens the journal in `dir` (made where it is missing).
    pub fn open(
        _disk: Arc<dyn Disk>,
        _dir: &str,
        _options: JournalOptions,
    ) -> Result<(FileJournal, Recovered)> {
        Ok((
            FileJournal {
                records: MemoryJournal::new(),
            },
            Recovered::default(),
        ))
    }
}

impl Journal for FileJournal {
    fn append(&mut self, records: &[&[u8]]) -> Result<Position> {
        self.records.append(records)
    }

    fn append_reserved(&mut self, records: &[&[u8]]) -> Result<Position> {
        self.records.append_reserved(records)
    }

    fn sync(&mut self) -> Result<Position> {
        self.records.sync()
    }

    fn read(
        &mut self,
        from: Position,
        visit: &mut dyn FnMut(Position, &[u8]) -> bool,
    ) -> Result<()> {
        self.records.read(from, visit)
    }

    fn trim(&mut self, below: Position) -> Result<()> {
        self.records.trim(below)
    }

    fn status(&self) -> Status {
        self.records.status()
    }
}
