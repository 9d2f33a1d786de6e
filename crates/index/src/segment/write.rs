//! Writes a segment: its words one by one, its rows, then the commit that makes it a segment.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use disk::Disk;
use language::analysis::Analyzer;
use relation::value::Value;

use super::checked::{BLOCK_BYTES, CheckedFile, SummedWriter, Sums};
use super::commit::{Commit, FORMAT_VERSION, Kind, Section};
use super::dictionary::DictionaryWriter;
use super::file_names::{COMMIT, DICTIONARY, POSITIONS, POSTINGS, ROWS, WORDS};
use super::forward_codes::CommonCodes;
use super::packing::Packing;
use super::paths::Path;
use super::row_source::RowSource;
use super::words::WordsWriter;
use super::{forward, ids, keys, packed, pairs, paths, stretches, text_list};
use crate::error::{Error, Result};
use crate::postings::{List, ListForm, ListWriter, PAGE_ROWS};

/// Facts of a new segment that are known before its content.
#[derive(Clone, Copy)]
pub(super) struct Head {
    /// Rows; at least 1.
    pub(super) rows: u32,
    /// Text columns of the table.
    pub(super) fields: u8,
    /// Last journal record whose rows may be in it.
    pub(super) position: u64,
    /// Whether [`SegmentWriter::pairs`] will be called.
    pub(super) has_pairs: bool,
}

/// A segment that is being written.
pub(super) struct SegmentWriter<'a> {
    disk: &'a Arc<dyn Disk>,
    path: &'a str,
    head: Head,
    dictionary: DictionaryWriter,
    words: WordsWriter,
    postings: SummedWriter,
    positions: SummedWriter,
    /// Lists of the current word.
    postings_of_word: Vec<u8>,
    positions_of_word: Vec<u8>,
    hits: u64,
    /// The words that may be in pairs: their numbers, and where their lists are.
    of_pairs: (Vec<u32>, Vec<[Range<usize>; 2]>),
    sections: Vec<Section>,
}

impl<'a> SegmentWriter<'a> {
    /// Creates the directory `path`, which must not exist, and its files. Errors: `Io`, as all
    /// below; also those of the source of rows.
    pub(super) fn create(disk: &'a Arc<dyn Disk>, path: &'a str, head: Head) -> Result<Self> {
        disk.create_dir(path)
            .map_err(|error| Error::io(path, error))?;
        let create = |name: &str| {
            let path = format!("{path}/{name}");
            SummedWriter::create(&**disk, &path).map_err(|error| Error::io(path, error))
        };
        Ok(SegmentWriter {
            disk,
            path,
            head,
            dictionary: DictionaryWriter::new(create(DICTIONARY)?),
            words: WordsWriter::new(create(WORDS)?),
            postings: create(POSTINGS)?,
            positions: create(POSITIONS)?,
            postings_of_word: Vec::new(),
            positions_of_word: Vec::new(),
            hits: 0,
            of_pairs: Default::default(),
            sections: Vec::new(),
        })
    }

    /// Adds a word, which must be above the word before. `fill` pushes its rows, at least one. The
    /// word's number is that of the words added before.
    pub(super) fn word(
        &mut self,
        text: &[u8],
        fill: impl FnOnce(&mut ListWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        self.postings_of_word.clear();
        self.positions_of_word.clear();
        let mut list = ListWriter::new(
            self.head.rows,
            self.head.fields > 1,
            &mut self.postings_of_word,
            &mut self.positions_of_word,
        );
        fill(&mut list)?;
        let entry = list.finish();
        let (documents, hits) = (entry.documents, entry.hits);
        self.hits += hits;
        let (postings, positions) = (&self.postings_of_word, &self.positions_of_word);
        if self.head.has_pairs && documents >= pairs::WORD_ROWS && pairs::is_bare(text) {
            let place = |writer: &SummedWriter, bytes: usize| {
                let start = writer.position() as usize;
                start..start + bytes
            };
            let (numbers, lists) = &mut self.of_pairs;
            numbers.push(self.dictionary.words());
            lists.push([
                place(&self.postings, postings.len()),
                place(&self.positions, positions.len()),
            ]);
        }
        let mut write = || {
            self.dictionary.push(text)?;
            self.words
                .push(documents, hits, postings.len(), positions.len())?;
            self.postings.write_all(postings)?;
            self.positions.write_all(positions)
        };
        write().map_err(|error| Error::io(self.path, error))
    }

    /// Writes the pairs of the words, all of which were added. `check` says whether to stop. Errors: `Corrupt`; those of `check`.
    pub(super) fn pairs(&mut self, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let (words, places) = std::mem::take(&mut self.of_pairs);
        if words.is_empty() {
            return Ok(());
        }
        let failed = |error| Error::io(self.path, error);
        begin_block(&mut self.positions).map_err(failed)?; // so that damage takes no word with it
        let open = |name: &str, writer: &mut SummedWriter| {
            let sums = writer.write_out().map_err(failed)?;
            CheckedFile::open(&**self.disk, format!("{}/{name}", self.path), sums)
        };
        let postings = open(POSTINGS, &mut self.postings)?;
        let positions = open(POSITIONS, &mut self.positions)?;
        let Head { rows, fields, .. } = self.head;
        let list = |at: usize| {
            let [of_postings, of_positions] = &places[at];
            let bytes = postings.range(of_postings.start, of_postings.end)?;
            let of_positions = positions.range(of_positions.start, of_positions.end)?;
            let list = List::open((rows, ListForm::Narrow), fields > 1, bytes, of_positions);
            list.ok_or_else(|| postings.corrupt(of_postings.start, "not a list of rows"))
        };
        let lists = pairs::WordLists {
            rows,
            hits: self.hits,
            fields,
            words: &words,
            list: &list,
            check,
        };
        let start = self.positions.position();
        let writer = &mut self.positions;
        pairs::write(&lists, &mut |bytes| writer.write_all(bytes).map_err(failed))?;
        let bytes = self.positions.position() - start;
        self.sections.push(Section {
            kind: Kind::Pairs,
            start,
            bytes,
        });
        Ok(())
    }

    /// Syncs the files, then writes and syncs the commit and the directory. All is durable but the
    /// directory's own name.
    pub(super) fn finish(self, mut rows: WrittenRows) -> Result<()> {
        rows.sections.extend(&self.sections);
        let SegmentWriter {
            disk, path, head, ..
        } = self;
        let words = self.dictionary.words();
        let close = || {
            let mut files = vec![(DICTIONARY.to_owned(), self.dictionary.close()?.finish()?)];
            let rest = [
                (WORDS, self.words.close()?),
                (POSTINGS, self.postings),
                (POSITIONS, self.positions),
            ];
            for (name, mut writer) in rest {
                files.push((name.to_owned(), writer.finish()?));
            }
            Ok(files)
        };
        let files: io::Result<Vec<(String, Sums)>> = close();
        let mut files = files.map_err(|error| Error::io(path, error))?;
        files.insert(0, (ROWS.to_owned(), rows.sums));
        let commit = Commit {
            format: FORMAT_VERSION,
            position: head.position,
            analysis: Analyzer::version(),
            rows: head.rows,
            words,
            fields: head.fields,
            hits: self.hits,
            sections: rows.sections,
            files,
        };
        let write_commit = |path: &str| {
            let file = disk.create(path)?;
            file.write_at(0, &disk::in_two_copies(&commit.encode()))?;
            file.sync()
        };
        let commit_path = format!("{path}/{COMMIT}");
        write_commit(&commit_path).map_err(|error| Error::io(commit_path, error))?;
        disk.sync_dir(path).map_err(|error| Error::io(path, error))
    }
}

/// The form of rows and forward lists that a merge writes.
pub(super) struct MergedForm<'c> {
    pub(super) packing: Packing,
    /// The codes of words; waits until words are written.
    pub(super) codes: &'c (dyn Fn() -> Result<&'c CommonCodes> + Sync),
}

/// The file `rows`, written and synced.
pub(super) struct WrittenRows {
    sums: Sums,
    sections: Vec<Section>,
}

/// Writes the file `rows` in a directory that [`SegmentWriter::create`] has made. Another thread
/// may write the words at the same time. `keyed`: the columns with a KEY; `merged`: packs rows and
/// forward lists, `None` for a seal.
pub(super) fn write_rows(
    disk: &Arc<dyn Disk>,
    path: &str,
    (rows, keyed): (u32, &[u16]),
    source: &dyn RowSource,
    merged: Option<&MergedForm<'_>>,
) -> Result<WrittenRows> {
    let path = format!("{path}/{ROWS}");
    let failed = |error| Error::io(path.as_str(), error);
    let mut out = RowsWriter {
        writer: SummedWriter::create(&**disk, &path).map_err(failed)?,
        path: &path,
        rows,
        sections: Vec::new(),
    };
    out.ids(source)?;
    for column in 0..column_count(source)? {
        out.numeric_column(column, source)?;
    }
    let lengths = (0..rows).map(|doc| source.length_class(doc));
    let lengths = lengths.collect::<Result<Vec<u8>>>()?;
    out.section(Kind::Lengths, |writer| {
        writer.write_all(&lengths).map_err(failed)
    })?;
    match merged {
        None => {
            out.rows(source)?;
            out.forward_lists(source, None)?;
        }
        Some(merged) => {
            out.packed_rows(&merged.packing, source)?;
            let codes = (merged.codes)()?;
            out.bytes(Kind::CommonWords, &codes.encode())?;
            out.forward_lists(source, Some(codes))?;
            out.dictionaries(&merged.packing)?; // their second copy
        }
    }
    if !keyed.is_empty() {
        out.begin_block()?; // so that a damaged key takes no row with it
    }
    for column in keyed {
        out.key(*column, source)?;
    }
    for column in 0..column_count(source)? {
        out.text_list(column, source)?;
    }
    let paths = paths::chosen(source, rows, column_count(source)?)?;
    out.paths(paths, source)?;
    Ok(WrittenRows {
        sums: out.writer.finish().map_err(failed)?,
        sections: out.sections,
    })
}

/// Writes zeroes up to the next block under a checksum.
fn begin_block(writer: &mut SummedWriter) -> io::Result<()> {
    let behind = writer.position() % BLOCK_BYTES as u64;
    match behind {
        0 => Ok(()),
        behind => writer.write_all(&vec![0; BLOCK_BYTES - behind as usize]),
    }
}

fn column_count(source: &dyn RowSource) -> Result<u16> {
    Ok(source.columns(0)?.column_count())
}

/// The file `rows` while it is written, section by section.
pub(super) struct RowsWriter<'a> {
    writer: SummedWriter,
    path: &'a str,
    rows: u32,
    sections: Vec<Section>,
}

impl RowsWriter<'_> {
    /// Writes one section and notes its place.
    fn section(
        &mut self,
        kind: Kind,
        content: impl FnOnce(&mut SummedWriter) -> Result<()>,
    ) -> Result<()> {
        let start = self.writer.position();
        content(&mut self.writer)?;
        let bytes = self.writer.position() - start;
        self.sections.push(Section { kind, start, bytes });
        Ok(())
    }

    /// Writes the ids, a section for each page.
    fn ids(&mut self, source: &dyn RowSource) -> Result<()> {
        let (mut ids, mut bytes) = (Vec::new(), Vec::new());
        for (first, page) in (0..self.rows).step_by(PAGE_ROWS as usize).zip(0..) {
            ids.clear();
            bytes.clear();
            for doc in first..self.rows.min(first + PAGE_ROWS) {
                ids.push(source.id(doc)?);
            }
            ids::encode(&ids, &mut bytes);
            self.bytes(Kind::PackedIds(page), &bytes)?;
        }
        Ok(())
    }

    /// Writes a section of one 8-byte number for each row.
    fn numbers(&mut self, kind: Kind, number: impl Fn(u32) -> Result<u64>) -> Result<()> {
        let (path, rows) = (self.path, self.rows);
        self.section(kind, |writer| {
            for doc in 0..rows {
                let number = number(doc)?.to_le_bytes();
                let written = writer.write_all(&number);
                written.map_err(|error| Error::io(path, error))?;
            }
            Ok(())
        })
    }

    /// Writes a section of one integer for each row, in pages.
    fn packed(&mut self, kind: Kind, numbers: &[i64]) -> Result<()> {
        let mut bytes = Vec::new();
        packed::encode(numbers, &mut bytes);
        self.bytes(kind, &bytes)
    }

    /// Writes a section of one byte string for each row, and a section of their ends.
    pub(super) fn stretches(
        &mut self,
        kind: Kind,
        ends_kind: Kind,
        mut append: impl FnMut(u32, &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let (path, rows) = (self.path, self.rows);
        let mut ends = Vec::with_capacity(rows as usize);
        self.section(kind, |writer| {
            let start = writer.position();
            let mut bytes = Vec::new();
            for doc in 0..rows {
                bytes.clear();
                append(doc, &mut bytes)?;
                let written = writer.write_all(&bytes);
                written.map_err(|error| Error::io(path, error))?;
                ends.push(writer.position() - start);
            }
            Ok(())
        })?;
        if matches!(ends_kind, Kind::GroupedEnds(_)) {
            return self.bytes(ends_kind, &stretches::group(&ends));
        }
        self.numbers(ends_kind, |doc| Ok(ends[doc as usize]))
    }

    /// Writes a section of these bytes.
    pub(super) fn bytes(&mut self, kind: Kind, bytes: &[u8]) -> Result<()> {
        let path = self.path;
        self.section(kind, |writer| {
            let written = writer.write_all(bytes);
            written.map_err(|error| Error::io(path, error))
        })
    }

    /// Writes rows as their seal has them.
    fn rows(&mut self, source: &dyn RowSource) -> Result<()> {
        self.stretches(Kind::Rows, Kind::RowEnds, |doc, bytes| {
            bytes.extend_from_slice(&source.columns(doc)?.encoded()?);
            Ok(())
        })
    }

    /// Writes the forward lists, in codes if there are any.
    fn forward_lists(&mut self, source: &dyn RowSource, codes: Option<&CommonCodes>) -> Result<()> {
        let (kind, ends_kind) = match codes {
            None => (Kind::Forward, Kind::ForwardEnds),
            Some(_) => (Kind::PackedForward, Kind::GroupedEnds(1)),
        };
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        self.stretches(kind, ends_kind, |doc, bytes| {
            words.clear();
            ends.clear();
            source.forward(doc, &mut words)?;
            let are_known = source.text_ends(doc, &mut ends)?;
            forward::encode_ends(are_known.then_some(&ends), bytes);
            match codes {
                None => forward::encode(&words, bytes),
                Some(codes) => codes.append(&mut words, bytes),
            }
            Ok(())
        })
    }

    /// As [`begin_block`].
    fn begin_block(&mut self) -> Result<()> {
        let begun = begin_block(&mut self.writer);
        begun.map_err(|error| Error::io(self.path, error))
    }

    /// Begins a block for the first section that only repeats what the rows say, so that its damage takes no row with it.
    fn begin_copies(&mut self) -> Result<()> {
        match self.sections.last() {
            Some(section) if section.kind.is_copy() => Ok(()),
            _ => self.begin_block(),
        }
    }

    /// Writes the key of a column; see [`super::keys`]. Nothing if a row has no such column.
    fn key(&mut self, column: u16, source: &dyn RowSource) -> Result<()> {
        let Some(pairs) = keys::pairs(source, self.rows, column)? else {
            return Ok(());
        };
        let path = self.path;
        let failed = |error| Error::io(path, error);
        self.section(Kind::KeyCodes(column), |writer| {
            let mut pairs = pairs.iter();
            pairs.try_for_each(|(code, _)| writer.write_all(&code.to_le_bytes()).map_err(failed))
        })?;
        self.section(Kind::KeyDocs(column), |writer| {
            let mut pairs = pairs.iter();
            pairs.try_for_each(|(_, doc)| writer.write_all(&doc.to_le_bytes()).map_err(failed))
        })
    }

    /// Writes the list of a column's texts; see [`super::text_list`]. Nothing for a column that is not worth one.
    fn text_list(&mut self, column: u16, source: &dyn RowSource) -> Result<()> {
        let Some((places, texts)) = text_list::chosen(source, self.rows, column)? else {
            return Ok(());
        };
        self.begin_copies()?;
        self.packed(Kind::TextPlaces(column), &places)?;
        self.bytes(Kind::Texts(column), &texts)
    }

    /// Writes the numbers at paths of documents; see [`super::paths`]. Nothing for a path that has another value in a row.
    fn paths(&mut self, chosen: Vec<Path>, source: &dyn RowSource) -> Result<()> {
        let mut kept = Vec::new();
        if !chosen.is_empty() {
            self.begin_copies()?;
        }
        for path in chosen {
            let Some((numbers, present)) = paths::numbers(source, self.rows, &path)? else {
                continue;
            };
            let at = kept.len() as u16; // at most `COLUMNS_MAX` × `PATHS_MAX`
            self.packed(Kind::PackedPathNumbers(at), &numbers)?;
            let counted: u32 = present.iter().map(|word| word.count_ones()).sum();
            if counted < self.rows {
                let words = present.iter();
                let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
                self.bytes(Kind::PathRows(at), &bytes)?;
            }
            kept.push(path);
        }
        if kept.is_empty() {
            return Ok(());
        }
        self.bytes(Kind::Paths(paths::NUMBERS_ALONE), &paths::encode(&kept))
    }

    /// Writes a column that is all integers (of 64 bits) or all floats; nothing for any other
    /// column.
    fn numeric_column(&mut self, column: u16, source: &dyn RowSource) -> Result<()> {
        let integer = |value| match value {
            Value::Int(number) => i64::try_from(number).ok(),
            _ => None,
        };
        let float = |value| match value {
            Value::Float(number) => Some(number.to_bits()),
            _ => None,
        };
        if let Some(numbers) = numbers_of(self.rows, source, column, &integer)? {
            return self.packed(Kind::PackedIntegers(column), &numbers);
        }
        match numbers_of(self.rows, source, column, &float)? {
            Some(numbers) => self.numbers(Kind::Floats(column), |doc| Ok(numbers[doc as usize])),
            None => Ok(()),
        }
    }
}

/// A column's numbers as 64 bits; `None` if a row has no such number.
fn numbers_of<N>(
    rows: u32,
    source: &dyn RowSource,
    column: u16,
    bits: &dyn Fn(Value) -> Option<N>,
) -> Result<Option<Vec<N>>> {
    let mut numbers = Vec::new();
    for doc in 0..rows {
        let number = source.columns(doc)?.number(usize::from(column));
        match number.and_then(bits) {
            Some(bits) => numbers.push(bits),
            None => return Ok(None),
        }
    }
    Ok(Some(numbers))
}
