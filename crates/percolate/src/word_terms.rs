//! The words of one document, looked up in the dictionary.

use query::analysis::Words;

use crate::{
    dictionary::View,
    hit_pairs::grow,
    term::{Key, Plain, TermId, UNKNOWN},
};

/// The terms of a document's words. A matcher's own; kept for its memory.
#[derive(Debug, Default)]
pub(crate) struct WordTerms {
    /// By word of the document; longer than the document where an earlier one was.
    pub(crate) plain: Vec<Plain>,
    /// Buffer of the vector code: the keys of the words.
    pub(crate) keys: Vec<Key>,
    /// The known terms in the order of the words; the first `known_len` are in use.
    pub(crate) known: Vec<TermId>,
    pub(crate) known_len: usize,
    /// Whether a word has terms limited to fields.
    pub(crate) is_limited: bool,
}

impl WordTerms {
    /// Looks up the words of a document, on any processor.
    #[inline(always)]
    pub(crate) fn look_up(&mut self, view: View<'_>, document: &Words) {
        grow(&mut self.plain, document.len());
        self.is_limited = false;
        let buffer = document.buffer();
        for ((word, _), plain) in document.spans().zip(&mut self.plain) {
            *plain = view.find(buffer, word);
            self.is_limited |= plain.is_limited();
        }
        self.sift(document.len());
    }

    /// Fills `known` from the first `words` of `plain`. It does not branch on whether a word is known.
    #[inline(always)]
    pub(crate) fn sift(&mut self, words: usize) {
        grow(&mut self.known, words);
        let mut count = 0;
        for plain in &self.plain[..words] {
            self.known[count] = plain.term();
            count += usize::from(plain.term() != UNKNOWN);
        }
        self.known_len = count;
    }

    /// The known terms of the document's words; a repeated word repeats its term.
    #[inline(always)]
    pub(crate) fn known(&self) -> &[TermId] {
        &self.known[..self.known_len]
    }
}
