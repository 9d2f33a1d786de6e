//! How often each query was asked and what it cost.
//!
//! Up to a bound of queries and bytes the counts are exact. Past it the table drops its rarest and cheapest queries and goes on
//! with bounds of the error, as Lossy Counting does (Manku and Motwani, 2002):
//!
//! ```text
//! bound 4        before   "a" 9, "b" 5, "c" 1, "d" 1          floor 0
//! prune          after    "a" 9, "b" 5                         floor 1: a dropped query had at most 1
//! "c" comes back          "a" 9, "b" 5, "c" 1 (+ at most 1)
//! ```
//!
//! Invariants:
//! - A count is never too high; it is too low by at most the query's `count_error`. Times the same.
//! - The error of a query that was in the table since its first occurrence is 0: its count is exact.
//! - A query that is not in the table was asked at most `floor` times.
//! - Texts stand in `texts` in the order of the slots.
//!
//! Queries are told apart by a hash of 64 bits. Among five million queries two share a hash with a chance below 10^-6.

use std::cmp::Reverse;
use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::limits::{QUERIES_MAX, QUERY_TEXT_BYTES_MAX, TEXT_BYTES_MAX};

/// Look-ups that wait for memory together.
const LOOK_UPS: usize = 16;

/// A query of the lists, with its bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryCount {
    /// Its normal form, at most [`TEXT_BYTES_MAX`] bytes of it.
    pub text: String,
    /// Times asked, at least.
    pub count: u64,
    /// By how much `count` may be too low.
    pub count_error: u64,
    /// Microseconds of all answers, at least.
    pub sum_us: u64,
    /// By how much `sum_us` may be too low.
    pub sum_error_us: u64,
    /// The longest answer that was counted, in microseconds.
    pub max_us: u64,
    /// Answers without rows, at least.
    pub nothing: u64,
}

/// By which number a list is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryOrder {
    /// Times asked.
    Count,
    /// Time of all answers.
    Cost,
    /// Answers without rows.
    Nothing,
}

/// A query of the table. Fields of 32 bits stop at their highest value.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u64,
    count: u64,
    sum_us: u64,
    sum_error_us: u64,
    count_error: u32,
    max_us: u32,
    nothing: u32,
    text_start: u32,
    text_bytes: u32,
}

/// The counts of queries.
///
/// Memory at the default bounds: 56 bytes a query, 10 of its index and its text, 117 MiB in all.
#[derive(Clone, Debug)]
pub struct QueryTable {
    queries_max: usize,
    text_bytes_max: usize,
    slots: Vec<Slot>,
    by_hash: HashTable<u32>,
    texts: Vec<u8>,
    count_floor: u32,
    sum_floor_us: u64,
    /// Times that queries were dropped.
    prunes: u64,
}

/// Queries of a block in the order of its lines, for the table.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    items: Vec<BatchItem>,
    texts: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct BatchItem {
    hash: u64,
    us: u64,
    text_start: u32,
    text_bytes: u32,
    nothing: bool,
}

impl Slot {
    #[inline]
    fn add(&mut self, item: &BatchItem) {
        self.count += 1;
        self.sum_us += item.us;
        self.max_us = self.max_us.max(u32::try_from(item.us).unwrap_or(u32::MAX));
        self.nothing = self.nothing.saturating_add(u32::from(item.nothing));
    }
}

impl Default for QueryTable {
    fn default() -> QueryTable {
        QueryTable::new(QUERIES_MAX, QUERY_TEXT_BYTES_MAX)
    }
}

impl QueryTable {
    /// An empty table that is exact up to `queries_max` queries with `text_bytes_max` bytes of texts. Both are at least 16.
    pub fn new(queries_max: usize, text_bytes_max: usize) -> QueryTable {
        QueryTable {
            queries_max: queries_max.clamp(16, QUERIES_MAX),
            text_bytes_max: text_bytes_max.clamp(16, QUERY_TEXT_BYTES_MAX),
            slots: Vec::new(),
            by_hash: HashTable::new(),
            texts: Vec::new(),
            count_floor: 0,
            sum_floor_us: 0,
            prunes: 0,
        }
    }

    /// An empty table with the given bounds of queries and bytes, or the default ones.
    pub(crate) fn of_options(bounds: Option<(usize, usize)>) -> QueryTable {
        bounds.map_or_else(QueryTable::default, |(queries, bytes)| {
            QueryTable::new(queries, bytes)
        })
    }

    /// Queries in the table. Where the table is exact, the different queries of the log.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether no query was dropped, so that each count is exact.
    pub fn is_exact(&self) -> bool {
        self.count_floor == 0
    }

    /// The most that a query which is not in the table can have been asked.
    pub fn count_floor(&self) -> u64 {
        u64::from(self.count_floor)
    }

    /// Counts the queries of a batch.
    ///
    /// The table is larger than the processor's caches: the look-ups of a few queries are made together, so that they wait for
    /// memory at the same time.
    pub(crate) fn add_batch(&mut self, batch: &Batch) {
        for items in batch.items.chunks(LOOK_UPS) {
            let mut slots = [None; LOOK_UPS];
            for (slot, item) in slots.iter_mut().zip(items) {
                *slot = self.slot_of(item.hash);
            }
            let pruned = self.prunes;
            for (slot, item) in slots.iter().zip(items) {
                // A query may have entered the table in this chunk, and a prune moves slots.
                let known = slot
                    .filter(|_| self.prunes == pruned)
                    .or_else(|| self.slot_of(item.hash));
                match known {
                    Some(slot) => self.slots[slot as usize].add(item),
                    None => self.add_new(item, batch),
                }
            }
        }
    }

    #[inline]
    fn slot_of(&self, hash: u64) -> Option<u32> {
        self.by_hash
            .find(hash, |slot| self.slots[*slot as usize].hash == hash)
            .copied()
    }

    fn add_new(&mut self, item: &BatchItem, batch: &Batch) {
        let slot = Slot {
            hash: item.hash,
            count: 0,
            sum_us: 0,
            sum_error_us: self.sum_floor_us,
            count_error: self.count_floor,
            max_us: 0,
            nothing: 0,
            text_start: 0,
            text_bytes: 0,
        };
        let text =
            &batch.texts[item.text_start as usize..(item.text_start + item.text_bytes) as usize];
        let number = self.insert(slot, cut(text));
        self.slots[number as usize].add(item);
    }

    /// Takes in a query that is not in the table, and drops others if there are too many.
    fn insert(&mut self, slot: Slot, text: &[u8]) -> u32 {
        if self.slots.len() >= self.queries_max
            || self.texts.len() + text.len() > self.text_bytes_max
        {
            self.prune();
        }
        let number = self.slots.len() as u32;
        let slot = Slot {
            text_start: self.texts.len() as u32,
            text_bytes: text.len() as u32,
            // The floor may just have risen. The floor of the time of this query's first occurrence holds as well.
            ..slot
        };
        self.texts.extend_from_slice(text);
        self.slots.push(slot);
        self.by_hash
            .insert_unique(slot.hash, number, |other| self.slots[*other as usize].hash);
        number
    }

    /// Drops the queries that are not above the median of the counts and not among the most costly quarter: at least a quarter
    /// of them.
    fn prune(&mut self) {
        self.prunes += 1;
        let mut counts: Vec<u64> = self.slots.iter().map(|slot| slot.count).collect();
        let mut sums: Vec<u64> = self.slots.iter().map(|slot| slot.sum_us).collect();
        let middle = counts.len() / 2;
        let count_cut = *counts.select_nth_unstable(middle).1;
        let quarter = sums.len() * 3 / 4;
        let sum_cut = *sums.select_nth_unstable(quarter).1;
        let mut texts_end = 0;
        let (texts, count_floor, sum_floor_us) = (
            &mut self.texts,
            &mut self.count_floor,
            &mut self.sum_floor_us,
        );
        self.slots.retain_mut(|slot| {
            if slot.count <= count_cut && slot.sum_us <= sum_cut {
                let most = u32::try_from(slot.count)
                    .unwrap_or(u32::MAX)
                    .saturating_add(slot.count_error);
                *count_floor = (*count_floor).max(most);
                *sum_floor_us = (*sum_floor_us).max(slot.sum_us + slot.sum_error_us);
                return false;
            }
            let from = slot.text_start as usize;
            texts.copy_within(from..from + slot.text_bytes as usize, texts_end);
            slot.text_start = texts_end as u32;
            texts_end += slot.text_bytes as usize;
            true
        });
        self.texts.truncate(texts_end);
        self.by_hash.clear();
        for (number, slot) in self.slots.iter().enumerate() {
            self.by_hash
                .insert_unique(slot.hash, number as u32, |other| {
                    self.slots[*other as usize].hash
                });
        }
    }

    /// Adds the counts of a table of other lines. While the tables are exact together, the order of merges does not matter.
    pub fn merge(&mut self, other: &QueryTable) {
        // A query of one table may have been asked up to the other's floor there.
        for slot in &mut self.slots {
            slot.count_error = slot.count_error.saturating_add(other.count_floor);
            slot.sum_error_us += other.sum_floor_us;
        }
        for slot in &other.slots {
            let known = self
                .by_hash
                .find(slot.hash, |own| self.slots[*own as usize].hash == slot.hash);
            if let Some(own) = known {
                let own = &mut self.slots[*own as usize];
                own.count += slot.count;
                own.sum_us += slot.sum_us;
                own.max_us = own.max_us.max(slot.max_us);
                own.nothing = own.nothing.saturating_add(slot.nothing);
                own.count_error = own
                    .count_error
                    .saturating_sub(other.count_floor)
                    .saturating_add(slot.count_error);
                own.sum_error_us = own.sum_error_us - other.sum_floor_us + slot.sum_error_us;
            } else {
                let slot = Slot {
                    count_error: slot.count_error.saturating_add(self.count_floor),
                    sum_error_us: slot.sum_error_us + self.sum_floor_us,
                    ..*slot
                };
                let text = &other.texts
                    [slot.text_start as usize..(slot.text_start + slot.text_bytes) as usize];
                self.insert(slot, text);
            }
        }
        self.count_floor = self.count_floor.saturating_add(other.count_floor);
        self.sum_floor_us += other.sum_floor_us;
    }

    /// The first `length` queries by `order`, highest first, equal ones by text. Queries with 0 are left out.
    pub fn top(&self, order: QueryOrder, length: usize) -> Vec<QueryCount> {
        let key = |slot: &Slot| match order {
            QueryOrder::Count => slot.count,
            QueryOrder::Cost => slot.sum_us,
            QueryOrder::Nothing => u64::from(slot.nothing),
        };
        let by_rank = |slot: &&Slot| (Reverse(key(slot)), self.text(slot), slot.hash);
        let mut slots: Vec<&Slot> = self.slots.iter().filter(|slot| key(slot) > 0).collect();
        if slots.len() > length {
            slots.select_nth_unstable_by(length, |a, b| by_rank(a).cmp(&by_rank(b)));
            slots.truncate(length);
        }
        slots.sort_unstable_by(|a, b| by_rank(a).cmp(&by_rank(b)));
        slots
            .into_iter()
            .map(|slot| self.query_count(slot))
            .collect()
    }

    /// Each query that both tables have, as it stands in this one and in `other`.
    pub fn pairs<'t>(
        &'t self,
        other: &'t QueryTable,
    ) -> impl Iterator<Item = (QueryCount, QueryCount)> + 't {
        self.slots.iter().filter_map(|slot| {
            let number = other.by_hash.find(slot.hash, |own| {
                other.slots[*own as usize].hash == slot.hash
            })?;
            Some((
                self.query_count(slot),
                other.query_count(&other.slots[*number as usize]),
            ))
        })
    }

    fn text(&self, slot: &Slot) -> &[u8] {
        &self.texts[slot.text_start as usize..(slot.text_start + slot.text_bytes) as usize]
    }

    fn query_count(&self, slot: &Slot) -> QueryCount {
        QueryCount {
            text: String::from_utf8_lossy(self.text(slot)).into_owned(),
            count: slot.count,
            count_error: u64::from(slot.count_error),
            sum_us: slot.sum_us,
            sum_error_us: slot.sum_error_us,
            max_us: u64::from(slot.max_us),
            nothing: u64::from(slot.nothing),
        }
    }
}

impl Batch {
    /// Appends a query; `fold` appends its normal form and returns the number of its words, which is returned.
    #[inline]
    pub(crate) fn push(
        &mut self,
        us: u64,
        nothing: bool,
        fold: impl FnOnce(&mut Vec<u8>) -> u32,
    ) -> u32 {
        let start = self.texts.len();
        let words = fold(&mut self.texts);
        let text = &self.texts[start..];
        self.items.push(BatchItem {
            hash: FxBuildHasher.hash_one(text),
            us,
            text_start: start as u32,
            text_bytes: text.len() as u32,
            nothing,
        });
        words
    }

    /// Empties the batch and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
        self.texts.clear();
    }
}

/// The beginning of `text` that is kept. A character of UTF-8 is not cut apart.
pub(crate) fn cut(text: &[u8]) -> &[u8] {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let mut end = TEXT_BYTES_MAX;
    while end > TEXT_BYTES_MAX - 4 && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests;
