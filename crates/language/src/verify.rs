//! Verification: whether and where a document matches a tree. It gives the spans of [`reference`](crate::reference),
//! in time near to linear in the places of the tree's terms; a property holds the two equal. Used where a text must
//! be read again: verification after a search, highlights and weights.

mod buffers;
mod counted;
mod decide;
mod document;
mod most;
mod operators;
mod places;
mod prepared;
mod rated;
mod spans;
mod tally;
mod terms;
mod two_words;
mod window;

#[cfg(test)]
mod tests;

use crate::analysis::Words;
use crate::reference::Span;
use crate::tree::{Node, Term};
pub use buffers::Buffers;
pub(crate) use counted::Counted;
pub use document::Document;
pub use most::Most;
pub(crate) use places::Places;
use prepared::Prepared;
pub use rated::Rated;
use spans::spans;
pub use tally::{Counts, Joined, Tally};
pub(crate) use terms::Terms;
use two_words::{TwoWords, in_field};
pub use window::Hit;

/// A tree prepared for any number of documents: its terms have numbers, and its patterns are compiled.
#[derive(Debug)]
pub struct Verifier {
    root: Prepared,
    terms: Terms,
    two: Option<TwoWords>,
}

impl Verifier {
    /// Prepares a tree. Cost: compiling its patterns.
    #[must_use]
    pub fn new(root: &Node) -> Verifier {
        let terms = Terms::of(root);
        let root = Prepared::new(root, &terms);
        Verifier {
            two: TwoWords::of(&root),
            root,
            terms,
        }
    }

    /// The distinct terms of the tree by number, wherever in their fields they must stand.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        self.terms.listed()
    }

    /// The number of a term of the tree, wherever in its field it must stand.
    #[must_use]
    pub fn number(&self, term: &Term) -> Option<usize> {
        self.terms.number(term)
    }

    /// Whether a document matches.
    #[must_use]
    pub fn matches(&self, words: &Words) -> bool {
        self.matches_in(&Places::new(&self.terms, words), &mut Buffers::default())
    }

    /// As [`Verifier::matches`], for any form of a document.
    pub fn matches_in<D: Document>(&self, document: &D, buffers: &mut Buffers) -> bool {
        decide::matches(&self.root, document, buffers)
    }

    /// The spans at which a document matches, as [`reference::spans`](crate::reference::spans) defines them; `None`
    /// if it does not.
    #[must_use]
    pub fn spans(&self, words: &Words) -> Option<Vec<Span>> {
        let places = Places::new(&self.terms, words);
        let found = spans(&self.root, &places, &mut Buffers::default());
        found.map(|found| found.to_vec())
    }

    /// The occurrences that count for rankers, in a document that matches.
    #[must_use]
    pub fn tally<'w>(&'w self, words: &'w Words) -> Tally<'w> {
        tally::of_words(&self.root, &Places::new(&self.terms, words))
    }

    /// Upper bounds of what counts in a field, in a document that matches. `standing`: the places of each term in the field, or
    /// more, by the term's number.
    #[must_use]
    pub fn most(&self, field: u8, standing: &impl Fn(usize) -> u64) -> Most {
        self.root.most(field, standing)
    }

    /// Upper bound of the words of a run in a field, from the places of the terms, in a document that matches; `None` for a tree
    /// that [`TwoWords`] does not know.
    #[must_use]
    pub fn longest_run<D: Document>(&self, document: &D, field: u8) -> Option<u64> {
        let two = self.two.as_ref()?;
        let of = |term| in_field(document.standing(term), field);
        Some(two.longest_run(of(two.first), of(two.second)))
    }

    /// Whether every occurrence that counts is a single word, so that a run has each place of the query once.
    #[must_use]
    pub fn is_of_words(&self) -> bool {
        self.root.is_of_words()
    }

    /// By number of the term, the fields in which it may count: none of a term that is only excluded.
    #[must_use]
    pub fn fields(&self) -> Vec<u64> {
        let mut fields = vec![0; self.terms().len()];
        self.root.add_fields(&mut fields);
        fields
    }

    /// By number of the term, whether its rarity counts in a document that matches.
    #[must_use]
    pub fn rated(&self) -> Vec<Rated> {
        let mut rated = vec![Rated::Never; self.terms().len()];
        self.root.rate(Rated::Always, &mut rated);
        rated
    }

    /// Whether every place of a word outside of negations may count, whatever stands elsewhere in its field.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.root.is_free()
    }

    /// As [`Verifier::tally`], for any form of a document: its terms by number. An occurrence of a term is there once for its place,
    /// however often the tree has the term. `false`: there are more than [`ROW_OCCURRENCES_MAX`], and some are missing.
    ///
    /// [`ROW_OCCURRENCES_MAX`]: crate::limits::ROW_OCCURRENCES_MAX
    #[must_use]
    pub fn count<D: Document>(
        &self,
        document: &D,
        buffers: &mut Buffers,
        counts: &mut Counts,
    ) -> bool {
        tally::count(&self.root, self.terms().len(), document, buffers, counts)
    }
}
