//! The words of a slice's documents, looked up in the dictionary.
//!
//! Example: queries name `storm` and `gulf`, whose terms are 5 and 9. The documents are `storm over gulf` and `gulf`.
//!
//! ```text
//! plain  5 UNKNOWN 9 | 9      ends 3 4
//! ```

use language::analysis::Words;

use crate::{
    dictionary::View,
    hit_pairs::grow,
    term::{Key, Plain},
};

/// The dictionary's entries of the words of a slice's documents. A matcher's own; kept for its memory.
#[derive(Debug, Default)]
pub(crate) struct WordTerms {
    /// By word, one document after the other; the items behind the last of `ends` are of an earlier slice.
    pub(crate) plain: Vec<Plain>,
    /// By document: where its words end in `plain`.
    pub(crate) ends: Vec<usize>,
    /// Buffers of the vector code: of each word the key, its hash, and where the dictionary may have it.
    pub(crate) keys: Vec<Key>,
    pub(crate) hashes: Vec<u64>,
    pub(crate) indexes: Vec<u32>,
}

impl WordTerms {
    /// Forgets all documents.
    pub(crate) fn clear(&mut self) {
        self.ends.clear();
    }

    /// The number of words looked up.
    pub(crate) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The entries of all words from the word `first` on.
    pub(crate) fn from(&self, first: usize) -> &[Plain] {
        &self.plain[first..self.len()]
    }

    /// The entries of a document's words.
    pub(crate) fn of(&self, document: usize) -> &[Plain] {
        let start = document
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.plain[start..self.ends[document]]
    }

    /// Adds documents whose words are in `plain` behind the words so far.
    pub(crate) fn push(&mut self, documents: &[Words]) {
        let mut end = self.len();
        self.ends.extend(documents.iter().map(|document| {
            end += document.len();
            end
        }));
    }

    /// Looks up the words of more documents, on any processor.
    #[inline(always)]
    pub(crate) fn look_up(&mut self, view: View<'_>, documents: &[Words]) {
        let first = self.len();
        self.push(documents);
        let end = self.len();
        grow(&mut self.plain, end);
        let mut plain = self.plain[first..].iter_mut();
        for document in documents {
            let buffer = document.buffer();
            // The documents come first, so that no item of the list is taken behind the last word.
            for ((word, _), plain) in document.spans().zip(&mut plain) {
                *plain = view.find(buffer, word);
            }
        }
    }
}
