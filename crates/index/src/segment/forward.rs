//! Forward lists: the distinct words of one row. With it a deletion takes the row's words off the
//! statistics without reading the text again.
//!
//! Layout: for each word, by rising number, two LEB128 numbers: the distance from the word before
//! (from 0 for the first), and its occurrences. Example: word 3 twice and word 7 once are the bytes
//! `3 2 4 1`.
//!
//! From format 4 on, the ends of the row's text stand before its list: a LEB128 number, then as
//! many bytes less one; see [`crate::text_ends::TextEnds`]. 0: nobody knows them, since the row comes
//! from an older segment. Example: the ends of one field of 5 words are the bytes `4`, `0 5 0`.

use relation::codec::{cut_small, put_number};

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

/// Appends the ends of one row's text; `None`: nobody knows them.
pub(super) fn encode_ends(ends: Option<&Vec<u8>>, out: &mut Vec<u8>) {
    put_number(out, ends.map_or(0, |ends| ends.len() as u64 + 1));
    out.extend_from_slice(ends.map_or(&[], Vec::as_slice));
}

/// The ends of one row's text, if somebody knows them, and the bytes of its list behind them. `None`
/// where the bytes are neither.
pub(super) fn cut_ends(mut bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    match cut_small(&mut bytes)?.checked_sub(1) {
        None => Some((None, bytes)),
        Some(length) => {
            let (ends, list) = bytes.split_at_checked(length as usize)?;
            Some((Some(ends), list))
        }
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
