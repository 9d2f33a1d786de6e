//! The rows of a join's step by the values of its keys: a hash table with chains.
//!
//! Example: the rows 0, 1 and 2 have the ids 9, 7 and 7; the hash of 9 leads to bucket 1, that of 7 to bucket 2.
//!
//! ```text
//! bucket   0  1  2  3         row      0  1  2
//! firsts   -  0  1  -         nexts    -  2  -
//! ```
//!
//! Invariants:
//! - The rows of a chain rise. A row with NULL as a key is in no chain.
//! - Values that SQL takes for equal have one [`Class`](crate::value::Class), so the hash of the class leads to all of them. Equality
//!   of texts and numbers is not transitive (0 equals `'a'` and `'b'`), and buckets are few: a look-up compares each row of its chain.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};

use language::meter::Work;
use rustc_hash::FxHasher;

use super::super::paid::Paid;
use super::{Join, NONE};
use crate::bind::{JoinKey, JoinStep};
use crate::expression::List;
use crate::processor::fetch_line;
use crate::value::Value;

/// Memory of a row without its keys, in bytes: its link, and at most two buckets.
const ROW_BYTES: u64 = 12;

/// The rows of a step's table by the values of its keys.
pub(super) struct Keyed {
    /// The values of each key, row by row.
    values: Vec<List>,
    /// The first row of each chain, or [`NONE`]; their number is a power of two.
    firsts: Box<[u32]>,
    /// For each row the next one of its chain, or [`NONE`].
    nexts: Vec<u32>,
}

impl Keyed {
    /// Reads the keys of `count` rows. Errors: a row cannot be read; no memory; stopped.
    pub(super) fn new<E>(join: &Join<E>, step: &JoinStep, count: u32) -> Result<Keyed, E> {
        let bounds = &*join.bounds;
        bounds.take(u64::from(count) * ROW_BYTES)?;
        let buckets = (count as usize).next_power_of_two();
        let mut keyed = Keyed {
            values: vec![List::default(); step.keys.len()],
            firsts: vec![NONE; buckets].into(),
            nexts: Vec::with_capacity(count as usize),
        };
        let failed = RefCell::new(None);
        let mut alone = vec![NONE; join.width()];
        let mut values = Vec::with_capacity(step.keys.len());
        let mut paid = Paid::default();
        let work = Work::new(bounds.meter());
        for row in 0..count {
            join.look(&work)?;
            alone[step.table] = row;
            let tuple = join.tuple(&alone, &failed);
            values.extend((step.keys.iter()).map(|key| key.own.evaluate_within(&tuple, &work)));
            if let Some(error) = failed.take() {
                return Err(error);
            }
            // The place of the link has the row's bucket until the chains are made.
            let bucket = keyed.bucket(&step.keys, &values);
            keyed.nexts.push(bucket.unwrap_or(NONE));
            for (value, list) in values.drain(..).zip(&mut keyed.values) {
                paid.more(bytes_in_list(&value), &mut |more| bounds.take(more))?;
                list.push(value);
            }
        }
        drop(work);
        bounds.check()?;
        // From the last row on, so that chains rise.
        for (row, next) in keyed.nexts.iter_mut().enumerate().rev() {
            if *next != NONE {
                *next = std::mem::replace(&mut keyed.firsts[*next as usize], row as u32);
            }
        }
        Ok(keyed)
    }

    /// The bucket of these values; `None` where one is NULL, which equals none.
    pub(super) fn bucket(&self, keys: &[JoinKey], values: &[Value]) -> Option<u32> {
        let mut hasher = FxHasher::default();
        for (key, value) in keys.iter().zip(values) {
            if *value == Value::Null {
                return None;
            }
            value.class(key.are_texts).hash(&mut hasher);
        }
        Some(hasher.finish() as u32 & (self.firsts.len() - 1) as u32)
    }

    /// Tells the processor to fetch what look-ups of these buckets will read first.
    pub(super) fn fetch(&self, buckets: &[Option<u32>]) {
        for bucket in buckets.iter().flatten() {
            fetch_line(&raw const self.firsts[*bucket as usize]);
        }
        let firsts = buckets.iter().flatten().map(|at| self.firsts[*at as usize]);
        for row in firsts.filter(|row| *row != NONE) {
            fetch_line(&raw const self.nexts[row as usize]);
            for numbers in self.values.iter().filter_map(List::whole) {
                fetch_line(&raw const numbers[row as usize]);
            }
        }
    }

    /// The rows of a bucket's chain, rising.
    pub(super) fn chain(&self, bucket: Option<u32>) -> impl Iterator<Item = u32> {
        let link = |row: u32| (row != NONE).then_some(row);
        let first = bucket.and_then(|bucket| link(self.firsts[bucket as usize]));
        std::iter::successors(first, move |row| link(self.nexts[*row as usize]))
    }

    /// Whether a row has these values.
    pub(super) fn equals(&self, row: u32, values: &[Value]) -> bool {
        let mut lists = self.values.iter().zip(values);
        lists.all(|(list, value)| match (list.whole(), value) {
            (Some(numbers), Value::Int(number)) => i128::from(numbers[row as usize]) == *number,
            _ => {
                let order = list.get(row as usize).cmp_sql(value);
                order.is_some_and(|order| order.is_eq())
            }
        })
    }
}

/// Memory of a value in a list that grows, in bytes.
fn bytes_in_list(value: &Value) -> u64 {
    let own = value.memory() - size_of::<Value>();
    let bytes = match value {
        Value::Int(_) => 2 * size_of::<i64>(),
        _ => size_of::<Value>() + 2 * own,
    };
    bytes as u64
}
