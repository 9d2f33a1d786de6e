//! Rows in files: a directory written once by a seal and never changed.
//!
//! Limits: at most `i32::MAX` rows; a file of deleted rows is the only thing added later.
//!
//! - `rows`: our own: ids, encoded rows, numeric columns, forward lists; see [`commit::Kind`].
//! - `terms`, `postings`, `positions`: tantivy's dictionary and postings of one text field, which holds the words of all text
//!   columns; a word's place is `field << 24 | position`.
//! - `commit`: what the segment is, with the checksums of the others; written last.
//!
//! Rows are numbered by rising id; the number is the row's *doc*. No file stays open: each is mapped.

mod checked;
mod commit;
mod deleted;
mod folder;
mod forward;
mod inspect;
mod postings;
mod write;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use disk::Disk;
use query::value::Value;
use tantivy::index::{
    Index, IndexSettings, InvertedIndexReader, Segment as TantivySegment, SegmentComponent,
    SegmentId, SegmentReader,
};
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};

use crate::error::{Error, Result};
use crate::removed::{Frequency, WordCount};
use crate::tail::gallop;
use checked::{CheckedFile, Sums};
use commit::{Commit, Kind, Section};
use folder::Folder;

pub(crate) use deleted::{read_deleted, write_deleted};
pub use inspect::{SavedRows, saved_rows, verify};
pub(crate) use postings::SegmentPostings;
pub(crate) use write::write_segment;

/// Name of the file with our own sections.
const ROWS: &str = "rows";
/// Name of the file that makes the others a segment.
const COMMIT: &str = "commit";
/// Every file of a segment but those of deleted rows.
pub(crate) const FILES: [&str; 5] = [COMMIT, ROWS, "terms", "postings", "positions"];
/// tantivy's name for the only field.
const TEXT: &str = "text";

/// One sealed segment.
pub(crate) struct Segment {
    rows: CheckedFile,
    docs: u32,
    hits: u64,
    bytes: u64,
    ids: Section,
    row_ends: Section,
    row_bytes: Section,
    forward_ends: Section,
    forward_bytes: Section,
    word_hits: Section,
    /// By column; `None` for a column that is not all integers or all floats.
    numbers: Vec<Option<Section>>,
    index: Arc<InvertedIndexReader>,
    terms_path: String,
    id_first: u64,
    id_last: u64,
}

/// A word of a segment's dictionary.
#[derive(Clone)]
pub(crate) struct SegmentWord {
    /// Its place in the dictionary.
    pub(crate) number: u32,
    info: TermInfo,
}

impl Segment {
    /// Opens a segment of so many rows. Errors: `Io`, `Corrupt`, `NewerFormat`.
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &str, rows: u32) -> Result<Segment> {
        let commit_path = format!("{path}/{COMMIT}");
        let commit = Commit::read(&**disk, &commit_path)?;
        let corrupt = |what| Error::Corrupt {
            file: commit_path.clone(),
            offset: 0,
            what,
        };
        if commit.rows != rows || rows == 0 {
            return Err(corrupt("not as many rows as the manifest says"));
        }
        let open = |name: &str| {
            let sums = commit.files.iter().find(|(file, _)| file == name);
            let (_, sums): &(String, Sums) = sums.ok_or_else(|| corrupt("a file is not listed"))?;
            CheckedFile::open(&**disk, format!("{path}/{name}"), sums.clone())
        };
        let file = open(ROWS)?;
        let section = |kind, rows: Option<u64>| {
            let section = commit
                .section(kind)
                .ok_or_else(|| corrupt("a section is missing"))?;
            let end = section.start.checked_add(section.bytes);
            let whole = end.is_some_and(|end| end <= file.len() as u64);
            if !whole || rows.is_some_and(|rows| section.bytes != 8 * rows) {
                return Err(corrupt("a section has not the length of its rows"));
            }
            Ok(section)
        };
        let per_row = Some(u64::from(rows));
        let mut sealed = HashMap::new();
        for (name, _) in folder::KEPT {
            sealed.insert(name, Arc::new(open(name)?));
        }
        let terms_path = format!("{path}/{}", folder::KEPT[0].0);
        let bytes = commit.files.iter().map(|(_, sums)| sums.bytes).sum();
        let mut segment = Segment {
            docs: rows,
            hits: commit.hits,
            bytes,
            ids: section(Kind::Ids, per_row)?,
            row_ends: section(Kind::RowEnds, per_row)?,
            row_bytes: section(Kind::Rows, None)?,
            forward_ends: section(Kind::ForwardEnds, per_row)?,
            forward_bytes: section(Kind::Forward, None)?,
            word_hits: section(Kind::Hits, None)?,
            numbers: number_sections(&commit, &section)?,
            index: open_index(disk, path, sealed, rows)
                .map_err(|error| folder::unwrap_tantivy(&terms_path, &error))?,
            rows: file,
            terms_path,
            id_first: 0,
            id_last: 0,
        };
        segment.id_first = segment.id(0)?;
        segment.id_last = segment.id(rows - 1)?;
        Ok(segment)
    }

    /// Rows, deleted ones included.
    pub(crate) fn rows(&self) -> u32 {
        self.docs
    }

    /// Words, every occurrence counted, deleted rows included.
    pub(crate) fn hits(&self) -> u64 {
        self.hits
    }

    /// Bytes in files, those of deleted rows' lists excluded.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The id of a row.
    pub(crate) fn id(&self, doc: u32) -> Result<u64> {
        self.rows.number(self.ids.start as usize, doc as usize)
    }

    /// The row of an id, deleted or not. Cost: a logarithm of the rows.
    pub(crate) fn find(&self, id: u64) -> Result<Option<u32>> {
        if !(self.id_first..=self.id_last).contains(&id) {
            return Ok(None);
        }
        let doc = self.first_at(id, 0)?;
        Ok((doc < self.docs && self.id(doc)? == id).then_some(doc))
    }

    /// Calls `visit` with the rows of all these ids (sorted), deleted or not. Cost: stepping through the shorter of both.
    pub(crate) fn find_all(&self, ids: &[u64], visit: &mut impl FnMut(u32)) -> Result<()> {
        let ids = &ids[ids.partition_point(|id| *id < self.id_first)..];
        let mut doc = 0;
        for id in &ids[..gallop(ids, |id| *id <= self.id_last)] {
            doc = self.first_at(*id, doc)?;
            if self.id(doc)? == *id {
                visit(doc);
            }
        }
        Ok(())
    }

    /// The first row from `doc` on whose id is not below `id`.
    fn first_at(&self, id: u64, doc: u32) -> Result<u32> {
        let mut step = 1;
        while doc + step <= self.docs && self.id(doc + step - 1)? < id {
            step *= 2;
        }
        let (mut start, mut end) = (doc + step / 2, (doc + step).min(self.docs));
        while start < end {
            let middle = start + (end - start) / 2;
            if self.id(middle)? < id {
                start = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(start)
    }

    /// An encoded row.
    pub(crate) fn row(&self, doc: u32) -> Result<&[u8]> {
        self.slice(self.row_ends, self.row_bytes, doc)
    }

    /// A column's value without the row; `None` for a column that is not kept as numbers.
    pub(crate) fn number(&self, doc: u32, column: usize) -> Result<Option<Value>> {
        let Some(section) = self.numbers.get(column).copied().flatten() else {
            return Ok(None);
        };
        let bits = self.rows.number(section.start as usize, doc as usize)?;
        Ok(Some(match section.kind {
            Kind::Floats(_) => Value::Float(f64::from_bits(bits)),
            _ => Value::Int(i128::from(bits.cast_signed())),
        }))
    }

    /// A row's distinct words with their counts, sorted by word.
    pub(crate) fn forward(&self, doc: u32) -> Result<Vec<WordCount>> {
        let bytes = self.slice(self.forward_ends, self.forward_bytes, doc)?;
        forward::decode(bytes).ok_or_else(|| {
            self.rows
                .corrupt(self.forward_bytes.start as usize, "not a forward list")
        })
    }

    /// A word of the dictionary.
    pub(crate) fn word(&self, text: &str) -> Result<Option<SegmentWord>> {
        let terms = self.index.terms();
        let lookup = || match terms.term_ord(text)? {
            Some(number) => Ok(terms.get(text)?.map(|info| (number, info))),
            None => Ok(None),
        };
        let found = lookup().map_err(|error| folder::unwrap_error(&self.terms_path, &error))?;
        Ok(found.map(|(number, info)| SegmentWord {
            number: number as u32,
            info,
        }))
    }

    /// Calls `visit` with every word of the dictionary that begins so.
    pub(crate) fn each_word(&self, prefix: &str, visit: &mut dyn FnMut(&str)) -> Result<()> {
        let failed = |error: &io::Error| folder::unwrap_error(&self.terms_path, error);
        let range = self.index.terms().range().ge(prefix);
        let mut words = range.into_stream().map_err(|error| failed(&error))?;
        while words.advance() {
            match std::str::from_utf8(words.key()) {
                Ok(word) if word.starts_with(prefix) => visit(word),
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    /// Rows and occurrences of a word, deleted rows included.
    pub(crate) fn frequency(&self, word: &SegmentWord) -> Result<Frequency> {
        let hits = self
            .rows
            .number(self.word_hits.start as usize, word.number as usize)?;
        Ok(Frequency {
            documents: u64::from(word.info.doc_freq),
            hits,
        })
    }

    /// The rows of a word; with `positions`, also where it stands in them.
    pub(crate) fn postings(&self, word: &SegmentWord, positions: bool) -> Result<SegmentPostings> {
        let option = match positions {
            true => IndexRecordOption::WithFreqsAndPositions,
            false => IndexRecordOption::WithFreqs,
        };
        self.index
            .read_postings_from_terminfo(&word.info, option)
            .map(SegmentPostings::new)
            .map_err(|error| folder::unwrap_error(&self.terms_path, &error))
    }

    /// The `doc`-th of the stretches that lie one behind the other in `content`.
    fn slice(&self, ends: Section, content: Section, doc: u32) -> Result<&[u8]> {
        let end_of = |doc: u32| self.rows.number(ends.start as usize, doc as usize);
        let start = if doc == 0 { 0 } else { end_of(doc - 1)? };
        let end = end_of(doc)?;
        if start > end || end > content.bytes {
            return Err(self
                .rows
                .corrupt(ends.start as usize + 8 * doc as usize, "ends do not rise"));
        }
        self.rows.range(
            (content.start + start) as usize,
            (content.start + end) as usize,
        )
    }
}

/// The sections of numeric columns, by column.
fn number_sections(
    commit: &Commit,
    section: &impl Fn(Kind, Option<u64>) -> Result<Section>,
) -> Result<Vec<Option<Section>>> {
    let mut numbers = Vec::new();
    for listed in &commit.sections {
        if let Kind::Integers(column) | Kind::Floats(column) = listed.kind {
            let column = usize::from(column);
            numbers.resize(numbers.len().max(column + 1), None);
            numbers[column] = Some(section(listed.kind, Some(u64::from(commit.rows)))?);
        }
    }
    Ok(numbers)
}

/// The schema of every segment: one text field with places, no norms, nothing stored.
fn schema() -> (Schema, Field) {
    let indexing = TextFieldIndexing::default()
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let mut schema = Schema::builder();
    let field = schema.add_text_field(TEXT, TextOptions::default().set_indexing_options(indexing));
    (schema.build(), field)
}

/// tantivy's handle of the only segment in a folder. Its identity there is fixed: the folder has one segment.
fn tantivy_segment(folder: Folder, rows: u32) -> tantivy::Result<TantivySegment> {
    let index = Index::create(folder, schema().0, IndexSettings::default())?;
    let id = SegmentId::from_uuid_string(&"0".repeat(32));
    let id = id.map_err(|error| tantivy::TantivyError::InternalError(error.to_string()))?;
    let meta = index.new_segment_meta(id, rows);
    Ok(index.segment(meta))
}

fn open_index(
    disk: &Arc<dyn Disk>,
    path: &str,
    sealed: HashMap<&'static str, Arc<CheckedFile>>,
    rows: u32,
) -> tantivy::Result<Arc<InvertedIndexReader>> {
    use tantivy::columnar::ColumnarWriter;
    use tantivy::directory::{CompositeWrite, TerminatingWrite};

    let folder = Folder::for_reading(Arc::clone(disk), path.to_owned(), sealed);
    let segment = tantivy_segment(folder, rows)?;
    // What tantivy expects beside the kept files, empty: norms, columns, stored documents.
    CompositeWrite::wrap(segment.open_write(SegmentComponent::FieldNorms)?).close()?;
    let mut columns = segment.open_write(SegmentComponent::FastFields)?;
    ColumnarWriter::default().serialize(rows, None, &mut columns)?;
    columns.terminate()?;
    segment.open_write(SegmentComponent::Store)?.terminate()?;
    SegmentReader::open(&segment)?.inverted_index(schema().1)
}
