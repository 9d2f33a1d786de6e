//! Makes a segment of a frozen tail, without analysing a text again.
//!
//! Rows are renumbered by rising id, words by their bytes. Example: the tail of the example in
//! [`crate::tail`], with row 7 deleted:
//!
//! ```text
//! ordinal   0 (id 40)   1 (id 7)   2 (id 12)
//! doc       1           GONE       0
//! word      black 0     cat 1      dog 2         by chance numbered alike in the segment
//! ```

use std::panic::resume_unwind;
use std::sync::Arc;

use disk::Disk;
use hashbrown::HashMap;
use roaring::RoaringBitmap;

use super::dictionary::key_of;
use super::row_source::{RowSource, SourceRow};
use super::write::{Head, SegmentWriter, write_rows};
use crate::edits::Edits;
use crate::error::Result;
use crate::removed::WordCount;
use crate::tail::{Chunk, List, Tail, TailRow};

/// Doc of a deleted row, in [`Renumbered::docs`]; also the number of a word that only deleted rows
/// hold.
const GONE: u32 = u32::MAX;

/// The live rows of a tail in the order of a segment.
struct Renumbered<'a> {
    /// The rows, by doc.
    rows: Vec<&'a TailRow>,
    /// Length class of each row, by doc.
    lengths: Vec<u8>,
    /// By ordinal: the doc, or [`GONE`].
    docs: Vec<u32>,
    /// By number in the tail's dictionary: the word's number in the segment, or [`GONE`].
    words: Vec<u32>,
    /// The rows with changed values, by doc, encoded again.
    changed: HashMap<u32, Arc<[u8]>>,
}

/// Writes the live rows of a tail as a segment in the directory `path`, which must not exist. The
/// tail must have a live row. Changed values are written into their rows. All files and their names are durable on return; the directory's own
/// name is not. `fields`: the table's text columns; `keyed`: its columns with a KEY. Returns the docs by ordinal. Errors: `Io`.
pub(crate) fn write_segment(
    disk: &Arc<dyn Disk>,
    path: &str,
    tail: &Tail,
    (fields, keyed): (u8, &[u16]),
    edits: &Edits,
    position: u64,
) -> Result<Vec<u32>> {
    let whole = Chunk::merge(tail.chunks());
    let mut renumbered = renumber(&whole, edits)?;
    let words = order_words(tail, &whole, &renumbered);
    let count = words.iter().map(|(word, _)| *word as usize + 1).max();
    renumbered.words.resize(count.unwrap_or(0), GONE);
    for ((word, _), number) in words.iter().zip(0..) {
        renumbered.words[*word as usize] = number;
    }
    let head = Head {
        rows: renumbered.rows.len() as u32,
        fields,
        position,
        has_pairs: false, // a merge makes them, so that a load does not wait for them
    };
    let mut writer = SegmentWriter::create(disk, path, head)?;
    // A caller that waits for a seal (the end of a load, or FLUSH) leaves a processor idle.
    let rows = std::thread::scope(|scope| {
        let rows = scope.spawn(|| write_rows(disk, path, (head.rows, keyed), &renumbered, None));
        let words = write_words(&mut writer, tail, &words, &renumbered);
        let rows = rows.join().unwrap_or_else(|panic| resume_unwind(panic));
        words.and(rows)
    })?;
    writer.finish(rows)?;
    Ok(renumbered.docs)
}

/// Numbers the live rows by rising id.
fn renumber<'a>(whole: &'a Chunk, edits: &Edits) -> Result<Renumbered<'a>> {
    let deleted: &RoaringBitmap = &edits.deleted;
    let mut live: Vec<(u64, u32)> = whole.by_id().to_vec();
    live.retain(|(_, ordinal)| !deleted.contains(*ordinal));
    let mut docs = vec![GONE; whole.rows.len()];
    for ((_, ordinal), doc) in live.iter().zip(0..) {
        docs[*ordinal as usize] = doc;
    }
    let rows: Vec<&TailRow> = live
        .iter()
        .map(|(_, ordinal)| &*whole.rows[*ordinal as usize])
        .collect();
    let mut changed = HashMap::new();
    if !edits.changes.is_empty() {
        for ((_, ordinal), doc) in live.iter().zip(0..) {
            let written = &whole.rows[*ordinal as usize].columns;
            let row = edits.changes.encode(*ordinal, written)?;
            changed.extend(row.map(|row| (doc, row)));
        }
    }
    Ok(Renumbered {
        lengths: rows.iter().map(|row| row.length_class).collect(),
        rows,
        docs,
        words: Vec::new(),
        changed,
    })
}

/// The words of the live rows, sorted by their bytes, with their postings.
fn order_words<'a>(
    tail: &Tail,
    whole: &'a Chunk,
    renumbered: &Renumbered<'_>,
) -> Vec<(u32, List<'a>)> {
    let is_live = |ordinal: &u32| renumbered.docs[*ordinal as usize] != GONE;
    let live = (0..).zip(whole.lists());
    let live = live.filter(|(_, (_, list))| list.ordinals.iter().any(is_live));
    let dictionary = tail.dictionary.read();
    // Most words differ in their first eight bytes, so these are compared first, side by side.
    let keyed = live.map(|(at, (word, _))| (key_of(dictionary.text_of(word)), word, at));
    let mut words: Vec<(u64, u32, u32)> = keyed.collect();
    words.sort_unstable_by(|(a_key, a, _), (b_key, b, _)| {
        let texts = || dictionary.text_of(*a).cmp(dictionary.text_of(*b));
        a_key.cmp(b_key).then_with(texts)
    });
    words
        .into_iter()
        .map(|(_, word, at)| (word, whole.list_at(at as usize)))
        .collect()
}

/// Writes the words with their lists, in the order of the segment.
fn write_words(
    writer: &mut SegmentWriter<'_>,
    tail: &Tail,
    words: &[(u32, List<'_>)],
    renumbered: &Renumbered<'_>,
) -> Result<()> {
    let dictionary = tail.dictionary.read();
    let mut rows: Vec<(u32, usize)> = Vec::new();
    for (word, list) in words {
        rows.clear();
        let docs = list
            .ordinals
            .iter()
            .map(|ordinal| renumbered.docs[*ordinal as usize]);
        rows.extend(docs.zip(0..).filter(|(doc, _)| *doc != GONE));
        if !rows.is_sorted() {
            rows.sort_unstable();
        }
        writer.word(dictionary.text_of(*word), |out| {
            for (doc, at) in &rows {
                out.push(*doc, renumbered.lengths[*doc as usize], list.positions(*at));
            }
            Ok(())
        })?;
    }
    Ok(())
}

impl RowSource for Renumbered<'_> {
    fn id(&self, doc: u32) -> Result<u64> {
        Ok(self.rows[doc as usize].id)
    }

    fn columns(&self, doc: u32) -> Result<SourceRow<'_>> {
        let changed = self.changed.get(&doc);
        Ok(SourceRow::whole(
            changed.unwrap_or(&self.rows[doc as usize].columns),
        ))
    }

    fn copy_packed(&self, _: u32, _: &mut Vec<u8>) -> Result<bool> {
        Ok(false) // a seal packs nothing
    }

    fn length_class(&self, doc: u32) -> Result<u8> {
        Ok(self.lengths[doc as usize])
    }

    fn text_ends(&self, doc: u32, out: &mut Vec<u8>) -> Result<bool> {
        out.extend_from_slice(&self.rows[doc as usize].text_ends);
        Ok(true)
    }

    fn forward(&self, doc: u32, out: &mut Vec<WordCount>) -> Result<()> {
        let number = |word: &WordCount| WordCount {
            word: self.words[word.word as usize],
            hits: word.hits,
        };
        out.extend(self.rows[doc as usize].words().iter().map(number));
        out.sort_unstable_by_key(|word| word.word);
        Ok(())
    }
}
