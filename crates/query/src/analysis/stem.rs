//! Stems of words, and the memory of those met lately.
//!
//! A stemmer knows letters that folding takes away: Russian `й`, French `é`. So a word is stemmed as it was written, in lower
//! case, and the stem is folded. A stemmer takes a microsecond; words repeat, so each thread keeps the stems of some thousands.

use std::cell::RefCell;
use std::hash::{BuildHasher, Hash};

use rustc_hash::FxBuildHasher;
use unicode_normalization::UnicodeNormalization;

use super::{Settings, fold};

/// Words that a thread remembers; a power of two. A new word takes the place of another one.
const REMEMBERED: usize = 16 << 10;

/// A word as it was looked up, and its stem, empty if it is its own.
#[derive(Clone, Default)]
struct Slot {
    /// Of the settings and the word.
    key: u64,
    word: Box<str>,
    stem: Box<str>,
}

thread_local! {
    static LATELY: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// Calls `take` with the stem of a folded word that was written as `source`, which is the folded word itself if it has none.
pub(super) fn with_stem<T>(
    settings: &Settings,
    folded: &str,
    source: &str,
    take: impl FnOnce(&str) -> T,
) -> T {
    // Folding ASCII only lowers it.
    let word = if source.is_ascii() { folded } else { source };
    let mut hasher = FxBuildHasher.build_hasher();
    settings.hash_stemmers(&mut hasher);
    word.hash(&mut hasher);
    let key = std::hash::Hasher::finish(&hasher);
    LATELY.with_borrow_mut(|slots| {
        if slots.is_empty() {
            slots.resize(REMEMBERED, Slot::default());
        }
        let at = (key >> 20) as usize & (REMEMBERED - 1);
        let Some(slot) = slots.get_mut(at) else {
            return take(folded);
        };
        if slot.key != key || *slot.word != *word {
            *slot = Slot {
                key,
                word: word.into(),
                stem: stem(settings, folded, source).into(),
            };
        }
        take(if slot.stem.is_empty() {
            folded
        } else {
            &slot.stem
        })
    })
}

/// The stem; empty if the word is its own.
fn stem(settings: &Settings, folded: &str, source: &str) -> String {
    if source.is_ascii() {
        return settings.stem(folded).unwrap_or_default();
    }
    let lower: String = source.nfkc().flat_map(char::to_lowercase).collect();
    let Some(stem) = settings.stem(&lower) else {
        return String::new();
    };
    let mut words = Vec::new();
    fold::words(&stem, &mut |word| words.push(word.text.to_owned()));
    match words.pop() {
        Some(word) if words.is_empty() => word,
        _ => String::new(),
    }
}
