//! From the key of a word to a number: an open-addressing table of buckets, one cache line of keys each.

use super::{Key, UNKNOWN, hash_key};

/// Keys of a bucket.
const WAYS: usize = 4;

/// Keys for each bucket on average, at most. Fuller, more words need a look at a second bucket.
const FILL_MAX: usize = 2;

const EMPTY: Key = [0, 0];

/// Filled from the front; full ones run over into the next.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket([Key; WAYS]);

#[derive(Clone, Debug)]
pub(super) struct Table {
    /// A power of two of them, at least one.
    buckets: Box<[Bucket]>,
    /// By bucket, beside its keys.
    numbers: Box<[[u32; WAYS]]>,
    len: usize,
}

impl Default for Table {
    fn default() -> Table {
        Table::of(1)
    }
}

impl Table {
    fn of(buckets: usize) -> Table {
        Table {
            buckets: vec![Bucket([EMPTY; WAYS]); buckets].into(),
            numbers: vec![[UNKNOWN; WAYS]; buckets].into(),
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of a key, or [`UNKNOWN`]. All keys of a bucket are compared and the number is put together from the
    /// outcomes: the only branch is taken where a bucket has run over, which is seldom.
    #[inline(always)]
    pub(super) fn find(&self, key: Key, hash: u64) -> u32 {
        let last = self.buckets.len() - 1;
        let mut place = hash as usize & last;
        loop {
            let Bucket(keys) = &self.buckets[place];
            let numbers = &self.numbers[place];
            let mut found = 0;
            for way in 0..WAYS {
                let other = (keys[way][0] ^ key[0]) | (keys[way][1] ^ key[1]);
                found |= numbers[way] & u32::from(other == 0).wrapping_neg();
            }
            // First the question that has nearly always the same answer: the other has not.
            if keys[WAYS - 1] == EMPTY || found != UNKNOWN {
                return found;
            }
            place = (place + 1) & last;
        }
    }

    /// Gives a key its number, in the place of the one it had.
    pub(super) fn put(&mut self, key: Key, number: u32) {
        if self.len >= self.buckets.len() * FILL_MAX {
            self.grow();
        }
        let last = self.buckets.len() - 1;
        let mut place = hash_key(key) as usize & last;
        loop {
            let Bucket(keys) = &mut self.buckets[place];
            for (held, numbered) in keys.iter_mut().zip(&mut self.numbers[place]) {
                if *held == key || *held == EMPTY {
                    self.len += usize::from(*held == EMPTY);
                    (*held, *numbered) = (key, number);
                    return;
                }
            }
            place = (place + 1) & last;
        }
    }

    /// Calls `visit` with every key and its number.
    pub(super) fn each(&self, mut visit: impl FnMut(Key, u32)) {
        for (Bucket(keys), numbers) in self.buckets.iter().zip(&self.numbers) {
            let used = keys.iter().zip(numbers).filter(|(key, _)| **key != EMPTY);
            used.for_each(|(key, number)| visit(*key, *number));
        }
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
