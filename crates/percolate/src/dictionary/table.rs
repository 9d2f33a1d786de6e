//! A hash table from the key of a word to a number, with open addressing. A bucket holds the tags of four keys, 32
//! bits of each key's hash, and their indexes in a list. A look-up reads a key only where it finds the key's tag.
//!
//! Example: four buckets. The hashes of `storm` and `gulf` both end in bucket 2, their tags are `t1` and `t2`.
//!
//! ```text
//! buckets[2]  tags t1 t2 0 0   keys 1 2 0 0
//! keys        NONE   storm → 7   gulf → 9
//! ```
//!
//! To find `gulf`, compare all four tags with `t2`, read `keys[2]`, and compare the key. A word whose tag is in no
//! place of bucket 2 ends there, since the bucket is not full: its index is 0, and `NONE` equals no key.
//!
//! Invariants:
//! - A bucket fills from the front, and a full one runs over into the next. So a look-up stops at a free place.
//! - No tag occurs twice on the way of a hash. A key that would repeat one lies in `apart`, a plain hash map.
//! - There is at most one key for each bucket. A fuller table would read second buckets more often.

use std::hint::select_unpredictable;

use hashbrown::HashMap;
use relation::processor::fetch_line;
use rustc_hash::FxBuildHasher;

use crate::term::{Key, UNKNOWN, hash_key};

/// Places of a bucket.
pub(crate) const WAYS: usize = 4;

/// Keys for each bucket on average, at most.
const FILL_MAX: usize = 1;

/// A bucket: one cache line holds two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct Bucket {
    /// The tags in use, no two equal; 0 at free places.
    tags: [u32; WAYS],
    /// The index in `Table::keys` beside each tag; 0 at free places.
    keys: [u32; WAYS],
}

/// A key and its number.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct KeyEntry {
    key: Key,
    number: u32,
}

/// The entry at index 0, to which free places point. Its key equals no word's.
const NONE: KeyEntry = KeyEntry {
    key: [0, 0],
    number: UNKNOWN,
};

#[derive(Clone, Debug)]
pub(super) struct Table {
    /// A power of two of buckets, at least one.
    buckets: Box<[Bucket]>,
    /// The keys in the order of adding; the first is [`NONE`].
    keys: Vec<KeyEntry>,
    /// Keys whose tag another key on their way has.
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

    /// A view for looking up many keys.
    #[inline]
    pub(super) fn view(&self) -> View<'_> {
        View {
            buckets: &self.buckets,
            keys: &self.keys,
            apart: (!self.apart.is_empty()).then_some(&self.apart),
        }
    }

    /// Adds a key with its number, or changes the number that it has.
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

    /// Adds a key whose tag is not on its way yet.
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

/// A table as a matcher reads it: the places of its parts, read once for many look-ups.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// A power of two of buckets.
    pub(crate) buckets: &'a [Bucket],
    /// The keys that buckets point to, [`NONE`] first.
    pub(crate) keys: &'a [KeyEntry],
    /// `None` if empty.
    pub(crate) apart: Option<&'a HashMap<Key, u32, FxBuildHasher>>,
}

impl View<'_> {
    pub(super) fn is_empty(self) -> bool {
        self.keys.len() == 1
    }

    /// Prefetches the bucket of a hash.
    #[inline(always)]
    pub(crate) fn fetch_bucket(self, hash: u64) {
        let place = hash as usize & (self.buckets.len() - 1);
        fetch_line(self.buckets.as_ptr().wrapping_add(place));
    }

    /// The number of a key, or [`UNKNOWN`]. It compares all tags of a bucket and joins the outcomes: the only branch
    /// is taken where a full bucket has run over, which is rare.
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
            // The first condition nearly always holds, so it predicts well; the second does not.
            if keys[WAYS - 1] == 0 || found != 0 {
                return found;
            }
            place = (place + 1) & last;
        }
    }
}

/// Upper half of the hash, made odd: never 0.
#[inline(always)]
fn tag_of(hash: u64) -> u32 {
    (hash >> 32) as u32 | 1
}
