//! Seals: writes frozen tails as segments, and new deletions as files. Runs beside the writer.

use std::sync::Arc;

use disk::Disk;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::segment::{Segment, write_deleted, write_segment};
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

/// The rows and deletions of a table at one journal position that its files lack.
///
/// A job that is tried again gets the same value. The files must hold every record up to the
/// position and no later one, since a restart replays the journal from there.
#[derive(Clone)]
pub(crate) struct Frozen {
    pub(crate) position: u64,
    pub(crate) tails: Vec<FrozenTail>,
    pub(crate) deletions: Vec<SegmentDeletions>,
}

/// The frozen tail of one shard; it has rows.
#[derive(Clone)]
pub(crate) struct FrozenTail {
    pub(crate) shard: u16,
    pub(crate) tail: Tail,
    /// Rows deleted from it before the freeze; they are not written.
    pub(crate) gone: Arc<RoaringBitmap>,
}

/// The deleted rows of a segment whose last file of deleted rows lacks some.
#[derive(Clone)]
pub(crate) struct SegmentDeletions {
    /// The segment's directory, inside the table's.
    pub(crate) directory: String,
    pub(crate) rows: u32,
    pub(crate) deleted: Arc<RoaringBitmap>,
}

/// The result of a [`SealJob`], for [`crate::Table::install`]. Its files are durable.
pub struct Sealed {
    pub(crate) position: u64,
    /// The new segments, one for each tail that had a live row.
    pub(crate) segments: Vec<SealedTail>,
    /// `(segment's directory, name of its new file of deleted rows, these rows)`.
    pub(crate) deletions: Vec<(String, String, Arc<RoaringBitmap>)>,
}

/// A new segment, and how a tail's rows are numbered in it.
pub(crate) struct SealedTail {
    pub(crate) shard: u16,
    pub(crate) directory: String,
    pub(crate) segment: Segment,
    /// Rows deleted before the freeze; they are not in the segment.
    pub(crate) gone: Arc<RoaringBitmap>,
    /// By ordinal of the tail: the doc in the segment. Meaningless for rows in `gone`.
    pub(crate) docs: Vec<u32>,
}

/// Name of a segment's directory; `number` is never used twice in a table.
pub(crate) fn segment_name(number: u64) -> String {
    format!("segment-{number:08}")
}

/// Name of a file of deleted rows; `number` is never used twice in a table.
pub(crate) fn deleted_name(number: u64) -> String {
    format!("deleted-{number:08}")
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
            for deletions in &self.frozen.deletions {
                let _ = self.disk.remove(&self.deleted_path(deletions));
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
        let mut deletions = Vec::new();
        for changed in &self.frozen.deletions {
            let SegmentDeletions {
                directory,
                rows,
                deleted,
            } = changed;
            write_deleted(&*self.disk, &self.deleted_path(changed), *rows, deleted)?;
            let path = format!("{}/{directory}", self.dir);
            self.disk
                .sync_dir(&path)
                .map_err(|error| Error::io(path, error))?;
            let name = deleted_name(self.number);
            deletions.push((directory.clone(), name, Arc::clone(deleted)));
        }
        Ok(Sealed {
            position: self.frozen.position,
            segments,
            deletions,
        })
    }

    /// Writes one tail; `None` if all its rows are deleted.
    fn write_tail(&self, number: u64, frozen: &FrozenTail) -> Result<Option<SealedTail>> {
        let FrozenTail { shard, tail, gone } = frozen;
        if gone.len() == u64::from(tail.rows()) {
            return Ok(None);
        }
        let directory = segment_name(number);
        let path = format!("{}/{directory}", self.dir);
        let position = self.frozen.position;
        let what = (self.fields, &*self.keyed);
        let docs = write_segment(&self.disk, &path, tail, what, gone, position)?;
        self.disk
            .sync_dir(&self.dir)
            .map_err(|error| Error::io(self.dir.as_str(), error))?;
        let rows = tail.rows() - gone.len() as u32;
        let segment = Segment::open(&self.disk, &path, rows)?;
        Ok(Some(SealedTail {
            shard: *shard,
            directory,
            segment,
            gone: Arc::clone(gone),
            docs,
        }))
    }

    fn deleted_path(&self, deletions: &SegmentDeletions) -> String {
        let name = deleted_name(self.number);
        format!("{}/{}/{name}", self.dir, deletions.directory)
    }
}
