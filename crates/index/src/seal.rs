//! Frozen tails become segments, and the deletions made so far become files.

use std::sync::Arc;

use disk::Disk;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::segment::{Segment, write_deleted, write_segment};
use crate::tail::Tail;

/// The work of one checkpoint of a table: shares all it needs, so it may run on any thread.
pub struct SealJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Directory of the table.
    pub(crate) dir: String,
    /// Text columns of the table.
    pub(crate) fields: u8,
    /// First of the numbers for the names of what is written: one for each tail.
    pub(crate) number: u64,
    pub(crate) frozen: Frozen,
}

/// A table as it was at one journal position, as far as its files do not hold it. A job that is tried again gets the same
/// once more: the journal above the position must be all that the files lack.
#[derive(Clone)]
pub(crate) struct Frozen {
    pub(crate) position: u64,
    pub(crate) tails: Vec<FrozenTail>,
    pub(crate) deletions: Vec<SegmentDeletions>,
}

/// The tail of one shard, which has rows.
#[derive(Clone)]
pub(crate) struct FrozenTail {
    pub(crate) shard: u16,
    pub(crate) tail: Tail,
    /// Rows deleted from it until then.
    pub(crate) gone: Arc<RoaringBitmap>,
}

/// Rows deleted from a segment, where its last file of them does not have all.
#[derive(Clone)]
pub(crate) struct SegmentDeletions {
    /// The segment's directory in the table's.
    pub(crate) directory: String,
    pub(crate) rows: u32,
    pub(crate) deleted: Arc<RoaringBitmap>,
}

/// What a [`SealJob`] made, for [`crate::Table::install`]. Its files are durable.
pub struct Sealed {
    pub(crate) position: u64,
    /// One for each tail of which a row was left.
    pub(crate) segments: Vec<SealedTail>,
    /// `(segment's directory, new file of deleted rows, the rows in it)`.
    pub(crate) deletions: Vec<(String, String, Arc<RoaringBitmap>)>,
}

pub(crate) struct SealedTail {
    pub(crate) shard: u16,
    pub(crate) directory: String,
    pub(crate) segment: Segment,
    /// Rows deleted until the freeze; they are not in the segment.
    pub(crate) gone: Arc<RoaringBitmap>,
    /// The segment's doc of each ordinal of the tail that is not in `gone`.
    pub(crate) docs: Vec<u32>,
}

/// Name of a segment's directory.
pub(crate) fn segment_name(number: u64) -> String {
    format!("segment-{number:08}")
}

/// Name of a file of deleted rows.
pub(crate) fn deleted_name(number: u64) -> String {
    format!("deleted-{number:08}")
}

impl SealJob {
    /// The journal position that the result covers.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.frozen.position
    }

    /// Writes the files and makes them durable. After an error (`Io`; [`Error::is_full`] for a full disk) nothing is lost, and
    /// what was written is removed again as far as the disk allows: give the table a [`crate::Table::thaw`].
    pub fn run(self) -> Result<Sealed> {
        let result = self.write();
        if result.is_err() {
            // The error that stopped the job is the one to report; what stays behind is removed when the table is opened.
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

    fn write_tail(&self, number: u64, frozen: &FrozenTail) -> Result<Option<SealedTail>> {
        let FrozenTail { shard, tail, gone } = frozen;
        if gone.len() == u64::from(tail.rows()) {
            return Ok(None);
        }
        let directory = segment_name(number);
        let path = format!("{}/{directory}", self.dir);
        let position = self.frozen.position;
        let docs = write_segment(&self.disk, &path, (tail, self.fields), gone, position)?;
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
