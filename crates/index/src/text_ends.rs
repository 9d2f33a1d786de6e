//! Where the fields of a document, their sentences and paragraphs end: what an index needs to know of a text beside the places of
//! its words.
//!
//! Example: a title of 3 words, and a body whose sentences end at the positions 4 and 9, the second with its paragraph, of 12.
//!
//! ```text
//! field   last   ends             bytes
//! 0       3                       0  3  0
//! 1       12     4, 9 (paragraph) 1  12 2  8 11      (4 - 0) << 1, (9 - 4) << 1 | 1
//! ```
//!
//! Numbers are LEB128. A field is written as its distance from the one before. The end of a field's last sentence is that of the
//! field. A field without words is left out.

use language::analysis::{UnitEnds, Words};
use language::tree::Unit;
use relation::codec::{cut_small, put_number};

/// The ends of a document's fields, sentences and paragraphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextEnds {
    /// Field and last position, of each field with words, rising.
    lasts: Vec<(u8, u32)>,
    units: UnitEnds,
}

impl TextEnds {
    /// Appends the ends of a document.
    pub(crate) fn write(words: &Words, out: &mut Vec<u8>) {
        let mut sentences = words.units().sentences.iter();
        let mut paragraphs = words.units().paragraphs.iter().peekable();
        let mut before = 0;
        words.each_last(|field, last| {
            put_number(out, u64::from(field - before));
            put_number(out, u64::from(last));
            before = field;
            let own = sentences.as_slice();
            let own = &own[..own.partition_point(|(of, _)| *of == field)];
            put_number(out, own.len() as u64);
            let mut from = 0;
            for end in sentences.by_ref().take(own.len()) {
                let is_paragraph = paragraphs.next_if_eq(&end).is_some();
                put_number(out, u64::from(end.1 - from) << 1 | u64::from(is_paragraph));
                from = end.1;
            }
        });
    }

    /// Replaces these ends by those of a document, in the same memory. `None`: the bytes are damaged, and these ends mean nothing.
    #[must_use]
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> Option<()> {
        self.lasts.clear();
        self.units.clear();
        let mut field = 0u8;
        while !bytes.is_empty() {
            field = field.checked_add(u8::try_from(cut_small(&mut bytes)?).ok()?)?;
            self.lasts.push((field, cut_small(&mut bytes)?));
            let mut end = 0u32;
            for _ in 0..cut_small(&mut bytes)? {
                let step = cut_small(&mut bytes)?;
                end = end.checked_add(step >> 1)?;
                self.units.sentences.push((field, end));
                if step & 1 == 1 {
                    self.units.paragraphs.push((field, end));
                }
            }
        }
        Some(())
    }

    /// As [`TextEnds::last`], straight from the bytes; `None` also if they are damaged. Cost: the numbers before the field's, no
    /// allocation.
    #[inline]
    #[must_use]
    pub(crate) fn last_in(mut bytes: &[u8], wanted: u8) -> Option<u32> {
        let mut field = 0;
        while !bytes.is_empty() {
            field += cut_small(&mut bytes)?;
            let last = cut_small(&mut bytes)?;
            if field == u32::from(wanted) {
                return Some(last);
            }
            for _ in 0..cut_small(&mut bytes)? {
                cut_small(&mut bytes)?;
            }
        }
        None
    }

    /// The last position of a field; `None` if it has no words.
    #[must_use]
    pub(crate) fn last(&self, field: u8) -> Option<u32> {
        let known = self.lasts.iter().find(|(known, _)| *known == field);
        known.map(|(_, last)| *last)
    }

    /// The first and the last position of the sentence or paragraph of its field that a position lies in: 0 and `u32::MAX` where
    /// no end bounds it, such as in a table without `index_sp`. Cost: a binary search.
    #[must_use]
    pub(crate) fn unit_bounds(&self, unit: Unit, field: u8, position: u32) -> (u32, u32) {
        self.units.unit_bounds(unit, field, position)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use language::analysis::{Analyzer, Settings};

    fn analyzer(sentences: &str) -> Analyzer {
        let mut settings = Settings::default();
        settings.set("index_sp", sentences).unwrap().unwrap();
        Analyzer::new(settings)
    }

    proptest! {
        #[test]
        fn ends_read_back_and_tell_what_the_words_tell(
            texts in proptest::collection::vec("[a-c .!\n]{0,40}", 0..4),
            sentences in "[01]",
        ) {
            let analyzer = analyzer(&sentences);
            let mut words = Words::new();
            for (field, text) in texts.iter().enumerate() {
                words.push_field(&analyzer, field as u8, text);
            }
            let mut bytes = Vec::new();
            TextEnds::write(&words, &mut bytes);
            let mut ends = TextEnds::default();
            prop_assert!(ends.read(&bytes).is_some());
            for field in 0..5u8 {
                let of_field = words.iter().filter(|(_, of, _)| *of == field);
                let last = of_field.map(|(_, _, position)| position).max();
                prop_assert_eq!(ends.last(field), last);
                prop_assert_eq!(TextEnds::last_in(&bytes, field), last);
                for position in 0..50 {
                    for unit in [Unit::Sentence, Unit::Paragraph] {
                        let number = |position| words.unit_at(unit, field, position);
                        let (first, last) = ends.unit_bounds(unit, field, position);
                        let same: Vec<u32> = (0..50).filter(|other| number(*other) == number(position)).collect();
                        let inside = (0..50).filter(|other| (first..=last).contains(other));
                        prop_assert_eq!(inside.collect::<Vec<_>>(), same);
                        prop_assert_eq!(words.units().unit_bounds(unit, field, position), (first, last));
                    }
                }
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = TextEnds::default().read(&bytes);
            let _ = TextEnds::last_in(&bytes, 3);
        }
    }
}
