//! Forward lists: the distinct words of one row. With it a deletion takes the row's words off the
//! statistics without reading the text again.
//!
//! Layout: for each word, by rising number, two LEB128 numbers: the distance from the word before
//! (from 0 for the first), and its occurrences. Example: word 3 twice and word 7 once are the bytes
//! `3 2 4 1`.

use query::codec::{cut_small, put_number};

use crate::removed::WordCount;

/// Appends the list of one row. `words`: sorted by word, each once.
pub(super) fn encode(words: &[WordCount], out: &mut Vec<u8>) {
    let mut before = 0;
    for WordCount { word, hits } in words {
        put_number(out, (word - before).into());
        put_number(out, (*hits).into());
        before = *word;
    }
}

/// Reads the list of one row; `None` where the bytes are no such list.
pub(super) fn decode(mut bytes: &[u8]) -> Option<Vec<WordCount>> {
    let mut words = Vec::new();
    let mut before = 0u32;
    while !bytes.is_empty() {
        before = before.checked_add(cut_small(&mut bytes)?)?;
        words.push(WordCount {
            word: before,
            hits: cut_small(&mut bytes)?,
        });
    }
    Some(words)
}
