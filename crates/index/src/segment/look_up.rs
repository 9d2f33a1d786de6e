//! Looking a word up in steps. What the next one reads is asked for on its own, so that many look-ups that take their steps in
//! turns wait for memory together: a processor stands at each place on a page that it has not looked at lately, and goes on
//! asking only as far as it sees, which is not far where each look-up thinks in between.

use std::ops::Range;

use super::common_words::{CommonWords, hash};
use super::reader::Segment;
use super::words::{self, SegmentWord};
use crate::error::Result;

/// Bytes of a list that are asked for: with it the longer headers follow by themselves.
const LIST_START: usize = 128;

/// A word looked for in a segment.
pub(crate) struct LookUp<'s> {
    segment: &'s Segment,
    common: &'s CommonWords,
    word: &'s str,
    hash: u64,
    next: Step,
}

/// What is to be read next.
enum Step {
    /// Whether it is a common word.
    Common,
    /// What the dictionary knows of these blocks.
    Near(Range<usize>),
    /// A block.
    Block(usize),
    /// The entry of a word.
    Entry(u32),
    /// Nothing more is to be read.
    Ended(Option<SegmentWord>),
}

impl Segment {
    /// Looks for a word in the dictionary.
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

    /// Asks for what the next step reads; of a word that was found, for its list.
    pub(crate) fn fetch(&self) {
        let segment = self.segment;
        match &self.next {
            Step::Common => self.common.fetch(self.hash),
            Step::Near(near) => segment.dictionary.fetch_near(near.clone()),
            Step::Block(block) => segment.dictionary.fetch_block(*block),
            Step::Entry(number) => segment.words.fetch(words::bytes_of(*number)),
            Step::Ended(Some(SegmentWord { entry, .. })) => {
                let Range { start, end } = entry.postings;
                segment.postings.fetch(start..end.min(start + LIST_START));
            }
            Step::Ended(None) => {}
        }
    }

    /// Takes a step, which one that has ended does no more. Errors: `Corrupt`.
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
                Some(number) => Step::Entry(number),
                None => Step::Ended(None),
            },
            Step::Entry(number) => Step::Ended(Some(self.segment.word_of(*number)?)),
            Step::Ended(_) => return Ok(()),
        };
        Ok(())
    }

    /// The word, if it is there. Errors: `Corrupt`.
    pub(crate) fn end(mut self) -> Result<Option<SegmentWord>> {
        loop {
            match self.next {
                Step::Ended(word) => return Ok(word),
                _ => self.step()?,
            }
        }
    }
}
