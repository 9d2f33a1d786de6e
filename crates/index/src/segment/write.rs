//! A frozen tail becomes the files of a segment.
//!
//! Words are never analysed again: tantivy's serializer is given the tail's postings, word by word in the order of the
//! dictionary, with the rows renumbered by rising id.

use std::io::{self, Write};
use std::sync::Arc;

use disk::Disk;
use query::analysis::Analyzer;
use query::value::Value;
use roaring::RoaringBitmap;
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};

use super::checked::{SummedWriter, Sums};
use super::commit::{Commit, Kind, Section};
use super::folder::{self, Folder};
use super::{COMMIT, ROWS, forward, schema, tantivy_segment};
use crate::error::{Error, Result};
use crate::removed::WordCount;
use crate::row;
use crate::tail::{Chunk, Tail, TailRow};

/// A row that goes nowhere because it was deleted, in [`Renumbered::docs`].
const GONE: u32 = u32::MAX;

/// The live rows of a tail in the order of a segment.
struct Renumbered {
    /// By doc.
    rows: Vec<Arc<TailRow>>,
    /// By ordinal: the doc, or [`GONE`].
    docs: Vec<u32>,
}

/// The words of the live rows in the order of a dictionary.
#[derive(Default)]
struct Ordered {
    /// By place: the number in the tail's dictionary.
    words: Vec<u32>,
    /// By number in the tail's dictionary: the place. Words of deleted rows only have none.
    places: Vec<u32>,
}

/// Writes the live rows of a tail into the directory `path`, which must not exist, and makes all of it durable, but for the
/// directory's own name. Gives the docs by ordinal. The tail must have a live row. Errors: `Io`.
pub(crate) fn write_segment(
    disk: &Arc<dyn Disk>,
    path: &str,
    tail: &Tail,
    deleted: &RoaringBitmap,
    position: u64,
) -> Result<Vec<u32>> {
    disk.create_dir(path)
        .map_err(|error| Error::io(path, error))?;
    let whole = Chunk::merge(tail.chunks());
    let renumbered = renumber(tail, deleted);
    let ordered = order_words(tail, &whole, &renumbered);
    let postings = PostingsWriter {
        tail,
        whole: &whole,
        renumbered: &renumbered,
        ordered: &ordered,
    };
    let WrittenPostings { mut files, hits } = postings.write(disk, path)?;
    let (sums, sections) = write_rows(disk, path, &renumbered, &ordered, &hits)?;
    files.insert(0, (ROWS.to_owned(), sums));
    let commit = Commit {
        position,
        analysis: Analyzer::version(),
        rows: renumbered.rows.len() as u32,
        hits: hits.iter().sum(),
        sections,
        files,
    };
    let write_commit = |path: &str| {
        let file = disk.create(path)?;
        file.write_at(0, &commit.encode())?;
        file.sync()
    };
    let commit_path = format!("{path}/{COMMIT}");
    write_commit(&commit_path).map_err(|error| Error::io(commit_path, error))?;
    disk.sync_dir(path)
        .map_err(|error| Error::io(path, error))?;
    Ok(renumbered.docs)
}

fn renumber(tail: &Tail, deleted: &RoaringBitmap) -> Renumbered {
    let rows = tail.chunks().iter().flat_map(|chunk| &chunk.rows);
    let mut live: Vec<(u64, u32, &Arc<TailRow>)> = (0..)
        .zip(rows)
        .filter(|(ordinal, _)| !deleted.contains(*ordinal))
        .map(|(ordinal, row)| (row.id, ordinal, row))
        .collect();
    live.sort_unstable_by_key(|(id, ordinal, _)| (*id, *ordinal));
    let mut docs = vec![GONE; tail.rows() as usize];
    for ((_, ordinal, _), doc) in live.iter().zip(0..) {
        docs[*ordinal as usize] = doc;
    }
    Renumbered {
        rows: live
            .into_iter()
            .map(|(_, _, row)| Arc::clone(row))
            .collect(),
        docs,
    }
}

fn order_words(tail: &Tail, whole: &Chunk, renumbered: &Renumbered) -> Ordered {
    let is_live = |ordinal: &u32| renumbered.docs[*ordinal as usize] != GONE;
    let live = whole
        .lists()
        .filter(|(_, list)| list.ordinals.iter().any(is_live));
    let mut words: Vec<u32> = live.map(|(word, _)| word).collect();
    let dictionary = tail.dictionary.read();
    words.sort_unstable_by(|a, b| dictionary.text_of(*a).cmp(dictionary.text_of(*b)));
    let mut places = vec![GONE; words.iter().max().map_or(0, |word| *word as usize + 1)];
    for (word, place) in words.iter().zip(0..) {
        places[*word as usize] = place;
    }
    Ordered { words, places }
}

/// tantivy's files as they were written.
struct WrittenPostings {
    /// Names and sums.
    files: Vec<(String, Sums)>,
    /// By place in the dictionary: the occurrences of the word.
    hits: Vec<u64>,
}

/// What is needed to write tantivy's files.
struct PostingsWriter<'a> {
    tail: &'a Tail,
    whole: &'a Chunk,
    renumbered: &'a Renumbered,
    ordered: &'a Ordered,
}

impl PostingsWriter<'_> {
    fn write(&self, disk: &Arc<dyn Disk>, path: &str) -> Result<WrittenPostings> {
        let folder = Folder::for_writing(Arc::clone(disk), path.to_owned());
        let error = |error: &tantivy::TantivyError| folder::unwrap_tantivy(path, error);
        let segment = tantivy_segment(folder.clone(), 0).map_err(|e| error(&e))?;
        let mut serializer = InvertedIndexSerializer::open(&segment).map_err(|e| error(&e))?;
        let hits: u64 = self.renumbered.rows.iter().map(|row| words_of(row)).sum();
        let mut write = || {
            let mut field = serializer.new_field(schema().1, hits, None)?;
            let hits = self.write_words(&mut field)?;
            field.close()?;
            Ok(hits)
        };
        let hits = write().and_then(|hits| serializer.close().map(|()| hits));
        let hits = hits.map_err(|error| folder::unwrap_error(path, &error))?;
        let named = |(name, sums): (&str, Sums)| (name.to_owned(), sums);
        let files = folder.take_written().into_iter().map(named).collect();
        Ok(WrittenPostings { files, hits })
    }

    fn write_words(&self, field: &mut FieldSerializer<'_>) -> io::Result<Vec<u64>> {
        let dictionary = self.tail.dictionary.read();
        let mut hits = Vec::with_capacity(self.ordered.words.len());
        let mut rows: Vec<(u32, usize)> = Vec::new();
        let mut distances = Vec::new();
        for word in &self.ordered.words {
            let Some(list) = self.whole.list(*word) else {
                continue;
            };
            rows.clear();
            let docs = list
                .ordinals
                .iter()
                .map(|ordinal| self.renumbered.docs[*ordinal as usize]);
            rows.extend(docs.zip(0..).filter(|(doc, _)| *doc != GONE));
            rows.sort_unstable();
            field.new_term(dictionary.text_of(*word), rows.len() as u32, true)?;
            let mut word_hits = 0;
            for (doc, at) in &rows {
                let mut before = 0;
                distances.clear();
                distances.extend(
                    list.positions(*at)
                        .iter()
                        .map(|position| position - std::mem::replace(&mut before, *position)),
                );
                word_hits += distances.len() as u64;
                field.write_doc(*doc, distances.len() as u32, &distances);
            }
            field.close_term()?;
            hits.push(word_hits);
        }
        Ok(hits)
    }
}

fn words_of(row: &TailRow) -> u64 {
    row.words.iter().map(|word| u64::from(word.hits)).sum()
}

/// Writes the file `rows`.
fn write_rows(
    disk: &Arc<dyn Disk>,
    path: &str,
    renumbered: &Renumbered,
    ordered: &Ordered,
    hits: &[u64],
) -> Result<(Sums, Vec<Section>)> {
    let path = format!("{path}/{ROWS}");
    let rows = &renumbered.rows;
    let mut forward_bytes = Vec::new();
    let mut forward_ends = Vec::with_capacity(rows.len());
    for row in rows {
        forward::encode(&renumber_words(row, ordered), &mut forward_bytes);
        forward_ends.push(forward_bytes.len() as u64);
    }
    let row_ends = rows.iter().scan(0, |end, row| {
        *end += row.columns.len() as u64;
        Some(*end)
    });
    let write = || {
        let mut out = RowsWriter {
            writer: SummedWriter::create(&**disk, &path)?,
            sections: Vec::new(),
        };
        out.numbers(Kind::Ids, rows.iter().map(|row| row.id))?;
        out.numbers(Kind::RowEnds, row_ends)?;
        out.numbers(Kind::ForwardEnds, forward_ends)?;
        out.numbers(Kind::Hits, hits.iter().copied())?;
        for (kind, column) in numeric_columns(rows) {
            out.numbers(kind, column)?;
        }
        out.section(Kind::Rows, |writer| {
            rows.iter()
                .try_for_each(|row| writer.write_all(&row.columns))
        })?;
        out.section(Kind::Forward, |writer| writer.write_all(&forward_bytes))?;
        Ok((out.writer.finish()?, out.sections))
    };
    write().map_err(|error| Error::io(path.as_str(), error))
}

/// A row's words by their place in the dictionary.
fn renumber_words(row: &TailRow, ordered: &Ordered) -> Vec<WordCount> {
    let place = |word: &WordCount| WordCount {
        word: ordered.places[word.word as usize],
        hits: word.hits,
    };
    let mut words: Vec<WordCount> = row.words.iter().map(place).collect();
    words.sort_unstable_by_key(|word| word.word);
    words
}

/// The columns that are all integers (of 64 bits) or all floats, as bits.
fn numeric_columns(rows: &[Arc<TailRow>]) -> Vec<(Kind, Vec<u64>)> {
    let count = |row: &Arc<TailRow>| row::column_count(&row.columns);
    let columns = rows.first().and_then(count).unwrap_or(0) as u16;
    let numeric = |column| {
        let integers = numbers_of(rows, column, &|value| match value {
            Value::Int(number) => i64::try_from(number).ok().map(i64::cast_unsigned),
            _ => None,
        });
        let floats = || {
            numbers_of(rows, column, &|value| match value {
                Value::Float(number) => Some(number.to_bits()),
                _ => None,
            })
        };
        match integers {
            Some(integers) => Some((Kind::Integers(column), integers)),
            None => Some((Kind::Floats(column), floats()?)),
        }
    };
    (0..columns).filter_map(numeric).collect()
}

/// A column's numbers as bits, if it has such bits in every row.
fn numbers_of(
    rows: &[Arc<TailRow>],
    column: u16,
    bits: &dyn Fn(Value) -> Option<u64>,
) -> Option<Vec<u64>> {
    let number = |row: &Arc<TailRow>| row::decode_number(&row.columns, usize::from(column));
    rows.iter().map(|row| number(row).and_then(bits)).collect()
}

/// The file `rows` being written, section by section.
struct RowsWriter {
    writer: SummedWriter,
    sections: Vec<Section>,
}

impl RowsWriter {
    fn numbers(&mut self, kind: Kind, numbers: impl IntoIterator<Item = u64>) -> io::Result<()> {
        let mut numbers = numbers.into_iter();
        self.section(kind, |writer| {
            numbers.try_for_each(|number| writer.write_all(&number.to_le_bytes()))
        })
    }

    fn section(
        &mut self,
        kind: Kind,
        content: impl FnOnce(&mut SummedWriter) -> io::Result<()>,
    ) -> io::Result<()> {
        let start = self.writer.position();
        content(&mut self.writer)?;
        let bytes = self.writer.position() - start;
        self.sections.push(Section { kind, start, bytes });
        Ok(())
    }
}
