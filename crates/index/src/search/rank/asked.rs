//! The words of a query as rankers see them: where each is asked for.

use query::tree::{Form, Node, Term, Word};

/// One distinct word of a query, its patterns being the words they stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskedWord {
    /// Live rows that hold it.
    pub(crate) documents: u64,
    /// Where in the query it is asked for, outside of any negation: rising, each once, from 0. Empty for a word that is only
    /// excluded.
    pub(crate) places: Vec<u32>,
    /// The fields in which it may count.
    pub(crate) fields: u64,
}

/// The words of a query, by their number in the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) words: Vec<AskedWord>,
    /// Whether a phrase is asked for outside of any negation.
    pub(crate) has_phrase: bool,
    pub(super) next: u32,
}

impl Asked {
    /// `query` is the tree that is stepped through, `expanded` the same with its patterns as words, `number` a word's number
    /// among those of the plan, `every` the bits of the table's fields.
    ///
    /// Places are counted along the query's text: one for each word, in a phrase also for what stands between. All words
    /// that a pattern stands for share its place.
    pub(crate) fn new(
        query: &Node,
        expanded: &Node,
        number: &dyn Fn(&str) -> Option<usize>,
        every: u64,
    ) -> Asked {
        let mut asked = Asked::default();
        asked.collect(query, expanded, number, every);
        asked
    }

    /// In how many live rows each word stands, for all words of the plan.
    pub(crate) fn set_documents(&mut self, documents: impl ExactSizeIterator<Item = u64>) {
        self.words.resize(documents.len(), AskedWord::default());
        for (word, documents) in self.words.iter_mut().zip(documents) {
            word.documents = documents;
        }
    }

    /// Places of the query.
    pub(crate) fn places(&self) -> u32 {
        self.next
    }

    /// By word, its place, if none of at most 64 has several. A word that is only excluded gets one that nobody asks for.
    pub(super) fn places_once(&self) -> Option<Vec<u32>> {
        let is_single = |word: &AskedWord| word.places.len() <= 1;
        let place = |word: &AskedWord| word.places.first().copied().unwrap_or(0);
        (self.words.len() <= 64 && self.words.iter().all(is_single))
            .then(|| self.words.iter().map(place).collect())
    }

    /// Distinct words outside of negations.
    pub(crate) fn wanted(&self) -> usize {
        let wanted = |word: &&AskedWord| !word.places.is_empty();
        self.words.iter().filter(wanted).count()
    }

    fn collect(
        &mut self,
        query: &Node,
        expanded: &Node,
        number: &dyn Fn(&str) -> Option<usize>,
        every: u64,
    ) {
        let mut all = |queries: &[Node], expandeds: &[Node]| {
            for (query, expanded) in queries.iter().zip(expandeds) {
                self.collect(query, expanded, number, every);
            }
        };
        match (query, expanded) {
            (Node::Word(word), Node::Or(found)) if word.term.form != Form::Whole => {
                for found in found {
                    if let Node::Word(Word { term, fields }) = found {
                        self.stands(number(&term.text), fields.0 & every, self.next);
                    }
                }
                self.next += 1;
            }
            (Node::Word(Word { term, fields }), _) => {
                self.stands(number(&term.text), fields.0 & every, self.next);
                self.next += 1;
            }
            (Node::Phrase { words, fields }, _) => {
                self.phrase(words, fields.0 & every, number);
            }
            (Node::And(parts), Node::And(others))
            | (Node::Or(parts), Node::Or(others))
            | (Node::Quorum { parts, .. }, Node::Quorum { parts: others, .. }) => {
                all(parts, others);
            }
            (Node::Maybe(left, right), Node::Maybe(other_left, other_right)) => {
                self.collect(left, other_left, number, every);
                self.collect(right, other_right, number, every);
            }
            // Nothing else is stepped through, and what is excluded has no place.
            _ => {}
        }
    }

    fn phrase(
        &mut self,
        words: &[(Term, u32)],
        fields: u64,
        number: &dyn Fn(&str) -> Option<usize>,
    ) {
        self.has_phrase = true;
        let first = self.next;
        for (term, distance) in words {
            self.stands(number(&term.text), fields, first + distance);
            self.next = first + distance + 1;
        }
    }

    fn stands(&mut self, word: Option<usize>, fields: u64, place: u32) {
        let Some(word) = word else {
            return;
        };
        if self.words.len() <= word {
            self.words.resize(word + 1, AskedWord::default());
        }
        let word = &mut self.words[word];
        word.fields |= fields;
        if word.places.last() != Some(&place) {
            word.places.push(place);
        }
    }
}
