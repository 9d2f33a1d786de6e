//! What the dictionary says of the words of one document.

use query::analysis::Words;

use crate::{
    dictionary::View,
    hit_pairs::grow,
    term::{Key, Plain, TermId, UNKNOWN},
};

/// The words of a document, looked up.
#[derive(Debug, Default)]
pub(crate) struct WordTerms {
    /// By word; then what is not in use.
    pub(crate) plain: Vec<Plain>,
    /// Kept for its memory.
    pub(crate) keys: Vec<Key>,
    /// The terms that are known, in the order of the words; the first `known_len` are in use.
    pub(crate) known: Vec<TermId>,
    pub(crate) known_len: usize,
    /// A word has terms limited to fields.
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

    /// Lists the terms that are known of so many words. No branch on whether one is.
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

    /// The terms of the document's words, some more than once.
    #[inline(always)]
    pub(crate) fn known(&self) -> &[TermId] {
        &self.known[..self.known_len]
    }
}
