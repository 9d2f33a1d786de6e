//! The terms of a document that are more than a word looked up: pairs of neighbours, and patterns.

use query::analysis::Words;

use crate::{
    dictionary::{Dictionary, Plain, TermId, UNKNOWN},
    pattern::Memo,
};

/// Buffers of one matcher.
#[derive(Debug, Default)]
pub(crate) struct Further {
    /// Terms that end at the place before the one at hand and with which pairs begin: words, and pairs that phrases go on
    /// from.
    before: Vec<TermId>,
    /// Those at the place at hand.
    here: Vec<TermId>,
    /// Shared with what finds out where patterns stand.
    pub(crate) memo: Memo,
}

impl Further {
    /// Calls `mark` with the pairs and patterns of a document, some more than once. `plain` is what the dictionary says of
    /// each of its words.
    pub(crate) fn mark(
        &mut self,
        dictionary: &Dictionary,
        document: &Words,
        plain: &[Plain],
        mut mark: impl FnMut(TermId),
    ) {
        if !dictionary.pairs.is_empty() {
            self.mark_pairs(dictionary, document, plain, &mut mark);
        }
        if !dictionary.patterns.is_empty() {
            let (patterns, buffer) = (&dictionary.patterns, document.buffer());
            let words = document.iter().zip(document.spans()).zip(plain);
            for (((text, field, _), (word, _)), plain) in words {
                let matches = match plain.term() {
                    UNKNOWN => self.memo.of(patterns, buffer, word, text),
                    term => self.memo.of_term(patterns, term, text),
                };
                let matches = matches.iter();
                matches
                    .filter(|(fields, _)| fields.holds(field))
                    .for_each(|(_, term)| mark(*term));
            }
        }
    }

    fn mark_pairs(
        &mut self,
        dictionary: &Dictionary,
        document: &Words,
        plain: &[Plain],
        mut mark: impl FnMut(TermId),
    ) {
        self.here.clear();
        let mut place = (0, 0);
        for ((_, field, position), plain) in document.iter().zip(plain) {
            if (field, position) != place {
                std::mem::swap(&mut self.before, &mut self.here);
                self.here.clear();
                if place != (field, position.wrapping_sub(1)) {
                    self.before.clear();
                }
                place = (field, position);
            }
            let right = plain.term();
            if right == UNKNOWN {
                continue;
            }
            for left in &self.before {
                dictionary.pairs.each(*left, right, field, |pair| {
                    mark(pair);
                    if dictionary.pairs.begins(pair) {
                        self.here.push(pair);
                    }
                });
            }
            if dictionary.pairs.begins(right) {
                self.here.push(right);
            }
        }
    }
}
