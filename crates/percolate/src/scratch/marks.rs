//! Marks: which documents of a slice hold which terms.
//!
//! Example: document 0 holds the terms 5 and 9, document 1 the terms 9 and 7.
//!
//! ```text
//! masks  [0] = all ones   [5] = 01   [7] = 10   [9] = 11
//! terms  5 9 | 9 7        ends 2 4
//! ```
//!
//! Invariants:
//! - `masks` is zero but for the terms listed in `terms` and for [`UNKNOWN`], so clearing touches only those.
//! - A document lists a term once: the mask's bit tells whether it is there already.

use query::analysis::Words;

use super::Steps;
use crate::{
    check::Workspace,
    dictionary::Dictionary,
    hit_pairs::grow,
    meter::Meter,
    term::{TermId, UNKNOWN},
    word_terms::WordTerms,
};

/// The masks of a slice's terms, and the terms of its documents.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// By term: the documents that hold it, a bit each. The mask of [`UNKNOWN`] is full.
    pub(super) masks: Vec<u64>,
    /// The terms of the documents, one document after the other. The items behind the last
    /// of `ends` are of an earlier slice.
    pub(super) terms: Vec<TermId>,
    /// The words of the document that was marked last, looked up.
    pub(super) word_terms: WordTerms,
    /// By document: where its terms end in `terms`.
    pub(super) ends: Vec<usize>,
}
impl Marks {
    /// Forgets the slice before. It does so first rather than last, so that a call that was broken off leaves nothing
    /// behind. `terms` is the length of the dictionary.
    #[inline(always)]
    pub(super) fn clear(&mut self, terms: usize) {
        let used = self.used();
        for term in &self.terms[..used] {
            self.masks[*term as usize] = 0;
        }
        self.ends.clear();
        if self.masks.len() < terms {
            self.masks.resize(terms, 0);
        }
        self.masks[UNKNOWN as usize] = u64::MAX;
    }

    /// The number of terms in use.
    pub(super) fn used(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Marks the words of document `index` of the slice. It looks up all words first, since no look-up waits for
    /// another. Once the call has ended, it may leave words unmarked; so do the functions below.
    #[inline(always)]
    pub(super) fn mark(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        (document, index): (&Words, usize),
        meter: &mut Meter,
        goes_on: &dyn Fn() -> bool,
    ) {
        steps.look_up(dictionary.view(), document, &mut self.word_terms);
        let mut count = self.used();
        let known = self.word_terms.known();
        grow(&mut self.terms, count + known.len());
        for term in known {
            let mask = &mut self.masks[*term as usize];
            let was = *mask >> index & 1;
            *mask |= 1 << index;
            self.terms[count] = *term;
            count += 1 - was as usize;
        }
        if self.word_terms.is_limited {
            let mut spend = |steps| meter.spend(steps, goes_on);
            count = self.mark_limited(dictionary, (document, index), count, &mut spend);
        }
        self.ends.push(count);
    }

    /// Marks the pairs and patterns of the document that was marked last.
    #[inline(always)]
    pub(super) fn mark_compound(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        (document, index): (&Words, usize),
        checking: &mut Workspace,
        goes_on: &dyn Fn() -> bool,
    ) {
        let Marks {
            masks, terms, ends, ..
        } = self;
        let plain = &self.word_terms.plain[..document.len()];
        let Some(all) = ends.last_mut() else {
            return;
        };
        let Workspace {
            compound, meter, ..
        } = checking;
        let mut spend = |steps| meter.spend(steps, goes_on);
        let pair = |pair| add(masks, terms, all, pair, index);
        compound.mark_pairs(steps, dictionary, document, plain, pair, &mut spend);
        let pattern = |pattern| add(masks, terms, all, pattern, index);
        compound.mark_patterns(steps, dictionary, document, plain, pattern, &mut spend);
    }

    /// Marks the terms of its words that are limited to fields. Returns the number of terms in use then.
    #[cold]
    fn mark_limited(
        &mut self,
        dictionary: &Dictionary,
        (document, index): (&Words, usize),
        mut count: usize,
        spend: &mut dyn FnMut(u64) -> bool,
    ) -> usize {
        for ((_, field), plain) in document.spans().zip(&self.word_terms.plain) {
            let mut found = 0;
            dictionary.limited(*plain, field, |term| {
                found += 1;
                let mask = &mut self.masks[term as usize];
                if *mask >> index & 1 == 0 {
                    *mask |= 1 << index;
                    grow(&mut self.terms, count + 1);
                    self.terms[count] = term;
                    count += 1;
                }
            });
            if !spend(found) {
                break;
            }
        }
        count
    }
}

/// Marks a term and adds it behind the `count` others, if it is new. It does not branch on whether it is.
#[inline(always)]
fn add(masks: &mut [u64], terms: &mut Vec<TermId>, count: &mut usize, term: TermId, index: usize) {
    grow(terms, *count + 1);
    let mask = &mut masks[term as usize];
    let was = *mask >> index & 1;
    *mask |= 1 << index;
    terms[*count] = term;
    *count += 1 - was as usize;
}
