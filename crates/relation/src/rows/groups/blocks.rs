//! Groups made from blocks of rows, in any order and by several threads. The answer is that of [`Grouped`](super::Grouped) over
//! the rows in their order.
//!
//! Example: `GROUP BY city` over two threads. A row is a place: weight, id, table, number.
//!
//! ```text
//! thread A   0 Bonn   COUNT(*) 2   first row (1, id 7)
//! thread B   0 Rome   COUNT(*) 1   first row (1, id 3)      1 BONN   COUNT(*) 1   first row (1, id 4)
//! merged     0 Bonn   COUNT(*) 3   first row (1, id 4)      1 Rome   COUNT(*) 1   first row (1, id 3)
//! in order   Rome, BONN: by their first rows, and each shows the key of that row
//! ```
//!
//! Not taken are groups that show several rows or order their rows, and GROUP_CONCAT. It is seen only in the values that MIN and MAX
//! compare texts with numbers, or that lists as keys give too many rows: then the rows must be added one by one, too.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use language::meter::{Meter, Work};

use super::super::sort::{COMPARED_UNITS, Sort};
use super::Groups;
use super::expanded::Expanded;
use super::index::{Block, Index, KeyCodes, SHARDS, Shard};
use super::states::{Accumulator, Distinct, Pay, States};
use crate::expression::Prepared;
use crate::value::Value;

/// A row by its place in the order of rows: the highest weight comes first, then the lowest id, then the first table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its weight; 1 without MATCH.
    pub weight: i64,
    /// Its id, which may stand in several tables that are read as one.
    pub id: u64,
    /// The part of the table that has it, in the order of tables.
    pub part: u32,
    /// Its number in that part.
    pub row: u32,
}

/// Rows of one part of a table, rising.
pub struct PartRows<'r, E> {
    /// The number of each row in its part, counted from `base`.
    pub lows: &'r [u16],
    /// Their weights; empty: all are equal.
    pub weights: &'r [i64],
    /// What is added to an entry of `lows` to get the row's number in the part.
    pub base: u32,
    /// The part, in the order of tables.
    pub part: u32,
    /// Whether the ids of the part rise with the numbers of its rows.
    pub is_sorted: bool,
    /// The id of a row, by its number.
    pub id_of: &'r dyn Fn(u32) -> Result<u64, E>,
}

impl<E> PartRows<'_, E> {
    /// The `at`-th row, if it may come before `known` in the order of rows. Most rows do not, and their ids are not read.
    #[inline]
    fn before(&self, at: usize, known: &Place) -> Result<Option<Place>, E> {
        let row = self.base + u32::from(self.lows[at]);
        let weight = self.weights.get(at).copied().unwrap_or(1);
        let is_behind = self.is_sorted && known.part == self.part && known.row <= row;
        if weight < known.weight || weight == known.weight && is_behind {
            return Ok(None);
        }
        let place = Place {
            weight,
            id: (self.id_of)(row)?,
            part: self.part,
            row,
        };
        Ok(place.is_before(known).then_some(place))
    }
}

/// Behind every row.
const NOWHERE: Place = Place {
    weight: i64::MIN,
    id: u64::MAX,
    part: u32::MAX,
    row: u32::MAX,
};

impl Place {
    #[inline]
    fn is_before(&self, other: &Place) -> bool {
        self.weight > other.weight || self.weight == other.weight && self.rest() < other.rest()
    }

    #[inline]
    fn rest(&self) -> (u64, u32) {
        (self.id, self.part)
    }
}

/// The groups of the rows of one thread.
pub struct BlockGroups {
    groups: Arc<Groups>,
    inputs: Vec<Prepared>,
    /// For each key, and for each aggregate's arguments, their indexes in `inputs`.
    keys: Vec<usize>,
    arguments: Vec<Vec<usize>>,
    index: Index,
    accumulators: Vec<Accumulator>,
    /// Of each group its first row.
    firsts: Vec<Place>,
    /// Of each group its number among the groups of that row.
    choices: Vec<u32>,
    /// Memory for the groups of a block's rows.
    numbers: Vec<u32>,
    /// For each MIN and MAX the kinds of its values, as bits; 0 of other aggregates.
    kinds: Vec<u8>,
    /// Whether some keys were lists.
    has_lists: bool,
    /// Whether rows must be added one by one.
    is_refused: bool,
}

/// The groups of all rows, by the order of their first rows where these show.
pub struct BlocksMade {
    /// The first rows, group by group. Without keys there may be a group and no row.
    pub rows: Vec<Place>,
    /// The numbers of the groups in the accumulators.
    pub(super) order: Vec<u32>,
    /// The codes of the keys by these numbers, where some keys are lists.
    pub(super) codes: Option<KeyCodes>,
    pub(super) accumulators: Vec<Accumulator>,
    pub(super) groups: Arc<Groups>,
}

/// Runs a piece of work for each number below one, on several threads or one. Errors: those of the work.
pub type Spread<'s, E> =
    dyn Fn(usize, &(dyn Fn(usize) -> Result<(), E> + Sync)) -> Result<(), E> + 's;

/// For each group of another thread its number here; for each COUNT(DISTINCT …) the distinct values of that thread.
type Apart = (Vec<u32>, Vec<Vec<Shard>>);

/// Units of a group's first row that is compared, and of a distinct value that is counted.
const FIRST_UNITS: u64 = 10;
const COUNTED_UNITS: u64 = 10;

/// The kind of numbers.
const NUMBERS: u8 = 1;

/// The kind of texts.
const TEXTS: u8 = 2;

/// The kind of a value, as a bit. The order of values of one kind is transitive; 0 equals `'a'` and `'b'`.
fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Float(_) => NUMBERS,
        Value::Str(_) => TEXTS,
        Value::Bytes(_) => 4,
        Value::Set(_) => 8,
        Value::Json(_) => 16,
    }
}

fn are_comparable(kinds: &[u8]) -> bool {
    kinds.iter().all(|kinds| kinds.count_ones() < 2)
}

impl Groups {
    /// Whether rows can be added in blocks, as far as the statement tells.
    #[must_use]
    pub fn are_in_blocks(&self) -> bool {
        let is_ordered = self.aggregates.iter().any(|of| of.kind.is_ordered());
        self.rows_each == 1 && self.within.is_empty() && !is_ordered
    }
}

impl BlockGroups {
    /// No row yet.
    #[must_use]
    pub fn new(groups: &Arc<Groups>) -> BlockGroups {
        let mut inputs: Vec<Prepared> = Vec::new();
        let mut place = |of: &Prepared| of.place_among(&mut inputs);
        let keys: Vec<usize> = groups.keys.iter().map(&mut place).collect();
        let aggregates = groups.aggregates.iter();
        let arguments = aggregates.map(|of| of.arguments.iter().map(&mut place).collect());
        let arguments = arguments.collect();
        let accumulators = groups.aggregates.iter();
        let mut made = BlockGroups {
            accumulators: accumulators.map(|of| Accumulator::new(&of.kind)).collect(),
            index: Index::new(keys.len()),
            groups: Arc::clone(groups),
            inputs,
            keys,
            arguments,
            firsts: Vec::new(),
            choices: Vec::new(),
            numbers: Vec::new(),
            kinds: vec![0; groups.aggregates.len()],
            has_lists: false,
            is_refused: false,
        };
        made.grow();
        made
    }

    /// The expressions whose values [`BlockGroups::add`] wants, each over a row.
    #[must_use]
    pub fn inputs(&self) -> &[Prepared] {
        &self.inputs
    }

    /// Adds rows. `inputs`: the rows' values of each of [`BlockGroups::inputs`]. Gives the memory that this takes, in bytes; memory for
    /// a wide text is paid for by `pay`, before it is taken. Once the meter has stopped, the groups are of no use.
    ///
    /// # Errors
    /// Those of [`PartRows::id_of`] and of `pay`.
    pub fn add<E>(
        &mut self,
        part: &PartRows<'_, E>,
        inputs: &[&Block],
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<u64, E> {
        self.is_refused |= self.refuses(inputs);
        if self.is_refused {
            return Ok(0);
        }
        let keys: Vec<&Block> = self.keys.iter().map(|at| inputs[*at]).collect();
        if !keys.iter().any(|key| key.has_lists()) {
            return self.add_each(part, &[], (&keys, inputs), meter, pay);
        }
        self.has_lists = true;
        let Some(expanded) = Expanded::of(&keys, part.lows.len(), meter) else {
            self.is_refused = true;
            return Ok(0);
        };
        let rows = || expanded.rows.iter().map(|at| *at as usize);
        let lows: Vec<u16> = rows().map(|at| part.lows[at]).collect();
        let weights: Vec<i64> = match part.weights {
            [] => Vec::new(),
            weights => rows().map(|at| weights[at]).collect(),
        };
        let is_argument = |at: usize| self.arguments.iter().flatten().any(|of| *of == at);
        let values = inputs
            .iter()
            .enumerate()
            .map(|(at, input)| match is_argument(at) {
                true => input.of_rows(&expanded.rows),
                false => Block::Whole(Vec::new()),
            });
        let values: Vec<Block> = values.collect();
        let keys: Vec<&Block> = expanded.keys.iter().collect();
        let values: Vec<&Block> = values.iter().collect();
        let part = PartRows {
            lows: &lows,
            weights: &weights,
            ..*part
        };
        self.add_each(&part, &expanded.choices, (&keys, &values), meter, pay)
    }

    /// Adds rows, each to one group. `choices`: of each row the number of that group among its groups; none: 0. `keys`, `inputs`: the
    /// values of the keys, and of all inputs.
    fn add_each<E>(
        &mut self,
        part: &PartRows<'_, E>,
        choices: &[u32],
        (keys, inputs): (&[&Block], &[&Block]),
        meter: &dyn Meter,
        pay: &mut Pay<'_, E>,
    ) -> Result<u64, E> {
        let before = self.index.bytes();
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.resize(part.lows.len(), 0);
        self.index.number(keys.iter().copied(), &mut numbers, meter);
        let known = self.firsts.len();
        let mut bytes = self.index.bytes() - before + self.grow();
        // Where first rows do not show, any row of a group stands for it.
        if self.groups.needs_firsts || known < self.firsts.len() {
            for (at, number) in numbers.iter().enumerate() {
                let first = &mut self.firsts[*number as usize];
                if let Some(row) = part.before(at, first)? {
                    *first = row;
                    self.choices[*number as usize] = choices.get(at).copied().unwrap_or(0);
                }
            }
        }
        for (accumulator, arguments) in self.accumulators.iter_mut().zip(&self.arguments) {
            let arguments: Vec<&Block> = arguments.iter().map(|at| inputs[*at]).collect();
            bytes += accumulator.add_rows(&numbers, &arguments, meter, pay)?;
        }
        self.numbers = numbers;
        Ok(bytes as u64)
    }

    /// Whether the groups of rows with these values depend on the order of the rows.
    fn refuses(&mut self, inputs: &[&Block]) -> bool {
        let aggregates = self.accumulators.iter().zip(&self.arguments);
        for ((of, arguments), kinds) in aggregates.zip(&mut self.kinds) {
            if let (true, [at]) = (of.compares(), &arguments[..]) {
                *kinds |= match inputs[*at] {
                    Block::Whole(_) | Block::Real(_) => NUMBERS,
                    Block::Texts(_) | Block::Listed(..) => TEXTS,
                    Block::Any(values) => values.iter().fold(0, |all, value| all | kind(value)),
                };
            }
        }
        !are_comparable(&self.kinds)
    }

    /// Makes room for new groups. Gives their memory, in bytes.
    fn grow(&mut self) -> usize {
        let (before, count) = (self.firsts.len(), self.index.count() as usize);
        for _ in before..count {
            self.accumulators.iter_mut().for_each(States::grow);
        }
        self.firsts.resize(count, NOWHERE);
        self.choices.resize(count, 0);
        let states = self.accumulators.iter().map(States::state_bytes);
        (count - before) * (2 * size_of::<Place>() + size_of::<u32>() + states.sum::<usize>())
    }

    /// Merges the groups of all threads, the same statement's. `None`: rows must be added one by one, or the meter has stopped.
    /// `pay` is called with the memory that this takes, in bytes; `spread` runs the pieces of what is worth several threads.
    ///
    /// # Errors
    /// Those of `pay`, and of `spread`.
    pub fn merge<E: Send>(
        all: Vec<BlockGroups>,
        meter: &(dyn Meter + Sync),
        pay: &(dyn Fn(u64) -> Result<(), E> + Sync),
        spread: &Spread<'_, E>,
    ) -> Result<Option<BlocksMade>, E> {
        let mut rest = all.into_iter();
        let Some(mut made) = rest.next() else {
            return Ok(None);
        };
        let mut others = Vec::new();
        for other in rest {
            let Some((other, bytes)) = made.take_in(other, meter) else {
                return Ok(None);
            };
            pay(bytes as u64)?;
            others.push(other);
        }
        if made.is_refused {
            return Ok(None);
        }
        made.merge_distinct(others, meter, pay, spread)?;
        Ok(made.ordered(meter))
    }

    /// Takes in all of another thread's groups but their distinct values, which it gives with the numbers that its groups have here;
    /// also the memory that this takes, in bytes. `None`: the meter has stopped.
    fn take_in(&mut self, mut other: BlockGroups, meter: &dyn Meter) -> Option<(Apart, usize)> {
        let kinds = self.kinds.iter_mut().zip(other.kinds);
        kinds.for_each(|(kinds, more)| *kinds |= more);
        self.has_lists |= other.has_lists;
        self.is_refused |= other.is_refused || !are_comparable(&self.kinds);
        let work = Work::new(meter);
        let index = std::mem::replace(&mut other.index, Index::new(0));
        let before = self.index.bytes();
        let numbers = self.index.merge(index, &work)?;
        let mut bytes = self.index.bytes() - before + self.grow();
        let firsts = other.firsts.iter().zip(&other.choices);
        for (number, (row, choice)) in numbers.iter().zip(firsts) {
            work.begin(FIRST_UNITS)?;
            let first = &mut self.firsts[*number as usize];
            if row.is_before(first) {
                *first = *row;
                self.choices[*number as usize] = *choice;
            }
        }
        let mut distinct = Vec::new();
        for (own, other) in self.accumulators.iter_mut().zip(other.accumulators) {
            if let Accumulator::Distinct(of) = other {
                distinct.push(of.values.shards);
            } else {
                bytes += own.merge(other, &numbers, &work)?;
            }
        }
        Some(((numbers, distinct), bytes))
    }

    /// Merges and counts distinct values, table by table.
    fn merge_distinct<E: Send>(
        &mut self,
        mut others: Vec<Apart>,
        meter: &(dyn Meter + Sync),
        pay: &(dyn Fn(u64) -> Result<(), E> + Sync),
        spread: &Spread<'_, E>,
    ) -> Result<(), E> {
        let groups = self.firsts.len();
        for accumulator in self.accumulators.iter_mut().rev() {
            let Accumulator::Distinct(Distinct { counts, values }) = accumulator else {
                continue;
            };
            // By table: that of each thread. A lock is only ever held by the one who works on its table.
            let own = std::mem::take(&mut values.shards).into_iter();
            let mut shards: Vec<Vec<Shard>> = own.map(|shard| vec![shard]).collect();
            for (_, distinct) in &mut others {
                let more = distinct.pop().unwrap_or_default();
                shards
                    .iter_mut()
                    .zip(more)
                    .for_each(|(all, more)| all.push(more));
            }
            let shards: Vec<Mutex<Vec<Shard>>> = shards.into_iter().map(Mutex::new).collect();
            let sums: Vec<AtomicU64> = (0..groups).map(|_| AtomicU64::new(0)).collect();
            spread(SHARDS, &|at| {
                let mut shard = shards[at].lock().unwrap_or_else(PoisonError::into_inner);
                let mut all = shard.drain(..);
                let mut made = all.next().unwrap_or_default();
                let work = Work::new(meter);
                for (other, (numbers, _)) in all.zip(&others) {
                    let bytes = made.merge(other, numbers, &work);
                    // Once the meter has stopped, it fails.
                    pay(bytes.unwrap_or(0) as u64)?;
                }
                work.spend(COUNTED_UNITS * made.len() as u64);
                made.counts(|group, count| {
                    sums[group as usize].fetch_add(count, Ordering::Relaxed);
                });
                Ok(())
            })?;
            *counts = sums.into_iter().map(AtomicU64::into_inner).collect();
        }
        Ok(())
    }

    /// The groups, by the order of their first rows where these show. `None`: the meter has stopped.
    fn ordered(self, meter: &dyn Meter) -> Option<BlocksMade> {
        let mut order: Vec<u32> = (0..self.firsts.len() as u32).collect();
        let of = |number: &u32| self.firsts[*number as usize];
        // Where first rows do not show, ORDER BY leaves no two groups equal.
        if self.groups.needs_firsts {
            let key = |number: &u32| {
                let (place, choice) = (of(number), self.choices[*number as usize]);
                (Reverse(place.weight), place.rest(), choice)
            };
            let work = Work::new(meter);
            let compare = |a: &u32, b: &u32| key(a).cmp(&key(b));
            Sort::new(compare, |_| COMPARED_UNITS, &work).sort(&mut order)?;
        }
        let rows = order.iter().map(of).filter(|place| *place != NOWHERE);
        Some(BlocksMade {
            rows: rows.collect(),
            codes: self.has_lists.then(|| self.index.into_codes()),
            order,
            accumulators: self.accumulators,
            groups: self.groups,
        })
    }
}
