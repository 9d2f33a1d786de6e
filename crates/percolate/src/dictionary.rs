//! The words that standing queries ask for, numbered.
//!
//! Words are added by the writer and never taken out; a number keeps its meaning in every later snapshot, so entries
//! compiled once stay good. A snapshot shares the table: it is two layers, a large one that is rarely copied and a
//! small one that holds what came since, copied whenever it changes under a snapshot.
//!
//! A word limited to fields is a term of its own, chained to the plain word: words outside the chosen fields then
//! never set its mask, and matching needs no other test of fields.

use std::sync::Arc;

use hashbrown::{HashMap, HashTable};
use query::tree::{FieldSet, Word};
use rustc_hash::FxBuildHasher;

/// Number of a term. Dense from 0; `u32::MAX` is none.
pub(crate) type TermId = u32;

/// No term.
const NONE: TermId = TermId::MAX;

/// Longest word that is its own key.
const SHORT_BYTES_MAX: usize = 15;

/// The small layer is merged into the large one when it has so many words, or this part of the large one's.
const RECENT_WORDS_MIN: usize = 256;
const RECENT_PART: usize = 64;

/// A word of at most 15 bytes, exactly: its bytes padded with zeros, and its length in the last byte. Equal keys are
/// equal words, so finding a key needs no look at the text. A chained term's key has 255 there.
type Key = [u64; 2];

/// One term.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    key: Key,
    /// Its number.
    pub(crate) term: TermId,
    /// The next term of the same word, limited to fields; [`NONE`] at the end.
    next: TermId,
    /// Where the word must stand.
    fields: FieldSet,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    short: HashTable<Slot>,
    long: HashMap<Arc<str>, Slot, FxBuildHasher>,
}

impl Layer {
    fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    fn find_key(&self, key: Key) -> Option<&Slot> {
        self.short.find(hash_key(key), |slot| slot.key == key)
    }

    fn put_key(&mut self, slot: Slot) {
        use hashbrown::hash_table::Entry;
        let same = |other: &Slot| other.key == slot.key;
        match self
            .short
            .entry(hash_key(slot.key), same, |other| hash_key(other.key))
        {
            Entry::Occupied(mut held) => *held.get_mut() = slot,
            Entry::Vacant(free) => {
                free.insert(slot);
            }
        }
    }

    fn put_word(&mut self, word: &str, slot: Slot) {
        if word.len() <= SHORT_BYTES_MAX {
            self.put_key(slot);
        } else {
            self.long.insert(Arc::from(word), slot);
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

    /// The plain term of a word, if a query asks for the word in any field.
    #[inline]
    pub(crate) fn find(&self, word: &str) -> Option<&Slot> {
        if word.len() > SHORT_BYTES_MAX {
            return self
                .recent
                .long
                .get(word)
                .or_else(|| self.base.long.get(word));
        }
        let key = key_of(word);
        let hash = hash_key(key);
        let same = |slot: &Slot| slot.key == key;
        if !self.recent.short.is_empty()
            && let Some(slot) = self.recent.short.find(hash, same)
        {
            return Some(slot);
        }
        self.base.short.find(hash, same)
    }

    /// Calls `visit` with every term of that word which standing in `field` satisfies, besides the plain one.
    #[inline]
    pub(crate) fn limited(&self, slot: &Slot, field: u8, mut visit: impl FnMut(TermId)) {
        let mut next = slot.next;
        while next != NONE {
            let Some(slot) = self.find_chained(next) else {
                return;
            };
            if slot.fields.holds(field) {
                visit(slot.term);
            }
            next = slot.next;
        }
    }

    /// The term of a query's word, numbered now if it is new.
    pub(crate) fn intern(&mut self, word: &Word) -> TermId {
        let plain = match self.find(&word.text) {
            Some(slot) => *slot,
            None => self.add_plain(&word.text),
        };
        if word.fields == FieldSet::ALL {
            return plain.term;
        }
        let mut next = plain.next;
        while let Some(slot) = self.find_chained(next) {
            if slot.fields == word.fields {
                return slot.term;
            }
            next = slot.next;
        }
        self.add_limited(word, plain)
    }

    fn find_chained(&self, term: TermId) -> Option<&Slot> {
        let key = chained_key(term);
        self.recent
            .find_key(key)
            .or_else(|| self.base.find_key(key))
    }

    fn add_plain(&mut self, word: &str) -> Slot {
        let key = if word.len() <= SHORT_BYTES_MAX {
            key_of(word)
        } else {
            [0, 0]
        };
        let slot = Slot {
            key,
            term: self.number(),
            next: NONE,
            fields: FieldSet::ALL,
        };
        Arc::make_mut(&mut self.recent).put_word(word, slot);
        self.settle();
        slot
    }

    fn add_limited(&mut self, word: &Word, plain: Slot) -> TermId {
        let term = self.number();
        let key = chained_key(term);
        let recent = Arc::make_mut(&mut self.recent);
        recent.put_key(Slot {
            key,
            term,
            next: plain.next,
            fields: word.fields,
        });
        recent.put_word(
            &word.text,
            Slot {
                next: term,
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

    /// Merges the small layer into the large one when it has outgrown its part. What it holds wins: it is newer.
    fn settle(&mut self) {
        if self.recent.len() <= RECENT_WORDS_MIN.max(self.base.len() / RECENT_PART) {
            return;
        }
        let recent = std::mem::take(&mut self.recent);
        let base = Arc::make_mut(&mut self.base);
        for slot in recent.short.iter() {
            base.put_key(*slot);
        }
        for (word, slot) in &recent.long {
            base.long.insert(Arc::clone(word), *slot);
        }
    }
}

/// A number for a word, the same in every process; used to count words that may not be in a dictionary.
#[inline]
pub(crate) fn hash_word(word: &str) -> u64 {
    if word.len() <= SHORT_BYTES_MAX {
        hash_key(key_of(word))
    } else {
        use std::hash::BuildHasher;
        FxBuildHasher.hash_one(word)
    }
}

fn chained_key(term: TermId) -> Key {
    [u64::from(term), u64::MAX]
}

/// Reads whole words instead of single bytes: 8 and 8 overlapping ones, 4 and 4, or up to 3.
#[inline]
fn key_of(word: &str) -> Key {
    let bytes = word.as_bytes();
    let length = (bytes.len() as u64) << 56;
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        // The last 8 bytes end where the word ends: what they share with the first 8 is shifted out.
        let shared_bits = 8 * (16 - bytes.len() as u32);
        let rest = u64::from_le_bytes(*last)
            .checked_shr(shared_bits)
            .unwrap_or(0);
        [u64::from_le_bytes(*first), rest | length]
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        [u64::from(first) | u64::from(last) << 32, length]
    } else {
        let at = |index: usize| u64::from(bytes.get(index).copied().unwrap_or(0));
        [at(0) | at(1) << 8 | at(2) << 16, length]
    }
}

/// One wide multiplication, folded.
#[inline]
fn hash_key(key: Key) -> u64 {
    let product = u128::from(key[0] ^ 0x9e37_79b9_7f4a_7c15)
        * u128::from(key[1].rotate_left(17) ^ 0xd1b5_4a32_d192_ed03);
    product as u64 ^ (product >> 64) as u64
}
