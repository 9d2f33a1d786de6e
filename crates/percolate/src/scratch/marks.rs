//! Which documents of a slice hold which terms.

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

/// Which documents of a slice hold which terms.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// By term: the documents that hold it. That of [`UNKNOWN`] is full, the others are zero unless in `terms`.
    pub(super) masks: Vec<u64>,
    /// The terms of each document, each once, one document after the other; then what is not in use.
    pub(super) terms: Vec<TermId>,
    /// Of the document at hand.
    pub(super) word_terms: WordTerms,
    /// By document: the end of its terms.
    pub(super) ends: Vec<usize>,
}
impl Marks {
    /// Forgets the slice before. It does so first rather than last, so that a call that was broken off leaves nothing
    /// behind.
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

    /// How many terms are in use.
    pub(super) fn used(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Marks the words of one document. First all are looked up, none of which waits for another. Not all are marked where the
    /// call has ended, here and below.
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

    /// Marks the terms of a document, whose words are marked, that are more than a word looked up.
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

    /// Marks the terms of its words that are limited to fields; gives how many terms there are now.
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

/// Marks a term and adds it to the `count` others. No branch on whether it was there.
#[inline(always)]
fn add(masks: &mut [u64], terms: &mut Vec<TermId>, count: &mut usize, term: TermId, index: usize) {
    grow(terms, *count + 1);
    let mask = &mut masks[term as usize];
    let was = *mask >> index & 1;
    *mask |= 1 << index;
    terms[*count] = term;
    *count += 1 - was as usize;
}
