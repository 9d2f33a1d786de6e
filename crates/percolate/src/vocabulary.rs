//! The words of all queries, as compiling asks for them.

use std::sync::Arc;

use query::tree::{FieldSet, Node, Word};

use crate::{
    conjunction::compile,
    dictionary::Dictionary,
    filter::Filter,
    frequency::{Costs, Stream, Uses},
    level::builder::Fresh,
    standing::StandingQuery,
    term::{TermId, Terms},
};

/// The words of all queries, and how often they were named.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    pub(crate) dictionary: Dictionary,
    /// Shared with a job: copied by the first change after it began.
    pub(crate) uses: Arc<Uses>,
}

impl Vocabulary {
    pub(crate) fn compiled(
        &mut self,
        stream: &Stream,
        query: Arc<StandingQuery>,
        root: &Node,
        filter: Option<Filter>,
    ) -> Fresh {
        let mut terms = Compiling {
            words: self,
            stream,
        };
        Fresh {
            conjunctions: compile(root, &mut terms),
            filter,
            query,
        }
    }
}

/// A vocabulary with the stream's counts: what compiling a query asks.
struct Compiling<'a> {
    words: &'a mut Vocabulary,
    stream: &'a Stream,
}

impl Terms for Compiling<'_> {
    fn intern(&mut self, word: &Word) -> TermId {
        let term = self.words.dictionary.intern(word);
        let uses = Arc::make_mut(&mut self.words.uses);
        match self.words.dictionary.patterns.literal_bytes(word) {
            Some(bytes) => uses.add_pattern(term, bytes),
            None => uses.add(term, &word.term.text),
        }
        term
    }

    fn phrase(&mut self, words: &[&str], fields: FieldSet) -> TermId {
        let term = self.words.dictionary.intern_phrase(words, fields);
        Arc::make_mut(&mut self.words.uses).add_phrase(term, words, self.stream);
        term
    }

    fn cost(&self, term: TermId) -> u64 {
        Costs::new(self.stream, &self.words.uses).of(term)
    }
}
