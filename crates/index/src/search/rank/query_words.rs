//! The words of a query with their places in it, as rankers need them.
//!
//! "Place" here is a place in the query, counted from 0. Example: `black "white cat" -dog bl*`:
//!
//! ```text
//! black 0    white 1    cat 2    -dog 3    bl* 4 (all words that it stands for)
//! ```
//!
//! Words in a phrase count together as one unit. So `white` has place 1 in `places` but none in `alone`.

use language::tree::{Node, Term, Word};
use smallvec::SmallVec;

use super::super::plan::TermWords;

/// Places in a query, rising. Inline for up to two, since most words have one.
pub(crate) type Places = SmallVec<[u32; 2]>;

/// One distinct word of a query, or one word that a pattern stands for.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryWord {
    /// Live rows that hold the word.
    pub(crate) documents: u64,
    /// Places outside of any negation: rising, each once. Empty for a word that is only excluded.
    pub(crate) places: Places,
    /// Those of `places` at which the word counts by itself and not as part of a unit.
    pub(crate) alone: Places,
    /// Set of the fields in which the word may count.
    pub(crate) fields: u64,
}

/// The words of a query by their number in the plan, and its phrases.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueryWords {
    pub(crate) words: Vec<QueryWord>,
    /// The phrases of the tree in its order, excluded ones too: first place, places covered, words.
    pub(crate) phrases: Vec<(u32, u32, u32)>,
    /// Distinct words of the query, excluded ones too; a pattern counts as one.
    pub(crate) distinct: usize,
    /// Whether a word counts only at some of its places: in a phrase, or in a tree that
    /// places decide.
    pub(crate) counts_by_place: bool,
    /// Whether a run may go on at an earlier place of the query: in trees with operators on
    /// positions.
    pub(super) is_free: bool,
    /// Place behind the last word outside of negations.
    pub(super) end: u32,
    /// Next place while the tree is walked.
    pub(super) next: u32,
}

impl QueryWords {
    /// Collects the words of a tree whose every node has a step. `words_of`: the numbers of the
    /// words that a term stands for. `every`: set of the table's fields.
    ///
    /// Places are counted along the query's text: one for each word, excluded ones too; in a phrase
    /// also for the gaps. All words that a pattern stands for share its place.
    pub(crate) fn new(
        query: &Node,
        words_of: &dyn Fn(&Term) -> TermWords,
        every: u64,
    ) -> QueryWords {
        let mut query_words = QueryWords::default();
        query_words.collect(query, words_of, every);
        query_words
    }

    /// Collects the words of a tree that is weighed by the places of its terms.
    pub(crate) fn of_placed(
        root: &Node,
        words_of: &dyn Fn(&Term) -> TermWords,
        every: u64,
        is_free: bool,
    ) -> QueryWords {
        let mut query_words = QueryWords {
            counts_by_place: true,
            is_free,
            ..QueryWords::default()
        };
        query_words.collect_placed(root, false, words_of, every);
        query_words
    }

    /// Walks the tree. `in_unit`: the words below count as one unit.
    fn collect_placed(
        &mut self,
        node: &Node,
        in_unit: bool,
        words: &dyn Fn(&Term) -> TermWords,
        every: u64,
    ) {
        let mut all = |parts: &[Node], in_unit: bool| {
            parts
                .iter()
                .for_each(|part| self.collect_placed(part, in_unit, words, every));
        };
        match node {
            Node::All => {}
            Node::Not(part) => self.next += part.places(),
            Node::Word(Word { term, fields })
            | Node::Repeated {
                word: Word { term, fields },
                ..
            } => self.term(term, fields.0 & every, in_unit, words),
            Node::Phrase {
                words: terms,
                fields,
            } => {
                let first = self.next;
                for (term, distance) in terms {
                    self.next = first + distance;
                    self.term(term, fields.0 & every, true, words);
                }
            }
            Node::Proximity { terms, fields, .. } => {
                let fields = fields.0 & every;
                terms
                    .iter()
                    .for_each(|term| self.term(term, fields, true, words));
                self.next += 1;
            }
            Node::Quorum { parts, .. } => {
                all(parts, in_unit);
                self.next += 1;
            }
            Node::Order(parts)
            | Node::Together { parts, .. }
            | Node::And(parts)
            | Node::Or(parts) => all(parts, in_unit),
            Node::Maybe(left, right) => {
                self.collect_placed(left, in_unit, words, every);
                self.collect_placed(right, in_unit, words, every);
            }
            Node::Near { left, right, .. } => {
                self.collect_placed(left, true, words, every);
                self.collect_placed(right, true, words, every);
            }
            Node::NotNear { left, right, .. } => {
                self.collect_placed(left, in_unit, words, every);
                self.next += right.places();
            }
        }
    }

    /// Gives the next place to a word, or to all words that a pattern stands for.
    fn term(
        &mut self,
        term: &Term,
        fields: u64,
        in_unit: bool,
        words_of: &dyn Fn(&Term) -> TermWords,
    ) {
        for number in words_of(term) {
            self.stands(number, fields, self.next, in_unit);
        }
        self.next += 1;
        self.end = self.next;
    }

    /// Sets the number of live rows of every word of the plan.
    pub(crate) fn set_documents(&mut self, documents: impl ExactSizeIterator<Item = u64>) {
        self.words.resize(documents.len(), QueryWord::default());
        for (word, documents) in self.words.iter_mut().zip(documents) {
            word.documents = documents;
        }
    }

    /// Place behind the last word outside of negations.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Whether the query has at most one place, excluded words included.
    pub(super) fn is_one_term(&self) -> bool {
        self.next <= 1
    }

    /// Whether all words have the same place, so that no run can have two words.
    pub(super) fn is_single(&self) -> bool {
        let mut places = self.words.iter().flat_map(|word| &word.places);
        let first = places.next();
        first.is_none_or(|first| places.all(|place| place == first))
    }

    /// By word: its only place; `None` if a word has several, or there are more than 64 words. A
    /// word that is only excluded gets 0, which is never read.
    pub(super) fn places_once(&self) -> Option<Vec<u32>> {
        let is_single = |word: &QueryWord| word.places.len() <= 1;
        let place = |word: &QueryWord| word.places.first().copied().unwrap_or(0);
        (self.words.len() <= 64 && self.words.iter().all(is_single))
            .then(|| self.words.iter().map(place).collect())
    }

    /// Number of distinct words outside of negations.
    pub(crate) fn wanted(&self) -> usize {
        let wanted = |word: &&QueryWord| !word.places.is_empty();
        self.words.iter().filter(wanted).count()
    }

    /// Walks a tree whose every node has a step.
    fn collect(&mut self, query: &Node, words_of: &dyn Fn(&Term) -> TermWords, every: u64) {
        let mut all = |parts: &[Node]| {
            parts
                .iter()
                .for_each(|part| self.collect(part, words_of, every));
        };
        match query {
            Node::Word(Word { term, fields }) => {
                self.term(term, fields.0 & every, false, words_of);
            }
            Node::Phrase { words, fields } => {
                self.phrase(words, fields.0 & every, words_of);
            }
            Node::Quorum { parts, .. } => {
                all(parts);
                self.next += 1;
            }
            Node::And(parts) | Node::Or(parts) => all(parts),
            Node::Maybe(left, right) => {
                self.collect(left, words_of, every);
                self.collect(right, words_of, every);
            }
            Node::Not(part) => {
                self.excluded_phrases(part);
                self.next += part.places();
            }
            // They have no step.
            Node::All
            | Node::Repeated { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => {}
        }
    }

    /// Adds the words of a phrase, which count as one unit.
    fn phrase(
        &mut self,
        words: &[(Term, u32)],
        fields: u64,
        words_of: &dyn Fn(&Term) -> TermWords,
    ) {
        self.counts_by_place = true;
        let first = self.next;
        for (term, distance) in words {
            self.next = first + distance;
            self.term(term, fields, true, words_of);
        }
        self.phrases
            .push((first, self.next - first, words.len() as u32));
    }

    /// Adds the phrases below a negation: they have numbers in the plan too, so the numbers stay in
    /// step.
    fn excluded_phrases(&mut self, node: &Node) {
        match node {
            Node::Phrase { .. } => self.phrases.push((0, 1, 0)),
            Node::And(parts) | Node::Or(parts) | Node::Quorum { parts, .. } => {
                parts.iter().for_each(|part| self.excluded_phrases(part));
            }
            Node::Maybe(left, right) => {
                self.excluded_phrases(left);
                self.excluded_phrases(right);
            }
            Node::Not(part) => self.excluded_phrases(part),
            // They hold no phrases, or have no step.
            Node::All
            | Node::Word(_)
            | Node::Repeated { .. }
            | Node::Proximity { .. }
            | Node::Order(_)
            | Node::Near { .. }
            | Node::NotNear { .. }
            | Node::Together { .. } => {}
        }
    }

    /// Adds a place of a word. `in_unit`: the word counts there as part of a unit.
    fn stands(&mut self, word: usize, fields: u64, place: u32, in_unit: bool) {
        if self.words.len() <= word {
            self.words.resize(word + 1, QueryWord::default());
        }
        let word = &mut self.words[word];
        word.fields |= fields;
        for (places, is_one) in [(&mut word.places, true), (&mut word.alone, !in_unit)] {
            if is_one && places.last() != Some(&place) {
                places.push(place);
            }
        }
    }
}
