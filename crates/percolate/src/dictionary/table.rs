//! From the key of a word to a number: an open-addressing table of small buckets with 32 bits of each key's hash. The keys
//! themselves are read for words that are found alone.

use std::hint::select_unpredictable;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::term::{Key, UNKNOWN, hash_key};

/// Tags of a bucket.
pub(crate) const WAYS: usize = 4;

/// Keys for each bucket on average, at most. Fuller, more words need a look at a second bucket.
const FILL_MAX: usize = 1;

/// Filled from the front; full ones run over into the next.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Bucket {
    /// No two that are in use are equal; 0 where the place is free.
    tags: [u32; WAYS],
    /// Index of the key; 0 where the place is free.
    keys: [u32; WAYS],
}

/// A key and its number.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct KeyEntry {
    key: Key,
    number: u32,
}

/// What a free place has: equal to no word's.
const NONE: KeyEntry = KeyEntry {
    key: [0, 0],
    number: UNKNOWN,
};

#[derive(Clone, Debug)]
pub(super) struct Table {
    /// A power of two of them, at least one.
    buckets: Box<[Bucket]>,
    /// The first is [`NONE`].
    keys: Vec<KeyEntry>,
    /// Keys that fall on the tag of another.
    apart: HashMap<Key, u32, FxBuildHasher>,
}

impl Default for Table {
    fn default() -> Table {
        Table::of(1)
    }
}

impl Table {
    fn of(buckets: usize) -> Table {
        Table {
            buckets: vec![Bucket::default(); buckets].into(),
            keys: vec![NONE],
            apart: HashMap::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len() - 1 + self.apart.len()
    }

    /// For looking up many keys.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View {
            buckets: &self.buckets,
            keys: &self.keys,
            apart: (!self.apart.is_empty()).then_some(&self.apart),
        }
    }

    /// Gives a key its number, in the place of the one it had.
    pub(super) fn put(&mut self, key: Key, number: u32) {
        let hash = hash_key(key);
        let index = self.view().index(hash) as usize;
        if index == 0 {
            self.add(hash, KeyEntry { key, number });
        } else if self.keys[index].key == key {
            self.keys[index].number = number;
        } else {
            self.apart.insert(key, number);
        }
    }

    /// Adds a key on whose way there is none with its tag.
    fn add(&mut self, hash: u64, held: KeyEntry) {
        if self.keys.len() > self.buckets.len() * FILL_MAX {
            self.grow();
            return self.put(held.key, held.number);
        }
        let index = self.keys.len() as u32;
        self.keys.push(held);
        let last = self.buckets.len() - 1;
        let mut place = hash as usize & last;
        loop {
            let Bucket { tags, keys } = &mut self.buckets[place];
            if let Some(way) = keys.iter().position(|key| *key == 0) {
                tags[way] = tag_of(hash);
                keys[way] = index;
                return;
            }
            place = (place + 1) & last;
        }
    }

    /// Calls `visit` with every key and its number.
    pub(super) fn each(&self, mut visit: impl FnMut(Key, u32)) {
        let keys = self.keys.iter().skip(1);
        keys.for_each(|held| visit(held.key, held.number));
        let apart = self.apart.iter();
        apart.for_each(|(key, number)| visit(*key, *number));
    }

    /// Keeps the keys whose number passes.
    pub(super) fn retain(&mut self, passes: impl Fn(u32) -> bool) {
        let mut left = Table::default();
        self.each(|key, number| {
            if passes(number) {
                left.put(key, number);
            }
        });
        *self = left;
    }

    fn grow(&mut self) {
        let mut larger = Table::of(self.buckets.len() * 2);
        self.each(|key, number| larger.put(key, number));
        *self = larger;
    }
}

/// A table that is read: where its parts lie, so that nothing is read twice that does not change.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// A power of two of them.
    pub(crate) buckets: &'a [Bucket],
    /// Those that buckets point to, [`NONE`] first.
    pub(crate) keys: &'a [KeyEntry],
    /// None if empty.
    pub(crate) apart: Option<&'a HashMap<Key, u32, FxBuildHasher>>,
}

impl View<'_> {
    pub(super) fn is_empty(self) -> bool {
        self.keys.len() == 1
    }

    /// The number of a key, or [`UNKNOWN`]. All tags of a bucket are compared and the index is put together from the
    /// outcomes: the only branch is taken where a bucket has run over, which is seldom.
    #[inline(always)]
    pub(super) fn find(self, key: Key, hash: u64) -> u32 {
        let index = self.index(hash);
        let held = &self.keys[index as usize];
        let differs = (held.key[0] ^ key[0]) | (held.key[1] ^ key[1]);
        let number = select_unpredictable(differs == 0, held.number, UNKNOWN);
        match self.apart {
            Some(apart) if number == UNKNOWN => apart.get(&key).copied().unwrap_or(UNKNOWN),
            _ => number,
        }
    }

    /// The index of the only key on the way of this hash with its tag; 0 if there is none.
    #[inline(always)]
    fn index(self, hash: u64) -> u32 {
        let (last, tag) = (self.buckets.len() - 1, tag_of(hash));
        let mut place = hash as usize & last;
        loop {
            let Bucket { tags, keys } = &self.buckets[place];
            let mut found = 0;
            for way in 0..WAYS {
                found |= keys[way] & u32::from(tags[way] == tag).wrapping_neg();
            }
            // First the question that has nearly always the same answer: the other has not.
            if keys[WAYS - 1] == 0 || found != 0 {
                return found;
            }
            place = (place + 1) & last;
        }
    }
}

/// Never 0.
#[inline(always)]
fn tag_of(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}
