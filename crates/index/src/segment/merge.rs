//! Merges several segments into one. No text is analysed: lists are written again from the old
//! lists.
//!
//! Example: segment 0 has ids 5 and 9, and the file of deleted rows has 5; segment 1 has id 7.
//!
//! ```text
//! new doc    0           1
//! row        id 7        id 9
//! docs       segment 0: [GONE, 1]     segment 1: [0]
//! ```
//!
//! Invariants: rows rise by id over all sources, words by their bytes. A word none of whose rows is
//! left gets no number, so numbers have no gaps.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use disk::Disk;

use super::dictionary::WordStream;
use super::forward_codes::CommonCodes;
use super::packing::Packing;
use super::reader::Segment;
use super::row_source::{RowSource, SourceRow};
use super::write::{Head, MergedForm, SegmentWriter, write_rows};
use crate::edits::Edits;
use crate::error::{Error, Result};
use crate::removed::WordCount;

/// New number of a row or word that is left behind.
pub(crate) const GONE: u32 = u32::MAX;

/// A source of a merge.
pub(crate) struct Source {
    pub(crate) segment: Arc<Segment>,
    /// The edits that the segment's files have: deleted rows are left behind, changed values are
    /// written into their rows.
    pub(crate) edits: Edits,
}

/// The result of a merge.
pub(crate) struct MergedRows {
    /// Rows of the new segment; if 0, nothing was written.
    pub(crate) rows: u32,
    /// By source and old doc: the new doc, or [`GONE`].
    pub(crate) docs: Vec<Vec<u32>>,
}

/// Writes the rows of all sources that are not deleted as a segment in the directory `path`, which
/// must not exist. All is durable on return but the directory's own name. `fields`: the table's
/// text columns; `keyed`: its columns with a KEY; `position`: the journal position of the files.
/// Runs on two threads. Memory: 32 bytes a row (48 with keys), the longest list, and a page of [`super::pairs`]. Errors: `Io`;
/// `Corrupt` of a source; `Stopped` soon after `stop` was set.
pub(crate) fn merge_segments(
    disk: &Arc<dyn Disk>,
    path: &str,
    sources: &[Source],
    form: MergeForm<'_>,
    (fields, keyed, position): (u8, &[u16], u64),
    stop: &AtomicBool,
) -> Result<MergedRows> {
    let merge = Merge::new(sources)?;
    let rows = merge.rows.len() as u32;
    if rows > 0 {
        let head = Head {
            rows,
            fields,
            position,
            has_pairs: matches!(form, MergeForm::Packed(_)),
        };
        let mut writer = SegmentWriter::create(disk, path, head)?;
        let segments = sources.iter().map(|source| &*source.segment);
        let (mut packing, numbers) = match form {
            MergeForm::Packed(like) => {
                Packing::new(segments, like).map(|(packing, numbers)| (Some(packing), numbers))?
            }
            MergeForm::Plain => (None, Vec::new()),
        };
        let when_numbered = OnceLock::new();
        let source = Stoppable {
            merge: &merge,
            numbers: &numbers,
            when_numbered: &when_numbered,
            stop,
        };
        // Rows are written while words are: packing takes about as long.
        let written = std::thread::scope(|scope| {
            let written = scope.spawn(|| {
                if let Some(packing) = &mut packing {
                    packing.train(rows, &source)?;
                }
                let codes = || numbered(&when_numbered).map(|numbered| &numbered.codes);
                let form = packing.map(|packing| MergedForm {
                    packing,
                    codes: &codes,
                });
                write_rows(disk, path, (rows, keyed), &source, form.as_ref())
            });
            let end = EndOfWords(&when_numbered);
            let words = merge.write_words(&mut writer, stop).map(|numbered| {
                let _ = when_numbered.set(Some(numbered)); // nobody else sets it
            });
            drop(end);
            let words = words.and_then(|()| writer.pairs(&|| check(stop)));
            let rows = written.join().unwrap_or_else(|panic| resume_unwind(panic));
            words.and(rows)
        })?;
        writer.finish(written)?;
    }
    Ok(MergedRows {
        rows,
        docs: merge.docs,
    })
}

/// The form of the rows of a merge, and whether it makes lists of pairs.
#[derive(Clone, Copy)]
pub(crate) enum MergeForm<'s> {
    /// Rows as seals write them, and no pairs. No source may be packed.
    Plain,
    /// Long texts packed, and pairs. With a segment of the table whose dictionary packs rows if no source has one.
    Packed(Option<&'s Segment>),
}

struct Merge<'a> {
    sources: &'a [Source],
    /// By new doc: source and old doc.
    rows: Vec<(u32, u32)>,
    /// By source and old doc: the new doc, or [`GONE`].
    docs: Vec<Vec<u32>>,
}

/// The words of the new segment, once they are all written.
struct Numbered {
    /// By source and old number: the new number, or [`GONE`].
    words: Vec<Vec<u32>>,
    codes: CommonCodes,
}

/// What the thread that writes words tells the one that writes rows. `None`: it failed.
type WhenNumbered = OnceLock<Option<Numbered>>;

/// The rows of one word, collected from all sources.
#[derive(Default)]
struct Gathered {
    /// New doc, length class, and the range of its places in `places`.
    rows: Vec<(u32, u8, usize, usize)>,
    places: Vec<u32>,
    of_row: Vec<u32>,
}

impl<'a> Merge<'a> {
    fn new(sources: &'a [Source]) -> Result<Merge<'a>> {
        let mut live = Vec::new();
        for (source, at) in sources.iter().zip(0..) {
            for doc in (0..source.segment.rows()).filter(|doc| !source.edits.deleted.contains(*doc))
            {
                live.push((source.segment.id(doc)?, at, doc));
            }
        }
        live.sort(); // sorted runs: the standard sort merges them
        let none = |source: &Source| vec![GONE; source.segment.rows() as usize];
        let mut docs: Vec<Vec<u32>> = sources.iter().map(none).collect();
        for ((_, at, doc), new) in live.iter().zip(0..) {
            docs[*at as usize][*doc as usize] = new;
        }
        Ok(Merge {
            sources,
            rows: live.into_iter().map(|(_, at, doc)| (at, doc)).collect(),
            docs,
        })
    }

    /// Writes the words of all sources in one pass, by rising bytes.
    fn write_words(&self, writer: &mut SegmentWriter<'_>, stop: &AtomicBool) -> Result<Numbered> {
        let sources = self.sources;
        let none = |source: &Source| vec![GONE; source.segment.dictionary.words() as usize];
        let mut words: Vec<Vec<u32>> = sources.iter().map(none).collect();
        let mut streams = Vec::with_capacity(sources.len());
        for (source, at) in sources.iter().zip(0..) {
            let mut stream = source.segment.dictionary.from(&[])?;
            if stream.advance()? {
                streams.push((at, stream));
            }
        }
        let (mut gathered, mut rows) = (Gathered::default(), Vec::new());
        let mut word = Vec::new();
        while let Some(lowest) = streams.iter().map(|(_, stream)| stream.word()).min() {
            check(stop)?;
            word.clear();
            word.extend_from_slice(lowest);
            gathered.clear();
            for (at, stream) in streams.iter().filter(|(_, stream)| stream.word() == word) {
                words[*at][stream.number() as usize] = rows.len() as u32;
                self.gather(*at, stream, &mut gathered)?;
            }
            if gathered.write(&word, writer)? {
                rows.push(gathered.rows.len() as u32);
            }
            let mut advanced = Ok(());
            streams.retain_mut(|(_, stream)| {
                if stream.word() != word {
                    return true;
                }
                stream.advance().unwrap_or_else(|error| {
                    advanced = Err(error);
                    false
                })
            });
            advanced?;
        }
        let codes = CommonCodes::new(&rows);
        Ok(Numbered { words, codes })
    }

    /// Adds the rows that a source has of its stream's current word.
    fn gather(&self, at: usize, stream: &WordStream<'_>, out: &mut Gathered) -> Result<()> {
        let segment = &self.sources[at].segment;
        let list = segment.list(&segment.word_of(stream.number())?)?;
        let mut walk = list.walk();
        while let Some(posting) = walk.next() {
            let doc = self.docs[at][posting.doc as usize];
            if doc != GONE {
                walk.positions(&mut out.of_row);
                let start = out.places.len();
                out.places.extend_from_slice(&out.of_row);
                let length = crate::postings::class_of(posting.code);
                out.rows.push((doc, length, start, out.places.len()));
            }
        }
        Ok(())
    }
}

impl Gathered {
    fn clear(&mut self) {
        self.rows.clear();
        self.places.clear();
    }

    /// Writes the word if a row of it is left; returns whether it did.
    fn write(&mut self, word: &[u8], writer: &mut SegmentWriter<'_>) -> Result<bool> {
        if self.rows.is_empty() {
            return Ok(false);
        }
        if !self.rows.is_sorted() {
            self.rows.sort_unstable();
        }
        writer.word(word, |list| {
            for (doc, length, start, end) in &self.rows {
                list.push(*doc, *length, &self.places[*start..*end]);
            }
            Ok(())
        })?;
        Ok(true)
    }
}

/// Waits until all words are written. Errors: `Stopped`, where they will not be.
fn numbered(when_numbered: &WhenNumbered) -> Result<&Numbered> {
    when_numbered.wait().as_ref().ok_or(Error::Stopped)
}

/// Says that words failed, unless they were told before: so nobody waits for them forever.
struct EndOfWords<'a>(&'a WhenNumbered);

impl Drop for EndOfWords<'_> {
    fn drop(&mut self) {
        let _ = self.0.set(None);
    }
}

/// Errors: `Stopped`.
fn check(stop: &AtomicBool) -> Result<()> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Error::Stopped),
        false => Ok(()),
    }
}

/// The rows of a merge; reads fail once it is stopped.
struct Stoppable<'a> {
    merge: &'a Merge<'a>,
    /// By source and its dictionary of packed texts: the number in the new segment.
    numbers: &'a [Vec<Option<u8>>],
    when_numbered: &'a WhenNumbered,
    stop: &'a AtomicBool,
}

impl RowSource for Stoppable<'_> {
    fn id(&self, doc: u32) -> Result<u64> {
        let (source, doc) = self.merge.row(doc);
        source.segment.id(doc)
    }

    fn columns(&self, doc: u32) -> Result<SourceRow<'_>> {
        check(self.stop)?;
        let (source, doc) = self.merge.row(doc);
        let written = source.segment.row(doc)?;
        Ok(SourceRow::new(written, &source.edits.changes, doc))
    }

    fn copy_packed(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool> {
        let (at, _) = self.merge.rows[doc as usize];
        let row = self.columns(doc)?;
        let numbers = &self.numbers[at as usize];
        let unchanged = row.unchanged();
        Ok(unchanged.is_some_and(|row| row.copy_packed(numbers, out)))
    }

    fn length_class(&self, doc: u32) -> Result<u8> {
        let (source, doc) = self.merge.row(doc);
        source.segment.length_class(doc)
    }

    fn text_ends(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool> {
        let (source, doc) = self.merge.row(doc);
        let ends = source.segment.text_ends(doc)?;
        out.extend_from_slice(ends.unwrap_or_default());
        Ok(ends.is_some())
    }

    fn forward(&self, doc: u32, out: &mut Vec<WordCount>) -> Result<()> {
        check(self.stop)?;
        let (at, old) = self.merge.rows[doc as usize];
        let words = self.merge.sources[at as usize].segment.forward(old)?;
        let numbers = &numbered(self.when_numbered)?.words[at as usize];
        let renumbered = |word: WordCount| WordCount {
            word: numbers[word.word as usize],
            hits: word.hits,
        };
        out.extend(words.into_iter().map(renumbered)); // numbers rise as before
        Ok(())
    }
}

impl Merge<'_> {
    /// The source and the old doc of a row of the new segment.
    fn row(&self, doc: u32) -> (&Source, u32) {
        let (at, old) = self.rows[doc as usize];
        (&self.sources[at as usize], old)
    }
}
