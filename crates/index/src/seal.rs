//! A frozen tail becomes a segment, and the deletions made so far become files.

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
    /// Number for the names of what is written.
    pub(crate) number: u64,
    pub(crate) frozen: Frozen,
}

/// A table as it was at one journal position, as far as its files do not hold it. A job that is tried again gets the same
/// once more: the journal above the position must be all that the files lack.
#[derive(Clone)]
pub(crate) struct Frozen {
    pub(crate) position: u64,
    /// The frozen tail and the rows deleted from it until then, if there is one.
    pub(crate) tail: Option<(Tail, Arc<RoaringBitmap>)>,
    pub(crate) deletions: Vec<SegmentDeletions>,
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
    /// The tail's segment; `None` where no row of the tail was left, or there was no tail.
    pub(crate) segment: Option<SealedTail>,
    /// `(segment's directory, new file of deleted rows, deleted rows in it)`.
    pub(crate) deletions: Vec<(String, String, u64)>,
}

pub(crate) struct SealedTail {
    pub(crate) directory: String,
    pub(crate) segment: Segment,
    /// Rows deleted until the freeze; they are not in the segment.
    pub(crate) gone: Arc<RoaringBitmap>,
    /// The segment's doc of each ordinal of the tail that is not in `gone`.
    pub(crate) docs: Vec<u32>,
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
            let _ = self
                .disk
                .remove_dir(&format!("{}/{}", self.dir, self.segment_name()));
            for deletions in &self.frozen.deletions {
                let _ = self.disk.remove(&self.deleted_path(deletions));
            }
        }
        result
    }

    fn write(&self) -> Result<Sealed> {
        let segment = self.write_tail()?;
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
            deletions.push((directory.clone(), self.deleted_name(), deleted.len()));
        }
        Ok(Sealed {
            position: self.frozen.position,
            segment,
            deletions,
        })
    }

    fn write_tail(&self) -> Result<Option<SealedTail>> {
        let Some((tail, gone)) = &self.frozen.tail else {
            return Ok(None);
        };
        if gone.len() == u64::from(tail.rows()) {
            return Ok(None);
        }
        let directory = self.segment_name();
        let path = format!("{}/{directory}", self.dir);
        let docs = write_segment(&self.disk, &path, tail, gone, self.frozen.position)?;
        self.disk
            .sync_dir(&self.dir)
            .map_err(|error| Error::io(self.dir.as_str(), error))?;
        let rows = tail.rows() - gone.len() as u32;
        let segment = Segment::open(&self.disk, &path, rows)?;
        Ok(Some(SealedTail {
            directory,
            segment,
            gone: Arc::clone(gone),
            docs,
        }))
    }

    fn segment_name(&self) -> String {
        format!("segment-{:08}", self.number)
    }

    fn deleted_name(&self) -> String {
        format!("deleted-{:08}", self.number)
    }

    fn deleted_path(&self, deletions: &SegmentDeletions) -> String {
        format!(
            "{}/{}/{}",
            self.dir,
            deletions.directory,
            self.deleted_name()
        )
    }
}
