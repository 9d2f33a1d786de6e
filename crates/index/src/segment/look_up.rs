//! Looking a word up in steps. Each reads what the step before has asked for, so that many look-ups that take their steps in
//! turns wait for memory together.

use std::ops::Range;

use super::{Segment, SegmentWord, words};
use crate::error::Result;

/// Bytes of a list that are asked for: with it the longer headers follow by themselves.
const LIST_START: usize = 128;

/// A word looked for in a segment.
pub(crate) struct LookUp<'s> {
    segment: &'s Segment,
    word: &'s str,
    next: Step,
}

/// What is near, or on its way.
enum Step {
    /// What the dictionary knows of these blocks.
    Near(Range<usize>),
    /// A block.
    Block(usize),
    /// The entry of a word.
    Entry(u32),
    /// Nothing more is to be read.
    Ended(Option<SegmentWord>),
}

impl<'s> LookUp<'s> {
    pub(super) fn new(segment: &'s Segment, word: &'s str) -> Result<LookUp<'s>> {
        let near = segment.dictionary.near(word.as_bytes())?;
        Ok(LookUp {
            segment,
            word,
            next: Step::Near(near),
        })
    }

    /// Takes a step, which one that has ended does no more. Errors: `Corrupt`.
    pub(crate) fn step(&mut self) -> Result<()> {
        let (dictionary, word) = (&self.segment.dictionary, self.word.as_bytes());
        self.next = match &self.next {
            Step::Near(near) => match dictionary.block_of(word, near.clone())? {
                Some(block) => Step::Block(block),
                None => Step::Ended(None),
            },
            Step::Block(block) => match dictionary.find_in(*block, word)? {
                Some(number) => {
                    self.segment.words.fetch(words::bytes_of(number));
                    Step::Entry(number)
                }
                None => Step::Ended(None),
            },
            Step::Entry(number) => {
                let word = self.segment.word_of(*number)?;
                let Range { start, end } = word.entry.postings;
                let list = start..end.min(start + LIST_START);
                self.segment.postings.fetch(list);
                Step::Ended(Some(word))
            }
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
