//! Segments become fewer, beside the writer and its readers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use disk::Disk;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::segment::{self, Segment};

/// The merge of some segments of one shard: shares all it needs, so it may run on any thread.
pub struct MergeJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Directory of the table.
    pub(crate) dir: String,
    /// Of the segment that is made, in the table's.
    pub(crate) directory: String,
    pub(crate) shard: u16,
    /// Text columns of the table.
    pub(crate) fields: u8,
    /// Journal position that the table's files cover.
    pub(crate) position: u64,
    /// Directories of the segments that go into it, in the order of `sources`.
    pub(crate) directories: Vec<String>,
    pub(crate) sources: Vec<segment::Source>,
    /// The column that retention will ask the new segment about.
    pub(crate) keep_by: Option<usize>,
    pub(crate) stop: Arc<AtomicBool>,
}

/// What a [`MergeJob`] made, for [`crate::Table::install_merged`]. Its files are durable.
pub struct Merged {
    pub(crate) shard: u16,
    pub(crate) directory: String,
    /// `None` where no row was left.
    pub(crate) segment: Option<Segment>,
    pub(crate) sources: Vec<MergedSource>,
}

pub(crate) struct MergedSource {
    pub(crate) directory: String,
    /// Rows that were left behind.
    pub(crate) gone: Arc<RoaringBitmap>,
    /// The new doc of each row that is not in `gone`.
    pub(crate) docs: Vec<u32>,
}

impl MergeJob {
    /// Bytes of the files that it reads: it writes about as much.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sources
            .iter()
            .map(|source| source.segment.bytes())
            .sum()
    }

    /// Writes the new segment and makes it durable. After an error (`Io`, `Corrupt` of a segment, `Stopped`) nothing is lost, and
    /// what was written is removed again as far as the disk allows: give the table a [`crate::Table::abandon_merge`]. Cost:
    /// reads and writes all that the segments hold.
    pub fn run(self) -> Result<Merged> {
        let path = format!("{}/{}", self.dir, self.directory);
        let result = self.write(&path);
        if result.is_err() {
            let _ = self.disk.remove_dir(&path); // what stays behind is removed when the table is opened
        }
        result
    }

    fn write(&self, path: &str) -> Result<Merged> {
        let what = (self.fields, self.position);
        let merged = segment::merge_segments(&self.disk, path, &self.sources, what, &self.stop)?;
        let mut made = None;
        if merged.rows > 0 {
            let synced = self.disk.sync_dir(&self.dir);
            synced.map_err(|error| Error::io(self.dir.as_str(), error))?;
            let segment = Segment::open(&self.disk, path, merged.rows)?;
            if let Some(column) = self.keep_by {
                segment.highest(column)?; // found here once, so that the writer does not have to
            }
            made = Some(segment);
        }
        let named = self.directories.iter().zip(&self.sources).zip(merged.docs);
        let sources = named.map(|((directory, source), docs)| MergedSource {
            directory: directory.clone(),
            gone: Arc::clone(&source.gone),
            docs,
        });
        Ok(Merged {
            shard: self.shard,
            directory: self.directory.clone(),
            segment: made,
            sources: sources.collect(),
        })
    }
}
