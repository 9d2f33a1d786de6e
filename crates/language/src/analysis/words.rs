//! The words of a document in one buffer, and the fast path that makes them.
//!
//! The text is copied once, its ASCII letters lowered on the way. A *stretch* lies between two ASCII separators;
//! `wide.rs` finds stretches 64 bytes at a time as the edges of a bit mask. An ASCII stretch is a word of that copy,
//! without an allocation. Any other stretch takes the general path of `fold.rs`, and its words go behind the copy.
//!
//! Example: the field 0 `Storm #Tag Café` gives
//!
//! ```text
//! folded  storm #tag cafécafe      (the copy, 16 bytes, then the word that is not ASCII)
//! marks   storm 0..5 position 1, tag 7..10 position 2, #tag 6..10 position 2, cafe 16..20 position 3
//! ```
//!
//! Invariants:
//! - A mark is a stretch of `folded`, at most `WORD_BYTES_MAX` bytes long, and never empty.
//! - Marks of a field rise in position, and fields follow in the order pushed. A marked word follows its bare word.
//! - The words equal those of the general path over the whole text; a property tests it.

use std::iter::Peekable;
use std::ops::Range;

use super::analyzer::Analyzer;
use super::unit_ends::UnitEnds;
use super::units::{self, Bound, Sentences};
use super::wide;
use super::{fold, stem};
use crate::limits::{DOCUMENT_BYTES_MAX, WORD_BYTES_MAX};
use crate::meter::{Meter, Unmetered};
use crate::tree::Unit;

/// The words of one document: made once, read by the matcher and by the index.
///
/// Words of a field follow each other by rising position, a marked word behind its bare word. Fields follow each
/// other in the order pushed. No word is empty or longer than [`WORD_BYTES_MAX`] besides a leading `=`.
#[derive(Clone, Debug, Default)]
pub struct Words {
    folded: String,
    marks: Vec<Mark>,
    /// Bytes of text pushed so far, before folding.
    source_bytes: usize,
    /// Kept if the table has `index_sp`.
    units: UnitEnds,
    /// Buffer for a word as written beside its stem.
    written: String,
    /// Buffer: which bytes of the field at hand belong to stretches.
    masks: Vec<u32>,
}

/// A word: its bytes in `folded`, its field and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    start: u32,
    bytes: u16,
    field: u8,
    position: u32,
}

impl Words {
    /// A document without words.
    #[must_use]
    pub fn new() -> Words {
        Words::default()
    }

    /// Forgets the words and keeps the memory.
    pub fn clear(&mut self) {
        self.folded.clear();
        self.marks.clear();
        self.source_bytes = 0;
        self.units.clear();
    }

    /// A copy that takes no more memory than its words need, and no buffers.
    #[must_use]
    pub fn compact(&self) -> Words {
        Words {
            folded: self.folded.clone(),
            marks: self.marks.clone(),
            source_bytes: self.source_bytes,
            units: self.units.clone(),
            written: String::new(),
            masks: Vec::new(),
        }
    }

    /// Memory that the words and their buffers take, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let marks = self.marks.capacity() * size_of::<Mark>() + self.units.memory();
        self.folded.capacity() + self.written.capacity() + marks + self.masks.capacity() * 4
    }

    /// Adds the words of a field. Fields are pushed in rising number, each once; positions start from 1 in each. Text
    /// beyond [`DOCUMENT_BYTES_MAX`] in total is left out. Cost: 1 to 1.5 ns a byte of English with AVX2. Allocates
    /// only to grow buffers, and for stretches that are not ASCII.
    pub fn push_field(&mut self, analyzer: &Analyzer, field: u8, text: &str) {
        self.push_field_within(analyzer, field, text, &Unmetered);
    }

    /// As [`Words::push_field`], in pieces that are counted on the meter. Once it has stopped, words are missing: their reader asks
    /// it before.
    pub fn push_field_within(
        &mut self,
        analyzer: &Analyzer,
        field: u8,
        text: &str,
        meter: &dyn Meter,
    ) {
        let room = DOCUMENT_BYTES_MAX - self.source_bytes;
        let text = text
            .get(..text.floor_char_boundary(room))
            .unwrap_or_default();
        self.source_bytes += text.len();
        let base = self.folded.len();
        let mut masks = std::mem::take(&mut self.masks);
        let simple = wide::read(text, &mut self.folded, &mut masks);
        if !analyzer.settings.is_plain() {
            self.push_read(analyzer, field, (text, base), &masks, meter);
        } else if simple {
            self.push_ascii_words(field, (base, text.len()), &masks, meter);
        } else {
            self.push_mixed(analyzer, field, (text, base), &masks, meter);
        }
        self.masks = masks;
    }

    /// Adds the words of a field that is ASCII without a `#` or `@`; its copy of `bytes` bytes lies at `base`.
    fn push_ascii_words(
        &mut self,
        field: u8,
        (base, bytes): (usize, usize),
        masks: &[u32],
        meter: &dyn Meter,
    ) {
        let mut position = 0;
        each_stretch(masks, bytes, (meter, PLAIN_UNITS), |stretch| {
            position += 1;
            self.marks.push(Mark {
                start: (base + stretch.start) as u32, // fits, see DOCUMENT_BYTES_MAX
                bytes: stretch.len().min(WORD_BYTES_MAX) as u16,
                field,
                position,
            });
        });
    }

    /// Adds the words of any field; the copy of its text lies at `base`.
    fn push_mixed(
        &mut self,
        analyzer: &Analyzer,
        field: u8,
        (text, base): (&str, usize),
        masks: &[u32],
        meter: &dyn Meter,
    ) {
        let mut position = 0;
        each_stretch(masks, text.len(), (meter, READ_UNITS), |stretch| {
            let source = text.get(stretch.clone()).unwrap_or_default();
            let marked = fold::mark_before(text, stretch.start).is_some();
            if source.is_ascii() {
                position += 1;
                self.push_ascii(base, &stretch, marked, WordPlace { field, position });
            } else {
                let from = stretch.start - usize::from(marked);
                let source = text.get(from..stretch.end).unwrap_or_default();
                let last = WordPlace { field, position };
                position = self.push_general(analyzer, source, last, meter);
            }
        });
    }

    /// The words in order: (folded text, field, position in the field from 1).
    pub fn iter(&self) -> impl Iterator<Item = (&str, u8, u32)> + '_ {
        self.marks.iter().map(|mark| {
            let start = mark.start as usize;
            let text = self
                .folded
                .get(start..start + usize::from(mark.bytes))
                .unwrap_or_default();
            (text, mark.field, mark.position)
        })
    }

    /// The buffer of which the words are stretches. Bytes between and behind them mean nothing; they are there for
    /// readers that take a fixed number of bytes at a time.
    #[must_use]
    pub fn buffer(&self) -> &[u8] {
        self.folded.as_bytes()
    }

    /// Where the words lie in [`Words::buffer`], in the order of [`Words::iter`]: (the word's bytes, field).
    pub fn spans(&self) -> impl Iterator<Item = (Range<usize>, u8)> + '_ {
        self.marks.iter().map(|mark| {
            let start = mark.start as usize;
            (start..start + usize::from(mark.bytes), mark.field)
        })
    }

    /// The text of a word by where it lies in [`Words::buffer`].
    #[must_use]
    pub fn text(&self, word: Range<usize>) -> &str {
        self.folded.get(word).unwrap_or_default()
    }

    /// The field and position of each word, in the order of [`Words::iter`].
    pub fn places(&self) -> impl ExactSizeIterator<Item = (u8, u32)> + '_ {
        self.marks.iter().map(|mark| (mark.field, mark.position))
    }

    /// The number, from 0, of the sentence or paragraph of its field that a position lies in. 0 in a table without
    /// `index_sp`. Cost: a binary search.
    #[must_use]
    pub fn unit_at(&self, unit: Unit, field: u8, position: u32) -> u32 {
        self.units.unit_at(unit, field, position)
    }

    /// Where its sentences and paragraphs end.
    pub fn units(&self) -> &UnitEnds {
        &self.units
    }

    /// Calls `visit` with each field that has words and its last position, rising.
    pub fn each_last(&self, mut visit: impl FnMut(u8, u32)) {
        for of_field in self.marks.chunk_by(|a, b| a.field == b.field) {
            if let Some(mark) = of_field.last() {
                visit(mark.field, mark.position);
            }
        }
    }

    /// The number of words, marked ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether the document has no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Adds the word that a stretch of the copy at `base` is, and its marked word.
    #[inline]
    fn push_ascii(&mut self, base: usize, stretch: &Range<usize>, marked: bool, place: WordPlace) {
        let WordPlace { field, position } = place;
        let start = (base + stretch.start) as u32; // fits, see DOCUMENT_BYTES_MAX
        let bytes = stretch.len().min(WORD_BYTES_MAX) as u16;
        self.marks.push(Mark {
            start,
            bytes,
            field,
            position,
        });
        if marked {
            let bytes = (stretch.len() + 1).min(WORD_BYTES_MAX) as u16;
            self.marks.push(Mark {
                start: start - 1,
                bytes,
                field,
                position,
            });
        }
    }

    /// Adds the words of a field in a table with settings; the copy of the text lies at `base`.
    fn push_read(
        &mut self,
        analyzer: &Analyzer,
        field: u8,
        (text, base): (&str, usize),
        masks: &[u32],
        meter: &dyn Meter,
    ) {
        let rules = analyzer.settings.sentences();
        let mut bounds = units::bounds(text, rules, meter).into_iter().peekable();
        // Positions that a bound before a word takes.
        let step = u32::from(rules == Sentences::Placed);
        let mut position = 0;
        each_stretch(masks, text.len(), (meter, READ_UNITS), |stretch| {
            let source = text.get(stretch.clone()).unwrap_or_default();
            let marked = fold::mark_before(text, stretch.start).is_some();
            if source.is_ascii() {
                let last = WordPlace { field, position };
                let passed = self.pass_bounds(&mut bounds, stretch.start, last);
                position += 1 + step * u32::from(passed);
                let place = WordPlace { field, position };
                if analyzer.settings.stems() {
                    self.push_stem(analyzer, source, place);
                    if marked {
                        let bytes = (stretch.len() + 1).min(WORD_BYTES_MAX);
                        let start = base + stretch.start - 1;
                        self.push_mark(start..start + bytes, place);
                    }
                } else {
                    self.push_ascii(base, &stretch, marked, place);
                }
                return;
            }
            let from = stretch.start - usize::from(marked);
            let source = text.get(from..stretch.end).unwrap_or_default();
            let mut base = position;
            analyzer.words_within(source, meter, &mut |word| {
                if base + word.position > position {
                    let at = from + word.source.start;
                    let passed = self.pass_bounds(&mut bounds, at, WordPlace { field, position });
                    base += step * u32::from(passed);
                    position = base + word.position;
                }
                self.push_text(word.text, WordPlace { field, position });
            });
        });
    }

    /// Keeps the bounds up to the word at a byte of the text. Returns whether one lies behind a word of the field;
    /// `last` is the last word's place.
    fn pass_bounds(
        &mut self,
        bounds: &mut Peekable<impl Iterator<Item = Bound>>,
        at: usize,
        last: WordPlace,
    ) -> bool {
        let end = (last.field, last.position);
        let mut passed = false;
        while let Some(bound) = bounds.next_if(|bound| bound.at <= at) {
            if last.position == 0 {
                continue; // before the field's first word
            }
            passed = true;
            if self.units.sentences.last() != Some(&end) {
                self.units.sentences.push(end);
            }
            if bound.paragraph && self.units.paragraphs.last() != Some(&end) {
                self.units.paragraphs.push(end);
            }
        }
        passed
    }

    /// Adds the stem of an ASCII word and, behind a `=`, the word itself.
    fn push_stem(&mut self, analyzer: &Analyzer, source: &str, place: WordPlace) {
        let mut written = std::mem::take(&mut self.written);
        written.clear();
        written.push('=');
        written.push_str(source.get(..WORD_BYTES_MAX).unwrap_or(source));
        written.make_ascii_lowercase();
        let word = written.get(1..).unwrap_or_default();
        stem::with_stem(&analyzer.settings, word, word, |stem| {
            self.push_text(stem, place);
        });
        self.push_text(&written, place);
        self.written = written;
    }

    fn push_text(&mut self, text: &str, place: WordPlace) {
        let start = self.folded.len();
        self.folded.push_str(text);
        self.push_mark(start..self.folded.len(), place);
    }

    fn push_mark(&mut self, word: Range<usize>, place: WordPlace) {
        self.marks.push(Mark {
            start: word.start as u32, // fits, see DOCUMENT_BYTES_MAX
            bytes: word.len() as u16,
            field: place.field,
            position: place.position,
        });
    }

    /// Adds the words of a piece of text behind `last`; returns the last position.
    fn push_general(
        &mut self,
        analyzer: &Analyzer,
        text: &str,
        last: WordPlace,
        meter: &dyn Meter,
    ) -> u32 {
        let (field, mut position) = (last.field, last.position);
        analyzer.words_within(text, meter, &mut |word| {
            position = last.position + word.position;
            self.push_text(word.text, WordPlace { field, position });
        });
        position
    }
}

/// A place in a document.
#[derive(Clone, Copy)]
struct WordPlace {
    field: u8,
    position: u32,
}

/// Units of a byte whose words are stretches of the copy, and of one whose words are made.
const PLAIN_UNITS: u64 = 2;
const READ_UNITS: u64 = 20;

/// Blocks of 64 bytes between two looks at the meter.
const BLOCKS_AT_ONCE: usize = 64;

/// Calls `visit` with every stretch of a text of `bytes` bytes, rising, until the meter stops. `units`: those of a byte.
#[inline(always)]
fn each_stretch(
    masks: &[u32],
    bytes: usize,
    (meter, units): (&dyn Meter, u64),
    mut visit: impl FnMut(Range<usize>),
) {
    let mut open = None; // start of a stretch that reaches into the block at hand
    for (number, [low, high]) in masks.as_chunks().0.iter().enumerate() {
        let base = number * 64;
        if number % BLOCKS_AT_ONCE == 0 && number > 0 {
            meter.spend(units * 64 * BLOCKS_AT_ONCE as u64);
            if meter.is_stopped() {
                return;
            }
        }
        let mask = u64::from(*low) | u64::from(*high) << 32;
        let shifted = mask << 1 | u64::from(open.is_some());
        let (mut starts, mut ends) = (mask & !shifted, !mask & shifted);
        if let Some(start) = open {
            if ends == 0 {
                continue;
            }
            visit(start..base + ends.trailing_zeros() as usize);
            ends &= ends - 1;
            open = None;
        }
        while ends != 0 {
            let start = base + starts.trailing_zeros() as usize;
            visit(start..base + ends.trailing_zeros() as usize);
            starts &= starts - 1;
            ends &= ends - 1;
        }
        if starts != 0 {
            open = Some(base + starts.trailing_zeros() as usize);
        }
    }
    if let Some(start) = open {
        visit(start..bytes);
    }
}
