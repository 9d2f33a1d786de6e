//! Writes the rows of a segment again in other columns, for ALTER TABLE. Runs beside the writer and the readers.
//!
//! Example: `ADD COLUMN stars int` to a segment with ids 5, 7 and 9, of which row 1 (id 7) is deleted:
//!
//! ```text
//! docs       [0, GONE, 1]                      the deleted row is left behind
//! new rows   ('cat', 0), ('dog', 0)            as `Reshape::row` gives them, their texts analysed again
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use disk::Disk;
use language::analysis::Words;
use relation::row;
use relation::value::Value;

use crate::edits::Edits;
use crate::error::{Error, Result};
use crate::part::Part;
use crate::segment::{self, GONE, MergeForm, Segment, analyse};
use crate::shape::TableShape;
use crate::tail::{Tail, TailWriter};

/// Rows that are analysed before they are written.
const CHUNK_ROWS: u32 = 100_000;

/// Memory of such rows, estimated, from which on they are written. Bytes.
const CHUNK_BYTES: u64 = 32 << 20;

/// Makes a row of the new columns from its id and its values. Error: why a value does not fit.
pub type ReshapeRow =
    dyn Fn(u64, Vec<Value>) -> std::result::Result<Vec<Value>, String> + Send + Sync;

/// Other columns for the rows of a table.
pub struct Reshape {
    /// The table's shape afterwards; the number of shards stays.
    pub shape: TableShape,
    /// The row in the new columns. Equal rows must give equal rows.
    pub row: Box<ReshapeRow>,
}

/// The work on one segment. It shares all that it needs with the table, so it may run on any thread.
pub struct ReshapeJob {
    pub(crate) disk: Arc<dyn Disk>,
    /// Directory of the table.
    pub(crate) dir: String,
    /// Directory of the new segment, inside the table's.
    pub(crate) directory: String,
    /// Directory of the segment.
    pub(crate) source: String,
    pub(crate) part: Arc<Part>,
    pub(crate) reshape: Arc<Reshape>,
    /// The last record whose effects the part has.
    pub(crate) position: u64,
    pub(crate) stop: Arc<AtomicBool>,
}

/// The result of a [`ReshapeJob`]. Its files are durable.
pub struct Reshaped {
    pub(crate) directory: String,
    /// Directory of the segment whose rows these are.
    pub(crate) source: String,
    /// The new segment; `None` if no row was left.
    pub(crate) segment: Option<Segment>,
    /// The edits that the new rows have.
    pub(crate) written: Edits,
    /// By old doc: the new doc. Meaningless for rows that were deleted.
    pub(crate) docs: Vec<u32>,
}

impl Reshaped {
    /// Directory of the segment whose rows these are.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Number of rows written.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.segment.as_ref().map_or(0, Segment::rows).into()
    }
}

impl Reshape {
    /// The words and the encoded form of a row. Errors: `Unfit`.
    fn make(&self, id: u64, values: Vec<Value>, words: &mut Words) -> Result<Arc<[u8]>> {
        let values = (self.row)(id, values).map_err(|why| Error::Unfit { why })?;
        analyse(&self.shape, &values, words);
        Ok(row::encode(&values))
    }
}

/// Rows in memory on their way into a segment.
pub(crate) struct Rows<'r> {
    reshape: &'r Reshape,
    tail: Tail,
    writer: TailWriter,
    words: Words,
}

impl<'r> Rows<'r> {
    pub(crate) fn new(reshape: &'r Reshape) -> Rows<'r> {
        let tail = Tail::default();
        Rows {
            reshape,
            writer: TailWriter::new(&tail, Arc::default()),
            tail,
            words: Words::new(),
        }
    }

    /// Adds a row of the old columns. Errors: `Unfit`, `TextTooLong`.
    pub(crate) fn push(&mut self, id: u64, values: Vec<Value>) -> Result<()> {
        let row = self.reshape.make(id, values, &mut self.words)?;
        self.writer.insert(id, row, &self.words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writer.rows() == 0
    }

    fn is_full(&self) -> bool {
        self.writer.rows() >= CHUNK_ROWS || self.writer.bytes() >= CHUNK_BYTES
    }

    /// Writes the rows as a segment. All is durable but the directory's own name. Errors: `Io`.
    pub(crate) fn write(mut self, disk: &Arc<dyn Disk>, path: &str, position: u64) -> Result<u32> {
        self.tail.publish(&mut self.writer);
        let shape = &self.reshape.shape;
        let what = (shape.text_columns() as u8, &*shape.keyed()); // at most 64 text columns
        let nothing = Edits::default();
        segment::write_segment(disk, path, &self.tail, what, &nothing, position)?;
        Ok(self.tail.rows())
    }
}

impl ReshapeJob {
    /// Bytes of the files that the job reads; it writes about as many.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.part.segment_bytes()
    }

    /// Writes the new segment and makes it durable. After an error nothing is lost, and what was written is removed as far as the
    /// disk allows. Cost: analyses every text. Memory: [`CHUNK_ROWS`] rows. Errors: `Io`; `Corrupt`; `Unfit`; `Stopped`.
    pub fn run(self) -> Result<Reshaped> {
        let path = format!("{}/{}", self.dir, self.directory);
        let mut chunks = Vec::new();
        let made = self.write(&path, &mut chunks);
        for (chunk, _) in chunks {
            let _ = self.disk.remove_dir(&chunk); // an opening table removes what stays behind
        }
        if made.is_err() {
            let _ = self.disk.remove_dir(&path);
        }
        made
    }

    fn write(&self, path: &str, chunks: &mut Vec<(String, u32)>) -> Result<Reshaped> {
        let mut docs = vec![GONE; self.part.rows() as usize];
        let mut count = 0;
        let mut rows = Rows::new(&self.reshape);
        for doc in self.part.live_docs() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            if rows.is_full() {
                let full = std::mem::replace(&mut rows, Rows::new(&self.reshape));
                self.write_chunk(full, path, chunks)?;
            }
            rows.push(self.part.id(doc)?, self.part.columns(doc)?)?;
            docs[doc as usize] = count;
            count += 1;
        }
        match chunks.is_empty() {
            true if rows.is_empty() => {}
            true => {
                rows.write(&self.disk, path, self.position)?;
            }
            false => {
                self.write_chunk(rows, path, chunks)?;
                self.join(path, chunks)?;
            }
        }
        let mut segment = None;
        if count > 0 {
            let synced = self.disk.sync_dir(&self.dir);
            synced.map_err(|error| Error::io(self.dir.as_str(), error))?;
            segment = Some(Segment::open(&self.disk, path, count)?);
        }
        Ok(Reshaped {
            directory: self.directory.clone(),
            source: self.source.clone(),
            segment,
            written: self.part.edits(),
            docs,
        })
    }

    fn write_chunk(
        &self,
        rows: Rows<'_>,
        path: &str,
        chunks: &mut Vec<(String, u32)>,
    ) -> Result<()> {
        let chunk = format!("{path}.{}", chunks.len());
        chunks.push((chunk.clone(), rows.writer.rows()));
        rows.write(&self.disk, &chunk, self.position).map(drop)
    }

    /// Merges the chunks, whose ids rise from one to the next, into one segment.
    fn join(&self, path: &str, chunks: &[(String, u32)]) -> Result<()> {
        let mut sources = Vec::new();
        for (chunk, rows) in chunks {
            let segment = Arc::new(Segment::open(&self.disk, chunk, *rows)?);
            sources.push(segment::Source {
                segment,
                edits: Edits::default(),
            });
        }
        let shape = &self.reshape.shape;
        let what = (shape.text_columns() as u8, &*shape.keyed(), self.position);
        let form = MergeForm::Packed(None);
        segment::merge_segments(&self.disk, path, &sources, form, what, &self.stop).map(drop)
    }
}
