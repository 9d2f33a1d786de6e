//! Merges: several segments of a shard become one. Runs beside the writer and the readers.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use disk::Disk;

use crate::edits::Edits;
use crate::error::{Error, Result};
use crate::segment::{self, MergeForm, Segment};

/// The merge of some segments of one shard. It shares all that it needs with the table, so it may
/// run on any thread.
pub struct MergeJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Directory of the table.
    pub(crate) dir: String,
    /// Directory of the new segment, inside the table's.
    pub(crate) directory: String,
    pub(crate) shard: u16,
    /// Text columns of the table.
    pub(crate) fields: u8,
    /// Columns with a KEY.
    pub(crate) keyed: Arc<[u16]>,
    /// Journal position that the table's files cover.
    pub(crate) position: u64,
    /// Directories of the source segments, in the order of `sources`.
    pub(crate) directories: Vec<String>,
    pub(crate) sources: Vec<segment::Source>,
    /// A segment of the table whose dictionary packs rows if no source has one.
    pub(crate) like: Option<Arc<Segment>>,
    /// Whether to pack rows and to make lists of pairs. A packed source makes it so in any case: its rows are copied as they are.
    pub(crate) packs: bool,
    /// Column whose highest value retention will ask of the new segment.
    pub(crate) keep_by: Option<usize>,
    pub(crate) stop: Arc<AtomicBool>,
}

/// The result of a [`MergeJob`], for [`crate::Table::install_merged`]. Its files are durable.
pub struct Merged {
    pub(crate) shard: u16,
    pub(crate) directory: String,
    /// The new segment; `None` if no row was left.
    pub(crate) segment: Option<Segment>,
    pub(crate) sources: Vec<MergedSource>,
}

/// A source segment, and how its rows are numbered in the new one.
pub(crate) struct MergedSource {
    pub(crate) directory: String,
    /// The edits that files had already: deleted rows were left behind, and the others are as these
    /// left them.
    pub(crate) written: Edits,
    /// By old doc: the new doc. Meaningless for rows left behind.
    pub(crate) docs: Vec<u32>,
}

impl MergeJob {
    /// Bytes of the files that the job reads; it writes about as many.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sources
            .iter()
            .map(|source| source.segment.bytes())
            .sum()
    }

    /// Writes the new segment and makes it durable. After an error nothing is lost: give the table
    /// a [`crate::Table::abandon_merge`]. What was written is removed as far as the disk allows.
    /// Cost: reads all rows of the sources and writes the live ones. Errors: `Io`; `Corrupt` of a
    /// segment; `Stopped`.
    pub fn run(self) -> Result<Merged> {
        let path = format!("{}/{}", self.dir, self.directory);
        let result = self.write(&path);
        if result.is_err() {
            let _ = self.disk.remove_dir(&path); // an opening table removes what stays behind
        }
        result
    }

    fn write(&self, path: &str) -> Result<Merged> {
        let what = (self.fields, &*self.keyed, self.position);
        let is_packed = |source: &segment::Source| source.segment.is_packed();
        let how = match self.packs || self.sources.iter().any(is_packed) {
            true => MergeForm::Packed(self.like.as_deref()),
            false => MergeForm::Plain,
        };
        let merged =
            segment::merge_segments(&self.disk, path, &self.sources, how, what, &self.stop)?;
        let mut made = None;
        if merged.rows > 0 {
            let synced = self.disk.sync_dir(&self.dir);
            synced.map_err(|error| Error::io(self.dir.as_str(), error))?;
            let segment = Segment::open(&self.disk, path, merged.rows)?;
            if let Some(column) = self.keep_by {
                segment.highest(column)?; // read here, beside the writer
            }
            made = Some(segment);
        }
        let named = self.directories.iter().zip(&self.sources).zip(merged.docs);
        let sources = named.map(|((directory, source), docs)| MergedSource {
            directory: directory.clone(),
            written: source.edits.clone(),
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
