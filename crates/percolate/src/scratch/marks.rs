use language::analysis::Words;

use super::Steps;
use crate::{
    check::Workspace,
    compound::Group,
    dictionary::Dictionary,
    hit_pairs::grow,
    term::{Plain, TermId, UNKNOWN},
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
    /// The words of the documents, looked up.
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
        self.word_terms.clear();
        if self.masks.len() < terms {
            self.masks.resize(terms, 0);
        }
        self.masks[UNKNOWN as usize] = u64::MAX;
    }

    /// The number of terms in use.
    pub(super) fn used(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Marks the terms of the slice's next documents. It finds the terms of all of them first, since no look-up waits
    /// for another. Once the call has ended, it may leave terms unmarked.
    #[inline(always)]
    pub(super) fn mark(
        &mut self,
        steps: impl Steps,
        dictionary: &Dictionary,
        documents: &[Words],
        checking: &mut Workspace,
        goes_on: &dyn Fn() -> bool,
    ) {
        let first = self.word_terms.len();
        steps.look_up(dictionary.view(), documents, &mut self.word_terms);
        let plain = self.word_terms.from(first);
        for plain in plain {
            steps.fetch(&self.masks, plain.term() as usize);
        }
        let Workspace {
            compound, meter, ..
        } = checking;
        let mut spend = |steps| meter.spend(steps, goes_on);
        if dictionary.has_compound() {
            let masks = &self.masks;
            let group = Group {
                documents,
                plain,
                masks,
            };
            compound.find(steps, dictionary, group, &mut spend);
        }
        for (document, number) in documents.iter().zip(0..) {
            let mut adding = Adding {
                index: self.ends.len(),
                count: self.used(),
                masks: &mut self.masks,
                terms: &mut self.terms,
            };
            let plain = self.word_terms.of(adding.index);
            grow(adding.terms, adding.count + plain.len());
            let mut flags = 0;
            for plain in plain {
                flags |= plain.0;
                adding.add(plain.term());
            }
            if Plain(flags).is_limited() {
                adding.add_limited(dictionary, (document, plain), &mut spend);
            }
            if dictionary.has_compound() {
                compound.each_of(number, |term| {
                    grow(adding.terms, adding.count + 1);
                    adding.add(term);
                });
            }
            let count = adding.count;
            self.ends.push(count);
        }
    }
}

/// A document of the slice while its terms are added.
struct Adding<'a> {
    /// The number of the document in the slice.
    index: usize,
    /// The number of terms so far, those of earlier documents included.
    count: usize,
    masks: &'a mut [u64],
    terms: &'a mut Vec<TermId>,
}

impl Adding<'_> {
    /// Marks a term and adds it behind the others, if it is new; there must be room. It does not branch on whether it
    /// is. [`UNKNOWN`] is never new, since its mask is full.
    #[inline(always)]
    fn add(&mut self, term: TermId) {
        let mask = &mut self.masks[term as usize];
        let was = *mask >> self.index & 1;
        *mask |= 1 << self.index;
        self.terms[self.count] = term;
        self.count += 1 - was as usize;
    }

    /// Adds the terms of its words that are limited to fields.
    #[cold]
    fn add_limited(
        &mut self,
        dictionary: &Dictionary,
        (document, plain): (&Words, &[Plain]),
        spend: &mut dyn FnMut(u64) -> bool,
    ) {
        for ((_, field), plain) in document.spans().zip(plain) {
            let mut found = 0;
            dictionary.limited(*plain, field, |term| {
                found += 1;
                grow(self.terms, self.count + 1);
                self.add(term);
            });
            if !spend(found) {
                break;
            }
        }
    }
}
