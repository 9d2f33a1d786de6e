//! A batch goes to every store.
//!
//! With `report_success=all` a message is taken when every store has taken it. A store that is ahead of the others is not given
//! the same messages again when they come back: Scribe would write them twice.
//!
//! ```text
//! batch m0 m1 m2     first takes m0 m1 m2, second takes m0
//! taken m0           ahead: first 2, second 0; m1 and m2 come again
//! batch m1 m2 m3     first gets m3, second gets m1 m2 m3
//! ```
//!
//! With `report_success=any` a message is taken when any store has taken it; the others do without.

use std::io;

use crate::message::{Message, Now};

use super::marks::{Marks, hash};
use super::{Store, Written};

pub(super) struct Multi {
    any_succeeds: bool,
    stores: Vec<Box<dyn Store>>,
    /// For each store, the messages that it has taken of those that come again.
    ahead: Vec<usize>,
    /// Recognises the messages that come again, up to the last one that a store has.
    marks: Vec<u64>,
    /// For each store, whether it has taken every message since the last sync.
    is_whole: Vec<bool>,
}

impl Multi {
    pub(super) fn new(any_succeeds: bool, stores: Vec<Box<dyn Store>>) -> Multi {
        Multi {
            any_succeeds,
            ahead: vec![0; stores.len()],
            marks: Vec::new(),
            is_whole: vec![true; stores.len()],
            stores,
        }
    }
}

impl Multi {
    fn forget_own(&mut self) {
        self.ahead.fill(0);
        self.marks.clear();
    }
}

impl Store for Multi {
    fn parts(&self) -> &[Box<dyn Store>] {
        &self.stores
    }

    fn parts_mut(&mut self) -> &mut [Box<dyn Store>] {
        &mut self.stores
    }

    fn open(&mut self, now: Now) -> Result<(), String> {
        let opened: Vec<_> = self
            .stores
            .iter_mut()
            .map(|store| store.open(now))
            .collect();
        if self.any_succeeds && opened.iter().any(Result::is_ok) {
            return Ok(());
        }
        opened.into_iter().collect()
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        let mut known = self.marks.iter().zip(batch);
        if !known.all(|(mark, message)| *mark == hash(message)) {
            self.forget_own();
        }
        let mut failed = None;
        for (store, ahead) in self.stores.iter_mut().zip(&mut self.ahead) {
            let rest = batch.get(*ahead..).unwrap_or_default();
            if !rest.is_empty() {
                let written = store.write(rest, now);
                *ahead += written.taken;
                failed = failed.or(written.failed);
            }
        }
        let counts = self.ahead.iter().copied();
        let reached = if self.any_succeeds {
            counts.max()
        } else {
            counts.min()
        };
        let taken = reached.unwrap_or(0).min(batch.len());
        for (ahead, is_whole) in self.ahead.iter_mut().zip(&mut self.is_whole) {
            *is_whole &= *ahead >= taken;
            *ahead = ahead.saturating_sub(taken);
        }
        let most = self.ahead.iter().copied().max().unwrap_or(0);
        let known = self.marks.len().min(taken);
        self.marks.drain(..known);
        // Messages behind the batch are known from before.
        let new = batch.get(taken + self.marks.len()..).unwrap_or_default();
        self.marks.extend(new.iter().map(hash));
        self.marks.truncate(most);
        let failed = failed.filter(|_| taken < batch.len());
        Written { taken, failed }
    }

    fn marks(&self) -> Marks {
        let counts = |most: usize| {
            let counts = self.ahead.iter().map(|count| *count.min(&most));
            counts
                .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
                .collect()
        };
        Marks::new(&self.marks, counts).with_parts(&self.stores)
    }

    fn take_up(&mut self, marks: &Marks) {
        let counts: Option<Vec<usize>> = marks
            .numbers
            .iter()
            .map(|count| usize::try_from(*count).ok())
            .collect();
        let counts = counts.unwrap_or_default();
        let most = counts.iter().copied().max().unwrap_or(0);
        if counts.len() == self.stores.len() && most == marks.hashes.len() {
            (self.ahead, self.marks) = (counts, marks.hashes.clone());
        }
        marks.give_to(&mut self.stores);
    }

    fn forget(&mut self) {
        self.forget_own();
        self.stores.iter_mut().for_each(|store| store.forget());
    }

    fn sync(&mut self) -> io::Result<()> {
        let synced: Vec<_> = self.stores.iter_mut().map(|store| store.sync()).collect();
        let mut whole = synced.iter().zip(&self.is_whole);
        let is_enough =
            self.any_succeeds && whole.any(|(synced, is_whole)| *is_whole && synced.is_ok());
        self.is_whole.fill(true);
        for (store, synced) in self.stores.iter_mut().zip(&synced) {
            if synced.is_err() {
                store.forget();
            }
        }
        if is_enough {
            return Ok(());
        }
        synced.into_iter().collect()
    }
}
