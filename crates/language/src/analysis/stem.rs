//! Stems of words, and a cache of recent ones.
//!
//! A stemmer knows letters that folding takes away: Russian `й`, French `é`. So a word is stemmed as written, in
//! lower case, and the stem is folded. A stemmer takes a microsecond and words repeat, so each thread caches stems.

use crate::meter::Unmetered;
use std::cell::RefCell;
use std::hash::{BuildHasher, Hash, Hasher};

use rustc_hash::FxBuildHasher;
use unicode_normalization::UnicodeNormalization;

use super::fold;
use super::settings::Settings;

/// Slots of a thread's cache; a power of two. 2 MiB. A new word replaces the word in its slot.
const REMEMBERED: usize = 32 << 10;

/// A word as it is looked up, with its stem behind it: one cache line.
#[derive(Clone)]
#[repr(align(64))]
struct Slot {
    /// Hash of the settings and the word.
    key: u64,
    word_bytes: u8,
    /// 0 if the word is its own stem.
    stem_bytes: u8,
    text: [u8; TEXT_BYTES],
}

/// Room for a word and its stem, in bytes; longer ones are not cached.
const TEXT_BYTES: usize = 54;

impl Slot {
    const EMPTY: Slot = Slot {
        key: 0,
        word_bytes: 0,
        stem_bytes: 0,
        text: [0; TEXT_BYTES],
    };

    /// The word's stem, if this is its slot.
    fn stem_of(&self, key: u64, word: &str) -> Option<&str> {
        let (known, rest) = self.text.split_at_checked(usize::from(self.word_bytes))?;
        if self.key != key || known != word.as_bytes() {
            return None;
        }
        let stem = rest.get(..usize::from(self.stem_bytes))?;
        std::str::from_utf8(stem).ok()
    }

    /// Stores a word, if there is room for it.
    fn keep(&mut self, key: u64, word: &str, stem: &str) {
        let bytes = word.len() + stem.len();
        let Some(text) = self.text.get_mut(..bytes) else {
            return;
        };
        let (known, rest) = text.split_at_mut(word.len());
        known.copy_from_slice(word.as_bytes());
        rest.copy_from_slice(stem.as_bytes());
        self.key = key;
        self.word_bytes = word.len() as u8; // at most TEXT_BYTES
        self.stem_bytes = stem.len() as u8;
    }
}

thread_local! {
    static LATELY: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// Calls `take` with the stem of a folded word written as `source`: the folded word itself if it has no other stem.
/// `take` must not call this function.
pub(super) fn with_stem<T>(
    settings: &Settings,
    folded: &str,
    source: &str,
    take: impl FnOnce(&str) -> T,
) -> T {
    // Folding changes only the case of ASCII.
    let word = if source.is_ascii() { folded } else { source };
    let mut hasher = FxBuildHasher.build_hasher();
    settings.hash_stemmers(&mut hasher);
    word.hash(&mut hasher);
    let key = hasher.finish();
    LATELY.with_borrow_mut(|slots| {
        if slots.is_empty() {
            slots.resize(REMEMBERED, Slot::EMPTY);
        }
        let made;
        let mut slot = slots.get_mut((key >> 20) as usize & (REMEMBERED - 1));
        let known = slot.as_deref().and_then(|slot| slot.stem_of(key, word));
        let stem = match known {
            Some(stem) => stem,
            None => {
                made = stem(settings, folded, source);
                if let Some(slot) = &mut slot {
                    slot.keep(key, word, &made);
                }
                &made
            }
        };
        take(if stem.is_empty() { folded } else { stem })
    })
}

/// Computes a stem; empty if the word is its own.
fn stem(settings: &Settings, folded: &str, source: &str) -> String {
    if source.is_ascii() {
        return settings.stem(folded, folded).unwrap_or_default();
    }
    let lower: String = source.nfkc().flat_map(char::to_lowercase).collect();
    let Some(stem) = settings.stem(&lower, folded) else {
        return String::new();
    };
    let mut words = Vec::new();
    fold::words(&stem, &Unmetered, &mut |word| {
        words.push(word.text.to_owned())
    });
    match words.pop() {
        Some(word) if words.is_empty() => word,
        _ => String::new(),
    }
}
