//! What the queue must hold, may hold and must not hold.

use std::collections::{BTreeMap, BTreeSet};

use super::clients::{Put, Told, Took};

/// A dense set of numbers: an hour makes millions.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn insert(&mut self, number: u64) {
        let word = (number / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }

    fn contains(&self, number: u64) -> bool {
        let word = self.0.get((number / 64) as usize);
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Every number that was ever put, in the set that says whether it must, may or must not be in the queue.
#[derive(Default)]
pub struct Account {
    /// The put is acknowledged, and no client sent an end: must be there.
    there: BTreeSet<u64>,
    /// The end was sent and not acknowledged: may be there, until the next `settle` decides.
    perhaps: BTreeSet<u64>,
    /// Refused, ended, or missing after a restart: must never be there again.
    gone: Numbers,
    /// Statements of the last life without an answer: there whole or not at all.
    unanswered: Vec<Vec<u64>>,
    ended: u64,
}

impl Account {
    /// Rows whose end was acknowledged.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    pub fn add_puts(&mut self, puts: Vec<Put>) {
        for put in puts {
            match put.told {
                Told::Yes => self.there.extend(put.values),
                Told::No => put.values.iter().for_each(|value| self.gone.insert(*value)),
                Told::Nothing => self.unanswered.push(put.values),
            }
        }
    }

    /// Adds the rows that the consumers of one life took. Call `add_puts` for its producers first.
    pub fn add_takes(&mut self, takes: &[Took]) {
        let mut holders: BTreeMap<u64, u32> = BTreeMap::new();
        for took in takes {
            let value = took.value;
            assert!(
                !self.gone.contains(value),
                "{value} was refused or ended, and was delivered"
            );
            // A delivered row of a statement without an answer proves that the whole statement is on disk.
            if let Some(at) = self.unanswered.iter().position(|put| put.contains(&value)) {
                self.there.extend(self.unanswered.swap_remove(at));
            }
            assert!(
                self.there.contains(&value),
                "{value} was delivered and never put"
            );
            // No client returns rows, so each row is delivered once in a life.
            let times = holders.entry(value).or_default();
            *times += 1;
            assert_eq!(*times, 1, "{value} was delivered twice in one life");
        }
        for took in takes {
            self.there.remove(&took.value);
            if took.ended {
                self.gone.insert(took.value);
                self.ended += 1;
            } else {
                self.perhaps.insert(took.value);
            }
        }
    }

    /// Compares with the rows of the queue after a restart, in the order of the queue.
    pub fn settle(&mut self, present: &[u64], seed: u64) {
        let rows: BTreeSet<u64> = present.iter().copied().collect();
        assert_eq!(rows.len(), present.len(), "a row twice; seed {seed}");
        for value in &rows {
            assert!(
                !self.gone.contains(*value),
                "{value} was refused or ended, and is there; seed {seed}"
            );
        }
        for value in &self.there {
            assert!(
                rows.contains(value),
                "{value} was acknowledged and is lost; seed {seed}"
            );
        }
        for put in std::mem::take(&mut self.unanswered) {
            let kept = put.iter().filter(|value| rows.contains(value)).count();
            assert!(
                kept == 0 || kept == put.len(),
                "half of an INSERT is there: {put:?}; seed {seed}"
            );
            match kept {
                0 => put.iter().for_each(|value| self.gone.insert(*value)),
                _ => self.there.extend(put),
            }
        }
        for value in std::mem::take(&mut self.perhaps) {
            if rows.contains(&value) {
                self.there.insert(value);
            } else {
                self.gone.insert(value);
            }
        }
        assert_eq!(rows, self.there, "what is there was put; seed {seed}");
        self.check_order(present, seed);
    }

    /// Rows of one producer stand in the order in which it put them.
    fn check_order(&self, present: &[u64], seed: u64) {
        let mut last: BTreeMap<u64, u64> = BTreeMap::new();
        for value in present {
            let before = last.insert(value % super::PRODUCERS, *value);
            assert!(
                before.is_none_or(|before| before < *value),
                "{value} stands behind {before:?}; seed {seed}"
            );
        }
    }
}
