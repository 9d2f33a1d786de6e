//! Joins rows of several tables: a hash table a step, over the rows of one table.
//!
//! Example: the first step has the rows 0 and 1 of `picked`, with ids 7 and 9. The second reads `posts` and gets its rows 0 (id 9),
//! 1 (id 7) and 2 (id 7). The hash table of `posts.id` has the chains 9 → 0 and 7 → 1 → 2.
//!
//! ```text
//! tuples   after step 1   after step 2
//! picked   0  1           0  0  1
//! posts    -  -           1  2  0
//! ```
//!
//! Invariants:
//! - A tuple has a row number for each table in the order written; [`NONE`] for a table that is not read yet, or that has no
//!   partner behind LEFT JOIN.
//! - Memory is taken before tuples and hash tables grow. The stop switch is asked at least every [`STEPS_A_CHECK`] rows.
//!
//! Cost: linear in the rows of all tables and of the answer, where a step has a key. A step without one looks at each pair.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::best::Best;
use super::groups::{Grouped, Groups};
use super::order::{Order, Sorted};
use super::paid::Paid;
use crate::bind::{BoundJoin, JoinKey, JoinStep, Shown};
use crate::expression::{ColumnValues, List, Prepared};
use crate::json::JsonStep;
use crate::value::Value;

/// No row.
const NONE: u32 = u32::MAX;

/// Rows looked at between two looks at the stop switch.
const STEPS_A_CHECK: u32 = 4096;

/// Memory of a row in a hash table without its keys, in bytes: its hash, its link, its place and the table's room to grow.
const KEYED_ROW_BYTES: u64 = 32;

/// The rows of a table that a join reads, in the table's order.
pub trait JoinRows: Send + Sync {
    /// Why a row cannot be read.
    type Error;

    /// Number of rows.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a row's column; behind the last column is the weight.
    ///
    /// # Errors
    /// The row cannot be read.
    fn value(&self, row: u32, column: usize) -> Result<Value, Self::Error>;

    /// As [`JoinRows::value`] of what stands at a path in the column's document.
    ///
    /// # Errors
    /// The row cannot be read.
    fn value_at(&self, row: u32, column: usize, path: &[JsonStep]) -> Result<Value, Self::Error> {
        self.value(row, column).map(|value| value.at_path(path))
    }
}

/// The bounds of a join.
pub trait JoinBounds: Send + Sync {
    /// Why the join ends.
    type Error;

    /// Takes memory until the answer is made.
    ///
    /// # Errors
    /// There is no more memory.
    fn take(&self, bytes: u64) -> Result<(), Self::Error>;

    /// Takes memory for one row while it is sent: only a new largest row takes more.
    ///
    /// # Errors
    /// There is no more memory.
    fn take_row(&self, bytes: u64) -> Result<(), Self::Error>;

    /// Looks at the stop switch.
    ///
    /// # Errors
    /// The join was stopped.
    fn check(&self) -> Result<(), Self::Error>;
}

/// The rows of a table as a join holds them.
pub type BoxedRows<E> = Arc<dyn JoinRows<Error = E>>;

/// The tuples found so far.
pub struct Join<E> {
    bases: Arc<[usize]>,
    tables: Vec<Option<BoxedRows<E>>>,
    /// Row numbers, tuple by tuple.
    tuples: Vec<u32>,
    /// The order in which tables were read.
    read: Vec<usize>,
    bounds: Arc<dyn JoinBounds<Error = E>>,
}

/// The values of one tuple. A read that fails gives NULL and keeps the first error.
struct Tuple<'a, E> {
    bases: &'a [usize],
    tables: &'a [Option<BoxedRows<E>>],
    rows: &'a [u32],
    failed: &'a RefCell<Option<E>>,
}

impl<E> Tuple<'_, E> {
    fn read(
        &self,
        slot: usize,
        read: impl Fn(&dyn JoinRows<Error = E>, u32, usize) -> Result<Value, E>,
    ) -> Value {
        let table = self.bases.partition_point(|base| *base <= slot) - 1;
        let (row, column) = (self.rows[table], slot - self.bases[table]);
        let Some(rows) = self.tables[table].as_ref().filter(|_| row != NONE) else {
            return Value::Null;
        };
        read(&**rows, row, column).unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            Value::Null
        })
    }
}

impl<E> ColumnValues for Tuple<'_, E> {
    fn value(&self, slot: usize) -> Value {
        self.read(slot, |rows, row, column| rows.value(row, column))
    }

    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        self.read(slot, |rows, row, column| rows.value_at(row, column, path))
    }
}

impl<E> Join<E> {
    /// A join of which no table is read yet.
    #[must_use]
    pub fn new(bound: &BoundJoin, bounds: Arc<dyn JoinBounds<Error = E>>) -> Join<E> {
        Join {
            bases: Arc::clone(&bound.bases),
            tables: bound.steps.iter().map(|_| None).collect(),
            tuples: Vec::new(),
            read: Vec::new(),
            bounds,
        }
    }

    fn width(&self) -> usize {
        self.tables.len()
    }

    /// Number of tuples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tuples.len() / self.width().max(1)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tuples.is_empty()
    }

    /// The values that rows of the step's table must have in the column of its first key: no other row joins. `None`: the key has
    /// no such column, or there are more than `most` tuples.
    ///
    /// # Errors
    /// A row cannot be read; no memory; stopped.
    pub fn wanted(&self, step: &JoinStep, most: usize) -> Result<Option<(String, List)>, E> {
        let first = step
            .keys
            .first()
            .and_then(|key| Some((key, key.column.clone()?)));
        let Some((key, column)) = first.filter(|_| !self.read.is_empty() && self.len() <= most)
        else {
            return Ok(None);
        };
        let mut list = List::default();
        let mut paid = Paid::default();
        self.each(|tuple, _| {
            let value = key.other.evaluate(tuple);
            if value != Value::Null {
                paid.more(value.memory() as u64, &mut |more| self.bounds.take(more))?;
                list.push(value);
            }
            Ok(())
        })?;
        if let Some(numbers) = list.whole() {
            let mut numbers = numbers.to_vec();
            numbers.sort_unstable();
            numbers.dedup();
            list = List::from(numbers);
        }
        Ok(Some((column, list)))
    }

    /// Calls `visit` with each tuple and its row numbers.
    fn each(&self, mut visit: impl FnMut(&Tuple<'_, E>, &[u32]) -> Result<(), E>) -> Result<(), E> {
        let failed = RefCell::new(None);
        let mut pace = Pace::default();
        for rows in self.tuples.chunks_exact(self.width()) {
            pace.step(&*self.bounds)?;
            visit(&self.tuple(rows, &failed), rows)?;
            if let Some(error) = failed.take() {
                return Err(error);
            }
        }
        Ok(())
    }

    fn tuple<'a>(&'a self, rows: &'a [u32], failed: &'a RefCell<Option<E>>) -> Tuple<'a, E> {
        Tuple {
            bases: &self.bases,
            tables: &self.tables,
            rows,
            failed,
        }
    }

    /// Joins the rows of the next step's table.
    ///
    /// # Errors
    /// A row cannot be read; no memory; stopped.
    pub fn step(&mut self, step: &JoinStep, rows: BoxedRows<E>) -> Result<(), E> {
        let count = rows.len() as u32;
        self.tables[step.table] = Some(rows);
        let is_first = self.read.is_empty();
        self.read.push(step.table);
        if is_first {
            self.tuples = vec![NONE; self.width()];
        }
        let joined = match step.keys.is_empty() {
            true => self.cross(step, count),
            false => self.by_keys(step, count),
        };
        self.tuples = joined?;
        Ok(())
    }

    /// Pairs each tuple with each row.
    fn cross(&self, step: &JoinStep, count: u32) -> Result<Vec<u32>, E> {
        let mut out = Growing::new(self, step);
        for rows in self.tuples.chunks_exact(self.width()) {
            out.begin(rows);
            for row in 0..count {
                out.offer(row)?;
            }
            out.end()?;
        }
        Ok(out.tuples)
    }

    /// Pairs each tuple with the rows that its keys lead to.
    fn by_keys(&self, step: &JoinStep, count: u32) -> Result<Vec<u32>, E> {
        let keyed = Keyed::new(self, step, count)?;
        let mut out = Growing::new(self, step);
        let failed = RefCell::new(None);
        let mut values = Vec::with_capacity(step.keys.len());
        for rows in self.tuples.chunks_exact(self.width()) {
            out.begin(rows);
            let tuple = self.tuple(rows, &failed);
            values.clear();
            values.extend(step.keys.iter().map(|key| key.other.evaluate(&tuple)));
            if let Some(error) = failed.take() {
                return Err(error);
            }
            let mut next = keyed.first(&step.keys, &values);
            while let Some(row) = next {
                if keyed.equals(row, &values) {
                    out.offer(row)?;
                }
                next = keyed.next(row);
            }
            out.end()?;
        }
        Ok(out.tuples)
    }
}

/// The tuples of a step, as they are found.
struct Growing<'a, E> {
    join: &'a Join<E>,
    step: &'a JoinStep,
    tuples: Vec<u32>,
    /// The tuple that is being joined, with the row that is tried.
    tried: Vec<u32>,
    has_partner: bool,
    pace: Pace,
    failed: RefCell<Option<E>>,
    paid: Paid,
}

impl<'a, E> Growing<'a, E> {
    fn new(join: &'a Join<E>, step: &'a JoinStep) -> Growing<'a, E> {
        Growing {
            join,
            step,
            tuples: Vec::new(),
            tried: Vec::new(),
            has_partner: false,
            pace: Pace::default(),
            failed: RefCell::new(None),
            paid: Paid::default(),
        }
    }

    fn begin(&mut self, rows: &[u32]) {
        self.tried.clear();
        self.tried.extend_from_slice(rows);
        self.has_partner = false;
    }

    /// Adds the tuple with this row, if the rest of the condition is true.
    fn offer(&mut self, row: u32) -> Result<(), E> {
        self.pace.step(&*self.join.bounds)?;
        self.tried[self.step.table] = row;
        if let Some(rest) = &self.step.rest {
            let accepts = rest.accepts(&self.join.tuple(&self.tried, &self.failed));
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if !accepts {
                return Ok(());
            }
        }
        self.has_partner = true;
        self.push()
    }

    /// Behind LEFT JOIN, adds the tuple without a row if no row joined it.
    fn end(&mut self) -> Result<(), E> {
        self.pace.step(&*self.join.bounds)?;
        if self.step.is_left && !self.has_partner {
            self.tried[self.step.table] = NONE;
            return self.push();
        }
        Ok(())
    }

    fn push(&mut self) -> Result<(), E> {
        // A vector that grows holds its old and its new room at a time.
        let bytes = 3 * size_of_val(&self.tried[..]) as u64;
        self.paid
            .more(bytes, &mut |more| self.join.bounds.take(more))?;
        self.tuples.extend_from_slice(&self.tried);
        Ok(())
    }
}

/// The rows of a step's table by the values of its keys.
///
/// Equality of texts and numbers is not transitive: 0 equals `'a'` and `'b'`. So a chain has the rows of one [`Class`](crate::value::Class), and each
/// of its rows is compared with what is looked for.
struct Keyed {
    /// The values of each key, row by row.
    values: Vec<List>,
    /// The first row of each chain.
    firsts: HashTable<u32>,
    /// For each row the next one of its chain, or [`NONE`].
    nexts: Vec<u32>,
}

impl Keyed {
    fn new<E>(join: &Join<E>, step: &JoinStep, count: u32) -> Result<Keyed, E> {
        let bounds = &*join.bounds;
        bounds.take(u64::from(count) * KEYED_ROW_BYTES)?;
        let mut keyed = Keyed {
            values: vec![List::default(); step.keys.len()],
            firsts: HashTable::with_capacity(count as usize),
            nexts: vec![NONE; count as usize],
        };
        let mut hashes = Vec::with_capacity(count as usize);
        let failed = RefCell::new(None);
        let mut alone = vec![NONE; join.width()];
        let (mut pace, mut paid) = (Pace::default(), Paid::default());
        for row in 0..count {
            pace.step(bounds)?;
            alone[step.table] = row;
            let tuple = join.tuple(&alone, &failed);
            let mut hasher = Some(FxHasher::default());
            for (key, list) in step.keys.iter().zip(&mut keyed.values) {
                let value = key.own.evaluate(&tuple);
                hasher = hasher.filter(|_| value != Value::Null);
                if let Some(hasher) = &mut hasher {
                    value.class(key.are_texts).hash(hasher);
                }
                let text = value.text_bytes().map_or(0, <[u8]>::len);
                let bytes = match value {
                    Value::Int(_) => 2 * size_of::<i64>(),
                    _ => size_of::<Value>() + 2 * text,
                };
                paid.more(bytes as u64, &mut |more| bounds.take(more))?;
                list.push(value);
            }
            if let Some(error) = failed.take() {
                return Err(error);
            }
            hashes.push(hasher.map(|hasher| hasher.finish()));
        }
        keyed.link(&step.keys, &hashes);
        Ok(keyed)
    }

    /// Makes the chains. From the last row on, so that a chain rises.
    fn link(&mut self, keys: &[JoinKey], hashes: &[Option<u64>]) {
        let alike = |a: u32, b: u32| {
            let mut lists = self.values.iter().zip(keys);
            lists.all(|(list, key)| match list.whole() {
                Some(numbers) => numbers[a as usize] == numbers[b as usize],
                None => {
                    let (a, b) = (list.get(a as usize), list.get(b as usize));
                    a.class(key.are_texts) == b.class(key.are_texts)
                }
            })
        };
        for (row, hash) in hashes.iter().enumerate().rev() {
            let (row, Some(hash)) = (row as u32, *hash) else {
                continue;
            };
            match self.firsts.find_mut(hash, |first| alike(*first, row)) {
                Some(first) => {
                    self.nexts[row as usize] = *first;
                    *first = row;
                }
                None => {
                    let of = |first: &u32| hashes[*first as usize].unwrap_or(0);
                    self.firsts.insert_unique(hash, row, of);
                }
            }
        }
    }

    /// The first row of the chain for these values.
    fn first(&self, keys: &[JoinKey], values: &[Value]) -> Option<u32> {
        let mut hasher = FxHasher::default();
        for (key, value) in keys.iter().zip(values) {
            value.class(key.are_texts).hash(&mut hasher);
        }
        let is_null = values.contains(&Value::Null);
        let alike = |row: &u32| {
            let mut lists = self.values.iter().zip(keys.iter().zip(values));
            lists.all(|(list, (key, value))| match (list.whole(), value) {
                (Some(numbers), Value::Int(number)) => is_number(numbers, *row, *number),
                _ => list.get(*row as usize).class(key.are_texts) == value.class(key.are_texts),
            })
        };
        let found = self.firsts.find(hasher.finish(), alike);
        found.copied().filter(|_| !is_null)
    }

    /// Whether a row has these values.
    fn equals(&self, row: u32, values: &[Value]) -> bool {
        let mut lists = self.values.iter().zip(values);
        lists.all(|(list, value)| match (list.whole(), value) {
            (Some(numbers), Value::Int(number)) => is_number(numbers, row, *number),
            _ => {
                let order = list.get(row as usize).cmp_sql(value);
                order.is_some_and(|order| order.is_eq())
            }
        })
    }

    fn next(&self, row: u32) -> Option<u32> {
        let next = self.nexts[row as usize];
        (next != NONE).then_some(next)
    }
}

fn is_number(numbers: &[i64], row: u32, number: i128) -> bool {
    i128::from(numbers[row as usize]) == number
}

/// The rows of a join's answer, read one by one.
pub struct JoinedRows<E> {
    join: Join<E>,
    shown: Arc<[Shown]>,
    /// The tuples of the answer, in order.
    left: std::vec::IntoIter<u32>,
}

/// The answer of a join.
pub struct Joined<E> {
    /// Rows found, before OFFSET and LIMIT; 1 for COUNT(*). A group counts once for each row that it shows.
    pub total: u64,
    /// The rows in order, after OFFSET and LIMIT.
    pub rows: Answered<E>,
}

/// The rows of an answer.
pub enum Answered<E> {
    /// Groups, or the row of COUNT(*).
    Ready(Vec<Vec<Value>>),
    /// Rows that are read one by one.
    Reading(JoinedRows<E>),
}

/// A tuple with its keys of ORDER BY.
struct Found {
    tuple: u32,
    keys: Vec<Value>,
}

impl Sorted for Found {
    fn weight(&self) -> i64 {
        0
    }

    fn id(&self) -> u64 {
        self.tuple.into()
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<Found>() + keys) as u64
    }
}

impl<E> Join<E> {
    /// The answer, once every step is done.
    ///
    /// # Errors
    /// A row cannot be read; no memory; stopped.
    pub fn answer(mut self, bound: &BoundJoin) -> Result<Joined<E>, E> {
        if let Some(filter) = &bound.filter {
            self.keep(filter)?;
        }
        let total = self.len() as u64;
        if bound.is_count {
            let is_shown = bound.offset == 0 && bound.limit != Some(0);
            let count = vec![Value::Int(total.into()); bound.shown.len()];
            return Ok(Joined {
                total: 1,
                rows: Answered::Ready(is_shown.then_some(count).into_iter().collect()),
            });
        }
        if let Some(groups) = &bound.groups {
            return self.grouped(bound, groups);
        }
        let order = self.sorted(&bound.order, bound)?;
        Ok(Joined {
            total,
            rows: Answered::Reading(JoinedRows {
                join: self,
                shown: Arc::clone(&bound.shown),
                left: order.into_iter(),
            }),
        })
    }

    /// The groups of the tuples.
    fn grouped(&self, bound: &BoundJoin, groups: &Arc<Groups>) -> Result<Joined<E>, E> {
        let written = self.written()?;
        let (mut paid, mut pace) = (Paid::default(), Pace::default());
        let mut pay = |bytes: u64| {
            pace.step(&*self.bounds)?;
            paid.more(bytes, &mut |more| self.bounds.take(more))
        };
        let failed = RefCell::new(None);
        let mut grouped = Grouped::new(groups);
        for (place, tuple) in written.iter().enumerate() {
            let tuple = self.tuple(self.rows_of(*tuple), &failed);
            grouped.add(&tuple, place as u32, &mut pay)?;
            if let Some(error) = failed.take() {
                return Err(error);
            }
        }
        let tuple_of = |place: u32| {
            let tuple = written.get(place as usize)?;
            Some(self.tuple(self.rows_of(*tuple), &failed))
        };
        let keep = bound
            .limit
            .and_then(|limit| limit.checked_add(bound.offset));
        let mut read =
            |row: Option<u32>, see: &mut dyn FnMut(Option<&dyn ColumnValues>)| -> Result<(), E> {
                let tuple = row.and_then(tuple_of);
                see(tuple.as_ref().map(|tuple| tuple as &dyn ColumnValues));
                failed.take().map_or(Ok(()), Err)
            };
        let (found, total) =
            grouped.finish(&bound.order, (keep, bound.offset), &mut read, &mut pay)?;
        let mut rows = Vec::with_capacity(found.len());
        for group in &found {
            let mut values = Vec::with_capacity(bound.shown.len());
            read(group.row, &mut |row| {
                let seen = group.over(row);
                values.extend(bound.shown.iter().map(|shown| shown.value(0, &seen)));
            })?;
            pay(values.iter().map(|value| value.memory() as u64).sum())?;
            rows.push(values);
        }
        Ok(Joined {
            total,
            rows: Answered::Ready(rows),
        })
    }

    /// The row numbers of a tuple.
    fn rows_of(&self, tuple: u32) -> &[u32] {
        &self.tuples[tuple as usize * self.width()..][..self.width()]
    }

    /// All tuples by their numbers, in the order of the rows of the first table, then of the second, and so on.
    fn written(&self) -> Result<Vec<u32>, E> {
        let count = self.len();
        self.bounds.take(count as u64 * size_of::<u32>() as u64)?;
        let mut written: Vec<u32> = (0..count as u32).collect();
        if !self.read.is_sorted() {
            written.sort_unstable_by(|a, b| self.rows_of(*a).cmp(self.rows_of(*b)));
        }
        Ok(written)
    }

    /// Keeps the tuples for which a condition is true.
    fn keep(&mut self, filter: &Prepared) -> Result<(), E> {
        let mut kept = Vec::new();
        let mut paid = Paid::default();
        self.each(|tuple, rows| {
            if filter.accepts(tuple) {
                paid.more(size_of_val(rows) as u64, &mut |more| self.bounds.take(more))?;
                kept.extend_from_slice(rows);
            }
            Ok(())
        })?;
        self.tuples = kept;
        Ok(())
    }

    /// The tuples of the page, by their numbers.
    fn sorted(&self, order: &Arc<Order>, bound: &BoundJoin) -> Result<Vec<u32>, E> {
        let mut written = self.written()?;
        let count = written.len();
        let most = usize::try_from(bound.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let offset = usize::try_from(bound.offset)
            .unwrap_or(usize::MAX)
            .min(count);
        if order.is_empty() {
            written.drain(..offset);
            written.truncate(most);
            return Ok(written);
        }
        let keep = bound
            .limit
            .and_then(|limit| limit.checked_add(bound.offset));
        let mut best = Best::new(Arc::clone(order), keep);
        let (mut paid, mut pace) = (Paid::default(), Pace::default());
        let failed = RefCell::new(None);
        for (place, tuple) in written.iter().enumerate() {
            pace.step(&*self.bounds)?;
            let keys = order.values(&self.tuple(self.rows_of(*tuple), &failed));
            if let Some(error) = failed.take() {
                return Err(error);
            }
            let found = Found {
                tuple: place as u32,
                keys,
            };
            paid.more(best.offer(found), &mut |more| self.bounds.take(more))?;
        }
        let best = best.into_sorted(bound.offset).into_iter();
        Ok(best.map(|found| written[found.tuple as usize]).collect())
    }
}

impl<E> Iterator for JoinedRows<E> {
    type Item = Result<Vec<Value>, E>;

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.left.next()?;
        let failed = RefCell::new(None);
        let tuple = self.join.tuple(self.join.rows_of(at), &failed);
        let mut values = Vec::with_capacity(self.shown.len());
        let mut bytes = 0;
        for shown in self.shown.iter() {
            let value = shown.value(0, &tuple);
            if let Some(text) = value.text_bytes() {
                // A SELECT may show a large column many times.
                bytes += text.len() as u64;
                if let Err(error) = self.join.bounds.take_row(bytes) {
                    return Some(Err(error));
                }
            }
            values.push(value);
        }
        Some(failed.take().map_or(Ok(values), Err))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

/// Rows until the next look at the stop switch.
#[derive(Default)]
struct Pace(u32);

impl Pace {
    fn step<E>(&mut self, bounds: &dyn JoinBounds<Error = E>) -> Result<(), E> {
        self.0 += 1;
        if self.0 < STEPS_A_CHECK {
            return Ok(());
        }
        self.0 = 0;
        bounds.check()
    }
}
