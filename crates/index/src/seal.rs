//! Seals: writes frozen tails as segments, and new edits of segments as files. Runs beside the writer.

use std::sync::Arc;

use disk::Disk;

use crate::edits::{EditFiles, Edits};
use crate::error::{Error, Result};
use crate::segment::{Segment, write_segment};
use crate::tail::Tail;

/// The work of one checkpoint of a table. It shares all that it needs with the table, so it may run
/// on any thread.
pub struct SealJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Directory of the table.
    pub(crate) dir: String,
    /// Text columns of the table.
    pub(crate) fields: u8,
    /// Columns with a KEY.
    pub(crate) keyed: Arc<[u16]>,
    /// First number for the names of new files: one number for each tail.
    pub(crate) number: u64,
    pub(crate) frozen: Frozen,
}

/// The rows and edits of a table at one journal position that its files lack.
///
/// A job that is tried again gets the same value, but for the rows of tails that were deleted since: they
/// are not written. The files must hold every record up to the position and no other later one, since a
/// restart replays the journal from there. It passes over deletions and changes of a row that is not
/// there.
#[derive(Clone)]
pub(crate) struct Frozen {
    pub(crate) position: u64,
    pub(crate) tails: Vec<FrozenTail>,
    pub(crate) edits: Vec<SegmentEdits>,
}

/// The frozen tail of one shard; it has rows.
#[derive(Clone)]
pub(crate) struct FrozenTail {
    pub(crate) shard: u16,
    pub(crate) tail: Tail,
    /// Deleted rows are not written, values that were changed before the freeze are written into their rows.
    pub(crate) edits: Edits,
}

/// The edits of a segment whose files of them lack some.
#[derive(Clone)]
pub(crate) struct SegmentEdits {
    /// The segment's directory, inside the table's.
    pub(crate) directory: String,
    pub(crate) rows: u32,
    pub(crate) edits: Edits,
}

/// The result of a [`SealJob`], for [`crate::Table::install`]. Its files are durable.
pub struct Sealed {
    pub(crate) position: u64,
    /// The new segments, one for each tail that had a live row.
    pub(crate) segments: Vec<SealedTail>,
    /// A segment's directory, the names of its new files of edits, and the edits.
    pub(crate) edits: Vec<(String, EditFiles, Edits)>,
}

/// A new segment, and how a tail's rows are numbered in it.
pub(crate) struct SealedTail {
    pub(crate) shard: u16,
    pub(crate) directory: String,
    pub(crate) segment: Segment,
    /// The edits of the [`FrozenTail`]: its rows are as these left them.
    pub(crate) written: Edits,
    /// By ordinal of the tail: the doc in the segment. Meaningless for rows that were not written.
    pub(crate) docs: Vec<u32>,
}

/// Name of a segment's directory; `number` is never used twice in a table.
pub(crate) fn segment_name(number: u64) -> String {
    format!("segment-{number:08}")
}

impl SealJob {
    /// Journal position that the files will cover.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.frozen.position
    }

    /// Writes the files and makes them durable. After an error nothing is lost: give the table a
    /// [`crate::Table::thaw`]. What was written is removed as far as the disk allows. Errors: `Io`
    /// ([`Error::is_full`] for a full disk), `Corrupt`.
    pub fn run(self) -> Result<Sealed> {
        let result = self.write();
        if result.is_err() {
            // A failure to remove is not reported: the error that stopped the job is, and an
            // opening table removes what stays behind.
            for (number, _) in self.numbered() {
                let path = format!("{}/{}", self.dir, segment_name(number));
                let _ = self.disk.remove_dir(&path);
            }
            for changed in &self.frozen.edits {
                for name in changed.edits.files(self.number).names() {
                    let _ = self
                        .disk
                        .remove(&format!("{}/{name}", self.path_of(changed)));
                }
            }
        }
        result
    }

    /// The tails with the numbers of their segments.
    fn numbered(&self) -> impl Iterator<Item = (u64, &FrozenTail)> {
        (self.number..).zip(&self.frozen.tails)
    }

    fn write(&self) -> Result<Sealed> {
        let mut segments = Vec::with_capacity(self.frozen.tails.len());
        for (number, tail) in self.numbered() {
            segments.extend(self.write_tail(number, tail)?);
        }
        let mut edits = Vec::new();
        for changed in &self.frozen.edits {
            let path = self.path_of(changed);
            let written = &changed.edits;
            let files = written.write(&*self.disk, &path, changed.rows, self.number)?;
            edits.push((changed.directory.clone(), files, written.clone()));
        }
        Ok(Sealed {
            position: self.frozen.position,
            segments,
            edits,
        })
    }

    /// Writes one tail; `None` if all its rows are deleted.
    fn write_tail(&self, number: u64, frozen: &FrozenTail) -> Result<Option<SealedTail>> {
        let FrozenTail { shard, tail, edits } = frozen;
        let gone = edits.deleted.len();
        if gone == u64::from(tail.rows()) {
            return Ok(None);
        }
        let directory = segment_name(number);
        let path = format!("{}/{directory}", self.dir);
        let position = self.frozen.position;
        let what = (self.fields, &*self.keyed);
        let docs = write_segment(&self.disk, &path, tail, what, edits, position)?;
        self.disk
            .sync_dir(&self.dir)
            .map_err(|error| Error::io(self.dir.as_str(), error))?;
        let rows = tail.rows() - gone as u32;
        let segment = Segment::open(&self.disk, &path, rows)?;
        Ok(Some(SealedTail {
            shard: *shard,
            directory,
            segment,
            written: edits.clone(),
            docs,
        }))
    }

    fn path_of(&self, segment: &SegmentEdits) -> String {
        format!("{}/{}", self.dir, segment.directory)
    }
}
