//! Looks a word up in steps, so that many look-ups wait for memory together.
//!
//! A step reads one place in memory and says which place the next step reads. [`LookUp::fetch`]
//! tells the processor to load that place. With look-ups taking steps in turns, the loads of one
//! overlap with the steps of the others. Example, a word that is not common:
//!
//! ```text
//! step   reads                                 then
//! 1      its slot in the common words          Near: not in the table
//! 2      keys of a few blocks                  Block 7
//! 3      block 7                               Head 117
//! 4      the head of the block of entry 117    Entry 117
//! 5      entry 117 of the file `words`         Ended
//! ```

use std::ops::Range;

use super::common_words::{CommonWords, hash};
use super::reader::Segment;
use super::words::SegmentWord;
use crate::error::Result;

/// Bytes of a list that are fetched in advance; the processor then fetches on by itself.
const LIST_START: usize = 128;

/// A look-up of one word in one segment.
pub(crate) struct LookUp<'s> {
    segment: &'s Segment,
    common: &'s CommonWords,
    word: &'s str,
    hash: u64,
    next: Step,
}

/// The place that the next step reads.
enum Step {
    /// The word's slot in the common words.
    Common,
    /// Keys and ends of these blocks.
    Near(Range<usize>),
    /// A block of the dictionary.
    Block(usize),
    /// The head of the block in which the file `words` has the entry of a word.
    Head(u32),
    /// The entry of a word in the file `words`.
    Entry(u32),
    /// Nothing: the look-up is done. The word, if the segment has it.
    Ended(Option<SegmentWord>),
}

impl Segment {
    /// Starts a look-up. Errors: `Corrupt`, of the first look-up in the segment, which reads the
    /// common words.
    pub(crate) fn look_up<'s>(&'s self, word: &'s str) -> Result<LookUp<'s>> {
        LookUp::new(self, word)
    }
}

impl<'s> LookUp<'s> {
    fn new(segment: &'s Segment, word: &'s str) -> Result<LookUp<'s>> {
        Ok(LookUp {
            segment,
            common: segment.common()?,
            word,
            hash: hash(word.as_bytes()),
            next: Step::Common,
        })
    }

    /// Tells the processor to fetch what the next step reads, or, for a word that was found, the
    /// start of its list.
    pub(crate) fn fetch(&self) {
        let segment = self.segment;
        match &self.next {
            Step::Common => self.common.fetch(self.hash),
            Step::Near(near) => segment.dictionary.fetch_near(near.clone()),
            Step::Block(block) => segment.dictionary.fetch_block(*block),
            Step::Head(number) => segment.words.fetch_head(*number),
            Step::Entry(number) => segment.words.fetch_block(*number),
            Step::Ended(Some(SegmentWord { entry, .. })) => {
                let Range { start, end } = entry.postings;
                segment.postings.fetch(start..end.min(start + LIST_START));
            }
            Step::Ended(None) => {}
        }
    }

    /// Takes a step; does nothing once the look-up is done. Errors: `Corrupt`.
    pub(crate) fn step(&mut self) -> Result<()> {
        let (dictionary, word) = (&self.segment.dictionary, self.word.as_bytes());
        self.next = match &self.next {
            Step::Common => match self.common.find(self.hash, word) {
                Some(word) => Step::Ended(Some(word)),
                None => Step::Near(dictionary.near(word)?),
            },
            Step::Near(near) => match dictionary.block_of(word, near.clone())? {
                Some(block) => Step::Block(block),
                None => Step::Ended(None),
            },
            Step::Block(block) => match dictionary.find_in(*block, word)? {
                Some(number) => Step::Head(number),
                None => Step::Ended(None),
            },
            Step::Head(number) => Step::Entry(*number), // the fetch of the next step reads it
            Step::Entry(number) => Step::Ended(Some(self.segment.word_of(*number)?)),
            Step::Ended(_) => return Ok(()),
        };
        Ok(())
    }

    /// Takes the steps that are left and returns the word, if the segment has it. Errors:
    /// `Corrupt`.
    pub(crate) fn end(mut self) -> Result<Option<SegmentWord>> {
        loop {
            match self.next {
                Step::Ended(word) => return Ok(word),
                _ => self.step()?,
            }
        }
    }
}
