//! The words of all queries, as the compiler of queries asks for them.

use std::sync::Arc;

use language::tree::{FieldSet, Node, Word};

use crate::{
    conjunction::compile,
    dictionary::Dictionary,
    filter::Filter,
    frequency::{Costs, Stream, Uses},
    level::builder::Fresh,
    standing::StandingQuery,
    term::{TermId, Terms},
};

/// The dictionary of all queries' words, and how often queries name each term.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vocabulary {
    pub(crate) dictionary: Dictionary,
    /// A job under way shares it; the first change after that copies it.
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

/// A vocabulary beside the stream's counts, for the compilation of one query.
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
