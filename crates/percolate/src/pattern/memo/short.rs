//! A hash table from the keys of words to their entries in the memo.
//!
//! A slot has a key and its entry side by side, in half a cache line. Its place follows from the hash alone, so it can
//! be prefetched, and mostly the first slot read is the right one.
//!
//! Invariants:
//! - At most half of the slots are in use, so a look-up ends at a free slot.
//! - No word has the key of a free slot.

use super::Met;
use crate::{
    fetch::Fetch,
    term::{Key, hash_key},
};

/// The key of a free slot.
const FREE: Key = [0, 0];

#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Slot {
    key: Key,
    met: Met,
}

const _: () = assert!(size_of::<Slot>() == 32, "no slot lies in two cache lines");

/// A table with open addressing.
#[derive(Debug, Default)]
pub(super) struct Short {
    /// None, or a power of two of slots.
    slots: Vec<Slot>,
    len: usize,
}

/// Slots of the first table.
const SLOTS_MIN: usize = 64;

impl Short {
    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Forgets all words and frees the slots: clearing them would cost as much as making them.
    pub(super) fn clear(&mut self) {
        *self = Short::default();
    }

    /// Prefetches the first slot of a hash.
    #[inline(always)]
    pub(super) fn fetch(&self, steps: impl Fetch, hash: u64) {
        steps.fetch(
            &self.slots,
            hash as usize & self.slots.len().wrapping_sub(1),
        );
    }

    /// The entry of a word, if it has one.
    #[inline(always)]
    pub(super) fn find(&self, key: Key, hash: u64) -> Option<Met> {
        let slot = self.slots.get(self.place(key, hash)?)?;
        (slot.key == key).then_some(slot.met)
    }

    /// The entry of a word; an empty one if it had none.
    pub(super) fn entry(&mut self, key: Key, hash: u64) -> &mut Met {
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let place = self.place(key, hash).unwrap_or(0);
        let slot = &mut self.slots[place];
        self.len += usize::from(slot.key == FREE);
        slot.key = key;
        &mut slot.met
    }

    /// The place of the word's slot, or of the free slot where it belongs; `None` without slots.
    #[inline(always)]
    fn place(&self, key: Key, hash: u64) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut place = hash as usize & last;
        while self.slots[place].key != key && self.slots[place].key != FREE {
            place = (place + 1) & last;
        }
        Some(place)
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); (self.slots.len() * 2).max(SLOTS_MIN)];
        let before = std::mem::replace(&mut self.slots, slots);
        for slot in before.into_iter().filter(|slot| slot.key != FREE) {
            if let Some(place) = self.place(slot.key, hash_key(slot.key)) {
                self.slots[place] = slot;
            }
        }
    }
}
