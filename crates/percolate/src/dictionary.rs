//! The words that standing queries ask for, numbered.
//!
//! Words are added by the writer and never taken out; a number keeps its meaning in every later snapshot, so entries
//! compiled once stay good. A snapshot shares the table: it is two layers, a large one that is rarely copied and a
//! small one that holds what came since, copied whenever it changes under a snapshot.
//!
//! A word limited to fields is a term of its own, chained to the plain word: words outside the chosen fields then
//! never set its mask, and matching needs no other test of fields.

use std::{hash::BuildHasher, ops::Range, sync::Arc};

use hashbrown::{HashMap, HashTable};
use query::tree::{FieldSet, Word};
use rustc_hash::FxBuildHasher;

/// Number of a term. Dense from 0; `u32::MAX` is none.
pub(crate) type TermId = u32;

/// No term.
const NONE: TermId = TermId::MAX;

/// Longest word that is its own key: with its length it fills 16 bytes.
const SHORT_BYTES_MAX: usize = 15;

/// The small layer is to be merged into the large one when it has so many words, or this part of the large one's:
/// every change under a snapshot copies it.
const RECENT_WORDS_MIN: usize = 512;
const RECENT_PART: usize = 256;

/// With so many words, or this part, it is merged even if that copies the large one: nobody else does it.
const CROWDED_WORDS_MIN: usize = 1 << 15;
const CROWDED_PART: usize = 8;

/// A word of at most 15 bytes, exactly: its bytes, zeros, and its length in the last byte. Equal keys are equal words,
/// so finding a key needs no look at the text.
type Key = [u64; 2];

/// The plain term of a word: it may stand in any field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain {
    key: Key,
    /// Its number.
    pub(crate) term: TermId,
    /// The first term of the same word limited to fields, or [`NONE`].
    limited: TermId,
}

/// A term limited to fields.
#[derive(Clone, Copy, Debug)]
struct Limited {
    term: TermId,
    /// The next one of the same word, or [`NONE`].
    next: TermId,
    fields: FieldSet,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    short: HashTable<Plain>,
    long: HashMap<Arc<[u8]>, Plain, FxBuildHasher>,
    limited: HashMap<TermId, Limited, FxBuildHasher>,
}

impl Layer {
    fn len(&self) -> usize {
        self.short.len() + self.long.len() + self.limited.len()
    }

    fn put_short(&mut self, plain: Plain) {
        use hashbrown::hash_table::Entry;
        let same = |other: &Plain| other.key == plain.key;
        match self
            .short
            .entry(hash_key(plain.key), same, |other| hash_key(other.key))
        {
            Entry::Occupied(mut held) => *held.get_mut() = plain,
            Entry::Vacant(free) => {
                free.insert(plain);
            }
        }
    }

    fn put(&mut self, word: &[u8], plain: Plain) {
        if word.len() <= SHORT_BYTES_MAX {
            self.put_short(plain);
        } else {
            self.long.insert(Arc::from(word), plain);
        }
    }
}

/// The numbered words. A clone shares both layers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    base: Arc<Layer>,
    recent: Arc<Layer>,
    terms: TermId,
}

impl Dictionary {
    /// Terms numbered so far: every id is below this.
    pub(crate) fn len(&self) -> usize {
        self.terms as usize
    }

    /// The plain term of a word, if a query asks for the word. The word is a stretch of a buffer.
    #[inline]
    pub(crate) fn find(&self, buffer: &[u8], word: Range<usize>) -> Option<&Plain> {
        if word.len() > SHORT_BYTES_MAX {
            let word = buffer.get(word)?;
            return self
                .recent
                .long
                .get(word)
                .or_else(|| self.base.long.get(word));
        }
        let key = key_in(buffer, word);
        let hash = hash_key(key);
        let same = |plain: &Plain| plain.key == key;
        if !self.recent.short.is_empty()
            && let Some(plain) = self.recent.short.find(hash, same)
        {
            return Some(plain);
        }
        self.base.short.find(hash, same)
    }

    /// Calls `visit` with every further term of that word which standing in `field` satisfies.
    #[inline]
    pub(crate) fn limited(&self, plain: &Plain, field: u8, mut visit: impl FnMut(TermId)) {
        let mut next = plain.limited;
        while let Some(limited) = self.find_limited(next) {
            if limited.fields.holds(field) {
                visit(limited.term);
            }
            next = limited.next;
        }
    }

    /// The term of a query's word, numbered now if it is new.
    pub(crate) fn intern(&mut self, word: &Word) -> TermId {
        let bytes = word.term.text.as_bytes();
        let plain = match self.find(bytes, 0..bytes.len()) {
            Some(plain) => *plain,
            None => self.add_plain(bytes),
        };
        if word.fields == FieldSet::ALL {
            return plain.term;
        }
        let mut next = plain.limited;
        while let Some(limited) = self.find_limited(next) {
            if limited.fields == word.fields {
                return limited.term;
            }
            next = limited.next;
        }
        self.add_limited(bytes, word.fields, plain)
    }

    /// By number, the word of each term.
    pub(crate) fn words(&self) -> Vec<Word> {
        let mut words = vec![Word::whole("", FieldSet::ALL); self.len()];
        let mut name = |text: &[u8], plain: &Plain| {
            let text = String::from_utf8_lossy(text);
            words[plain.term as usize] = Word::whole(&*text, FieldSet::ALL);
            let mut next = plain.limited;
            while let Some(limited) = self.find_limited(next) {
                words[limited.term as usize] = Word::whole(&*text, limited.fields);
                next = limited.next;
            }
        };
        for layer in [&self.base, &self.recent] {
            for plain in &layer.short {
                let key = plain.key;
                let bytes = (u128::from(key[1]) << 64 | u128::from(key[0])).to_le_bytes();
                let (text, length) = bytes.split_at(SHORT_BYTES_MAX);
                let length = length.first().map_or(0, |length| usize::from(*length));
                name(text.get(..length).unwrap_or_default(), plain);
            }
            for (text, plain) in &layer.long {
                name(text, plain);
            }
        }
        words
    }

    #[inline]
    fn find_limited(&self, term: TermId) -> Option<&Limited> {
        if term == NONE {
            return None;
        }
        self.recent
            .limited
            .get(&term)
            .or_else(|| self.base.limited.get(&term))
    }

    fn add_plain(&mut self, word: &[u8]) -> Plain {
        let short = word.len() <= SHORT_BYTES_MAX;
        let key = if short {
            key_in(word, 0..word.len())
        } else {
            [0, 0]
        };
        let plain = Plain {
            key,
            term: self.number(),
            limited: NONE,
        };
        Arc::make_mut(&mut self.recent).put(word, plain);
        self.settle();
        plain
    }

    fn add_limited(&mut self, word: &[u8], fields: FieldSet, plain: Plain) -> TermId {
        let term = self.number();
        let recent = Arc::make_mut(&mut self.recent);
        recent.limited.insert(
            term,
            Limited {
                term,
                next: plain.limited,
                fields,
            },
        );
        recent.put(
            word,
            Plain {
                limited: term,
                ..plain
            },
        );
        self.settle();
        term
    }

    fn number(&mut self) -> TermId {
        let term = self.terms;
        assert!(term < NONE, "fewer than 2^32 - 1 terms fit into memory");
        self.terms += 1;
        term
    }

    /// Whether the small layer has outgrown its part: another thread is to merge it, by
    /// [`compact`](Dictionary::compact) and [`install`](Dictionary::install).
    pub(crate) fn is_split(&self) -> bool {
        self.recent.len() > RECENT_WORDS_MIN.max(self.base.len() / RECENT_PART)
    }

    /// Merges the small layer into the large one if it has outgrown its part and that is cheap, or has grown out of all
    /// proportion.
    fn settle(&mut self) {
        if self.is_split() {
            let is_shared = Arc::get_mut(&mut self.base).is_none();
            let crowded = CROWDED_WORDS_MIN.max(self.base.len() / CROWDED_PART);
            if !is_shared || self.recent.len() > crowded {
                self.compact();
            }
        }
    }

    /// Takes over the layer of an older copy of this dictionary, which was compacted since. What was added after the
    /// copy was made stays in the small layer.
    pub(crate) fn install(&mut self, compacted: Dictionary) {
        let is_new = |term: TermId| term != NONE && term >= compacted.terms;
        let recent = Arc::make_mut(&mut self.recent);
        let stays = |plain: &Plain| is_new(plain.term) || is_new(plain.limited);
        recent.short.retain(|plain| stays(plain));
        recent.long.retain(|_, plain| stays(plain));
        recent.limited.retain(|term, _| is_new(*term));
        self.base = compacted.base;
    }

    /// Merges the small layer into the large one: a look-up then has one layer to look into. What the small one holds
    /// wins, it is newer. Cost: linear in all words if a snapshot shares the large layer, else in those of the small.
    pub(crate) fn compact(&mut self) {
        let recent = std::mem::take(&mut self.recent);
        let base = Arc::make_mut(&mut self.base);
        for plain in recent.short.iter() {
            base.put_short(*plain);
        }
        base.long.extend(
            recent
                .long
                .iter()
                .map(|(word, plain)| (Arc::clone(word), *plain)),
        );
        base.limited.extend(
            recent
                .limited
                .iter()
                .map(|(term, limited)| (*term, *limited)),
        );
    }
}

/// A number for a word, the same in every process; used to count words that may not be in a dictionary.
#[inline]
pub(crate) fn hash_word(buffer: &[u8], word: Range<usize>) -> u64 {
    if word.len() <= SHORT_BYTES_MAX {
        return hash_key(key_in(buffer, word));
    }
    FxBuildHasher.hash_one(buffer.get(word))
}

/// Reads 16 bytes and blanks those behind the word: no branch on its length, which nobody can predict.
#[inline]
fn key_in(buffer: &[u8], word: Range<usize>) -> Key {
    let length = word.len();
    let bytes = match buffer.get(word.start..).and_then(<[u8]>::first_chunk::<16>) {
        Some(bytes) => *bytes,
        None => padded(buffer.get(word).unwrap_or_default()),
    };
    let kept = KEPT[length & SHORT_BYTES_MAX];
    let (low, high) = (
        u128::from_le_bytes(bytes) as u64,
        (u128::from_le_bytes(bytes) >> 64) as u64,
    );
    [low & kept[0], high & kept[1] | (length as u64) << 56]
}

/// The last words of a buffer, with fewer than 16 bytes to read.
#[cold]
fn padded(word: &[u8]) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, byte) in bytes.iter_mut().zip(word) {
        *place = *byte;
    }
    bytes
}

/// By a word's length: ones where its bytes are.
const KEPT: [Key; SHORT_BYTES_MAX + 1] = {
    let mut kept = [[0, 0]; SHORT_BYTES_MAX + 1];
    let mut length = 0;
    while length <= SHORT_BYTES_MAX {
        let ones = (1_u128 << (8 * length)) - 1;
        kept[length] = [ones as u64, (ones >> 64) as u64];
        length += 1;
    }
    kept
};

/// One wide multiplication, folded.
#[inline]
fn hash_key(key: Key) -> u64 {
    let product = u128::from(key[0] ^ 0x9e37_79b9_7f4a_7c15)
        * u128::from(key[1].rotate_left(17) ^ 0xd1b5_4a32_d192_ed03);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests;
