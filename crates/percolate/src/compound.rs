//! The terms of a document that are not single words: pairs of neighbours, and patterns.

use query::analysis::Words;

use crate::{
    dictionary::Dictionary,
    fetch::Fetch,
    limits::PATTERN_STEPS,
    pattern::Memo,
    term::{Plain, TermId, UNKNOWN},
};

/// Buffers for finding them. A matcher's own.
#[derive(Debug, Default)]
pub(crate) struct CompoundTerms {
    /// By word of the document: its field in the upper 32 bits, its position in the lower.
    places: Vec<u64>,
    /// Terms that a pair may begin with, and the index of each term's last word: words, and pairs that phrases go on
    /// from.
    open: Vec<(TermId, u32)>,
    /// Also used where checks ask for the places of patterns.
    pub(crate) memo: Memo,
}

impl CompoundTerms {
    /// Calls `mark` with the patterns that match a word of the document, some more than once. `plain` holds the
    /// dictionary's entries of the words. `spend` counts the steps of each word; once it returns false, the remaining
    /// words are skipped.
    #[inline(always)]
    pub(crate) fn mark_patterns(
        &mut self,
        steps: impl Fetch,
        dictionary: &Dictionary,
        document: &Words,
        plain: &[Plain],
        mut mark: impl FnMut(TermId),
        mut spend: impl FnMut(u64) -> bool,
    ) {
        if dictionary.patterns.is_empty() {
            return;
        }
        let (patterns, buffer) = (&dictionary.patterns, document.buffer());
        let terms = || plain.iter().map(|plain| plain.term());
        terms().for_each(|term| self.memo.fetch(steps, term));
        terms().for_each(|term| self.memo.fetch_matches(steps, term));
        for ((word, field), term) in document.spans().zip(terms()) {
            let text = || document.text(word.clone());
            let matches = match term {
                UNKNOWN => self.memo.of(patterns, buffer, word.clone(), text()),
                term => self.memo.of_term(patterns, term, text),
            };
            let found = matches.len() as u64;
            let matches = matches.iter();
            matches
                .filter(|(fields, _)| fields.holds(field))
                .for_each(|(_, term)| mark(*term));
            if !spend(found + self.memo.take_compared() * PATTERN_STEPS) {
                return;
            }
        }
    }

    /// Calls `mark` with the pairs that the document holds, some more than once. `spend` as above, for each word that
    /// may begin a pair.
    ///
    /// First it lists the words that may begin a pair with their neighbour, without branching on whether one does.
    /// Then it follows each of these as far as phrases go.
    #[inline(always)]
    pub(crate) fn mark_pairs(
        &mut self,
        steps: impl Fetch,
        dictionary: &Dictionary,
        document: &Words,
        plain: &[Plain],
        mut mark: impl FnMut(TermId),
        mut spend: impl FnMut(u64) -> bool,
    ) {
        if dictionary.pairs.is_empty() {
            return;
        }
        let CompoundTerms { places, open, .. } = self;
        let pairs = &dictionary.pairs;
        places.clear();
        places.extend(
            document
                .places()
                .map(|(field, position)| u64::from(field) << 32 | u64::from(position)),
        );
        let following = || places.iter().zip(places.iter().skip(1));
        let shared = following().fold(false, |shared, (at, next)| shared | (at == next));
        open.clear();
        open.resize(plain.len(), (UNKNOWN, 0));
        let mut count = 0;
        let neighbours = plain.iter().zip(plain.iter().skip(1));
        for ((index, (left, right)), (at, next)) in (0..).zip(neighbours).zip(following()) {
            let (left, right) = (left.term(), right.term());
            let is_likely = (right != UNKNOWN) & (*next == at + 1) & pairs.may_hold(left, right);
            open[count] = (left, index);
            count += usize::from((left != UNKNOWN) & (shared | is_likely));
        }
        open.truncate(count);
        for (left, index) in &*open {
            let right = plain.get(*index as usize + 1).copied().unwrap_or_default();
            pairs.fetch(steps, *left, right.term());
        }
        while let Some((left, index)) = open.pop() {
            let (at, mut tried) = (places[index as usize], 1);
            let next = (index + 1..).zip(&places[index as usize + 1..]);
            let next = next.skip_while(|(_, place)| **place == at);
            for (next, _) in next.take_while(|(_, place)| **place == at + 1) {
                let right = plain[next as usize].term();
                tried += 1;
                pairs.each(left, right, (at >> 32) as u8, |pair| {
                    tried += 1;
                    mark(pair);
                    if pairs.begins(pair) {
                        open.push((pair, next));
                    }
                });
            }
            if !spend(tried) {
                return;
            }
        }
    }
}
