//! The words of a plan by number, and those that each pattern stands for.

use language::tree::{Form, Term};
use smallvec::{SmallVec, smallvec};

use super::super::statistics::{Frequencies, Statistics};
use super::super::terms::WordNumbers;

/// Numbers of the words that a term stands for.
pub(in super::super) type TermWords = SmallVec<[usize; 1]>;

/// The words of a plan: those of the query, then those that only patterns stand for.
pub(super) struct Numbered {
    pub(super) words: WordNumbers,
    /// Sorted by [`key`].
    patterns: Vec<(Term, TermWords)>,
}

fn key(term: &Term) -> (bool, &str) {
    (term.form == Form::Regex, &term.text)
}

impl Numbered {
    /// `words`, `patterns`: those of the query. Adds the words that patterns stand for, and their frequencies. They come in the
    /// order of their texts: the same however rows are spread over parts.
    pub(super) fn new(
        mut words: WordNumbers,
        patterns: Vec<Term>,
        statistics: Statistics,
    ) -> (Numbered, Frequencies) {
        let mut frequencies = statistics.words;
        let numbered = patterns.into_iter().zip(statistics.patterns);
        let numbered = numbered.map(|(pattern, found)| {
            let numbers = found.into_iter().map(|(text, frequency)| {
                let number = words.add(&text);
                if number == frequencies.len() {
                    frequencies.push(frequency);
                }
                number
            });
            let numbers = numbers.collect();
            (pattern, numbers)
        });
        let mut patterns: Vec<(Term, TermWords)> = numbered.collect();
        patterns.sort_by(|(one, _), (other, _)| key(one).cmp(&key(other)));
        (Numbered { words, patterns }, frequencies)
    }

    /// The words that a term of the query stands for.
    pub(super) fn of(&self, term: &Term) -> TermWords {
        if term.form == Form::Whole {
            return self
                .words
                .get(&term.text)
                .map_or(smallvec![], |word| smallvec![word]);
        }
        let place = |(known, _): &(Term, _)| key(known).cmp(&key(term));
        match self.patterns.binary_search_by(place) {
            Ok(at) => self.patterns[at].1.clone(),
            Err(_) => smallvec![],
        }
    }
}
