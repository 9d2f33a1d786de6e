//! A hash table from the keys of words to their entries in the memo.
//!
//! A slot has a key and its entry side by side, in half a cache line. Its place follows from the hash alone, so it can
//! be prefetched, and mostly the first slot read is the right one.
//!
//! Invariants:
//! - At most half of the slots are in use.
//! - A word lies at most [`FAR`] slots behind the place of its hash, so a look-up ends there. Words of documents may be chosen so that
//!   their hashes are alike: the table then forgets all words, and what it costs to compare them again is counted.
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
pub(super) struct ShortWords {
    /// None, or a power of two of slots.
    slots: Vec<Slot>,
    len: usize,
}

/// Slots of the first table.
const SLOTS_MIN: usize = 64;

/// Slots between a word and the place of its hash, at most. In a table that is half full, one random word of 10²¹ would lie farther.
const FAR: usize = 256;

impl ShortWords {
    /// The number of words.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Forgets all words and frees the slots: clearing them would cost as much as making them.
    pub(super) fn clear(&mut self) {
        *self = ShortWords::default();
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
        let place = self.place(key, hash).unwrap_or_else(|| {
            self.slots.fill(Slot::default());
            self.len = 0;
            hash as usize & (self.slots.len() - 1)
        });
        let slot = &mut self.slots[place];
        self.len += usize::from(slot.key == FREE);
        slot.key = key;
        &mut slot.met
    }

    /// The place of the word's slot, or of the free slot where it belongs; `None` if neither is near.
    #[inline(always)]
    fn place(&self, key: Key, hash: u64) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut places = (0..=FAR).map(|far| (hash as usize).wrapping_add(far) & last);
        places.find(|place| {
            let held = self.slots[*place].key;
            held == key || held == FREE
        })
    }

    #[cold]
    fn grow(&mut self) {
        let slots = vec![Slot::default(); (self.slots.len() * 2).max(SLOTS_MIN)];
        let before = std::mem::replace(&mut self.slots, slots);
        self.len = 0;
        for slot in before.into_iter().filter(|slot| slot.key != FREE) {
            if let Some(place) = self.place(slot.key, hash_key(slot.key)) {
                self.slots[place] = slot;
                self.len += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FAR, Key, Met, ShortWords, hash_key};

    fn insert(table: &mut ShortWords, keys: impl Iterator<Item = Key>) {
        for (key, number) in keys.zip(1..) {
            let met = table.entry(key, hash_key(key));
            assert_eq!(met.start, 0, "a new word");
            met.start = number;
        }
    }

    fn find(table: &ShortWords, key: Key) -> Option<u32> {
        table
            .find(key, hash_key(key))
            .map(|Met { start, .. }| start)
    }

    #[test]
    fn words_have_their_own_entries_while_the_table_grows() {
        let mut table = ShortWords::default();
        let keys = || (1_u64..5_000).map(|number| [number * 7_919, number]);
        insert(&mut table, keys());
        assert_eq!(table.len(), 4_999);
        for (key, number) in keys().zip(1..) {
            assert_eq!(find(&table, key), Some(number));
        }
        assert_eq!(find(&table, [3, 3]), None);
    }

    #[test]
    fn words_chosen_to_collide_are_forgotten_before_they_cost_much() {
        let mut table = ShortWords::default();
        let all = (1_u64..).map(|number| [number, 1]);
        // Their hashes begin alike in each table of up to 8,192 slots.
        let keys: Vec<Key> = all
            .filter(|key| hash_key(*key) % 8_192 == 5)
            .take(1_000)
            .collect();
        insert(&mut table, keys.iter().copied());
        assert!(table.len() <= FAR + 1, "{} words", table.len());
        for (key, number) in keys.iter().zip(1..) {
            assert!(find(&table, *key).is_none_or(|found| found == number));
        }
        assert_eq!(find(&table, keys[999]), Some(1_000));
    }
}
