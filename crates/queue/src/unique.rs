//! `unique_by=`: the keys that were inserted within the last `unique_for=`.
//!
//! With `unique_for='10m'` key `a` is inserted at 12:00, `b` at 12:04 and `a` again at 12:11, after its time. At 12:12 `at` is
//! {a: 12:11, b: 12:04}. An insertion at 12:15 drops `b`: 12:04 is more than ten minutes ago.
//!
//! Invariants: `at` and `by_time` hold the same pairs; a key stands once, with its latest time.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use relation::codec::{Read, Reader, put_bytes, put_number};

/// Keys with the time of their last insertion, in microseconds since 1970-01-01 UTC.
#[derive(Default)]
pub struct Seen {
    at: FxHashMap<Arc<[u8]>, i64>,
    by_time: BTreeSet<(i64, Arc<[u8]>)>,
    /// Length of all keys. Bytes.
    key_bytes: usize,
}

/// Memory of a key beside its bytes: reference counts, entries in a map and a set. Bytes, estimated.
const KEY_BYTES: usize = 128;

impl Seen {
    /// Number of keys inserted after `since_us`. Cost: the older keys.
    pub fn count_after(&self, since_us: i64) -> usize {
        let first = self.by_time.first();
        match first.is_none_or(|(at_us, _)| *at_us > since_us) {
            true => self.at.len(),
            false => {
                let over = self.by_time.iter();
                let over = over.take_while(|(at_us, _)| *at_us <= since_us).count();
                self.at.len() - over
            }
        }
    }

    /// Memory of the keys. Bytes, estimated.
    pub(crate) fn bytes(&self) -> u64 {
        (self.key_bytes + self.at.len() * KEY_BYTES) as u64
    }

    /// Memory of the keys inserted at `until_us` or before: [`Seen::forget`] would free it. Bytes, estimated. Cost: these keys.
    pub fn bytes_until(&self, until_us: i64) -> u64 {
        let keys = self.by_time.iter();
        let old = keys.take_while(|(at_us, _)| *at_us <= until_us);
        old.map(|(_, key)| (key.len() + KEY_BYTES) as u64).sum()
    }

    /// Whether a key was inserted after `since_us`.
    pub fn is_after(&self, key: &[u8], since_us: i64) -> bool {
        self.at.get(key).is_some_and(|at_us| *at_us > since_us)
    }

    /// Notes an insertion of a key. Its latest time stays: a replay may note an earlier one again.
    pub(crate) fn note(&mut self, key: &[u8], at_us: i64) {
        let key: Arc<[u8]> = key.into();
        match self.at.get(&key).copied() {
            Some(before) if before >= at_us => return,
            Some(before) => {
                self.by_time.remove(&(before, Arc::clone(&key)));
            }
            None => self.key_bytes += key.len(),
        }
        self.at.insert(Arc::clone(&key), at_us);
        self.by_time.insert((at_us, key));
    }

    /// Undoes notes of a key: `before` is its time before them, `None` where it was not there.
    pub(crate) fn restore(&mut self, key: &[u8], before: Option<i64>) {
        if let Some((key, at_us)) = self.at.remove_entry(key) {
            self.key_bytes -= key.len();
            self.by_time.remove(&(at_us, key));
        }
        if let Some(before) = before {
            self.note(key, before);
        }
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<i64> {
        self.at.get(key).copied()
    }

    /// Drops the keys inserted at `until_us` or before.
    pub(crate) fn forget(&mut self, until_us: i64) {
        while self
            .by_time
            .first()
            .is_some_and(|(at_us, _)| *at_us <= until_us)
        {
            if let Some((_, key)) = self.by_time.pop_first() {
                self.key_bytes -= key.len();
                self.at.remove(&key);
            }
        }
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.at.len() as u64);
        for (at_us, key) in &self.by_time {
            out.extend_from_slice(&at_us.to_le_bytes());
            put_bytes(out, key);
        }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Seen> {
        let mut seen = Seen::default();
        for _ in 0..reader.count()? {
            let at_us = i64::from_le_bytes(reader.array()?);
            seen.note(reader.bytes()?, at_us);
        }
        Ok(seen)
    }
}
