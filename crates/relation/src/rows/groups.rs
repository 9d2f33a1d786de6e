//! Groups of rows: GROUP BY and aggregates, over rows of any source.
//!
//! Example: `SELECT city, COUNT(*), SUM(n) FROM t GROUP BY city` over rows of Bonn, Rome, BONN with n = 1, 2, 3.
//!
//! ```text
//! group   key     COUNT(*)   SUM(n)   slots
//! 0       Bonn    2          4        GROUP_SLOT: the key; GROUP_SLOT + 1: COUNT(*); GROUP_SLOT + 2: SUM(n)
//! 1       Rome    1          2
//! ```
//!
//! Invariants:
//! - Groups are numbered in the order of their first rows. Without keys there is one group, which needs no row.
//! - Keys are equal as in DISTINCT: `Bonn` and `BONN`, 5 and 5.0, NULL and NULL. A group shows the key of its first row.
//! - A row with a set or JSON array in a key belongs once to the group of each distinct item; with an empty one to none.
//! - Aggregates are exact and do not depend on the order of the rows, but for GROUP_CONCAT, which has the order of the rows.

mod blocks;
mod exact;
mod expanded;
mod index;
mod states;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::best::Best;
use super::distinct::{DistinctRows, write};
use super::order::{Order, Sorted};
use crate::expression::{AggregateKind, ColumnValues, GROUP_SLOT, Prepared};
use crate::json::JsonStep;
use crate::value::Value;
pub use blocks::{BlockGroups, BlocksMade, PartRows, Place, Spread};
pub use index::{Block, Texts};
use language::meter::{HeldWide, Meter, Work};
use states::{Accumulator, States};

/// Memory of a group beside its key and its aggregates' texts, in bytes: its places in the lists and the hash table.
const GROUP_BYTES: u64 = 160;

/// Memory of an aggregate of a group, in bytes.
const STATE_BYTES: u64 = 96;

/// Units of an item of a list by which a row is grouped.
const ITEM_UNITS: u64 = 150;

/// Bytes of a text that are compared, copied or joined for one unit: new memory of large texts costs most.
const COPIED_BYTES: u64 = 4;

/// What a statement groups by, and what it wants of its groups.
#[derive(Clone, Debug)]
pub struct Groups {
    /// The keys, over a row. Empty: all rows are one group.
    pub keys: Vec<Prepared>,
    /// The aggregates, each once.
    pub aggregates: Vec<Aggregate>,
    /// The order of rows inside a group. Empty: their own order.
    pub within: Arc<Order>,
    /// How many of its first rows a group shows; at least 1.
    pub rows_each: usize,
    /// HAVING, over the slots of groups and of their rows.
    pub having: Option<Prepared>,
    /// Only groups behind these values of the keys of ORDER BY.
    pub after: Option<Vec<Value>>,
    /// Whether the answer shows which rows are the first of their groups: by their values, or by the order of groups.
    pub needs_firsts: bool,
    /// Whether the answer shows weights of rows, or which rows come first.
    pub needs_weights: bool,
}

/// An aggregate, over the rows of a group.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// What is made of the arguments.
    pub kind: AggregateKind,
    /// Its arguments, over a row.
    pub arguments: Vec<Prepared>,
}

/// A row that a group keeps.
struct Kept {
    /// Its number among all rows.
    row: u32,
    keys: Vec<Value>,
}

impl Sorted for Kept {
    fn weight(&self) -> i64 {
        0
    }

    fn id(&self) -> u64 {
        self.row.into()
    }

    fn keys(&self) -> &[Value] {
        &self.keys
    }

    fn bytes(&self) -> u64 {
        let keys: usize = self.keys.iter().map(Value::memory).sum();
        (size_of::<Kept>() + keys) as u64
    }
}

/// The groups of the rows seen so far.
pub(super) struct Grouped {
    groups: Arc<Groups>,
    /// Number of a group by the bytes of its key.
    index: FxHashMap<Box<[u8]>, u32>,
    /// The keys' values, group by group.
    keys: Vec<Value>,
    count: u32,
    accumulators: Vec<Accumulator>,
    /// For each group its first rows, in order.
    rows: Vec<Vec<Kept>>,
    /// Memory for the bytes of a key, and for the groups of a row.
    code: Vec<u8>,
    numbers: Vec<u32>,
}

/// A group, and one of its rows, of an answer.
pub(super) struct Group {
    /// Number of the row; `None`: the group has no row.
    pub(super) row: Option<u32>,
    /// Its place before ORDER BY.
    place: u64,
    groups: Arc<Groups>,
    held: Held,
    /// Values of the keys of ORDER BY.
    order: Vec<Value>,
}

/// The values of a group.
struct Held {
    /// The keys, then the aggregates; or the aggregates alone, where each row of the group tells the keys.
    values: Arc<[Value]>,
    /// Memory of values that were not paid for yet, in bytes.
    unpaid_bytes: u64,
}

impl Held {
    fn paid(values: &Arc<[Value]>) -> Held {
        Held {
            values: Arc::clone(values),
            unpaid_bytes: 0,
        }
    }
}

impl Sorted for Group {
    fn weight(&self) -> i64 {
        0
    }

    fn id(&self) -> u64 {
        self.place
    }

    fn keys(&self) -> &[Value] {
        &self.order
    }

    fn bytes(&self) -> u64 {
        let order = self.order.iter().map(Value::memory).sum::<usize>();
        let own = size_of::<Group>() + size_of_val::<[Value]>(&self.held.values) + order;
        own as u64 + self.held.unpaid_bytes
    }
}

/// Calls its second argument with the values of a row; without one, with a row of NULLs.
pub(super) type ReadRow<'r, E> =
    dyn FnMut(Option<u32>, &mut dyn FnMut(&dyn ColumnValues)) -> Result<(), E> + 'r;

/// A group as expressions read it: its own slots, and those of its row.
pub(super) struct GroupValues<'g> {
    /// Keys that the row tells.
    keys: &'g [Prepared],
    values: &'g [Value],
    row: &'g dyn ColumnValues,
    /// A copy of a wide value may be in memory as long as this is.
    wide: HeldWide<'g>,
}

/// What a slot of a group is.
enum Own<'g> {
    Key(&'g Prepared),
    Value(&'g Value),
}

impl GroupValues<'_> {
    fn own(&self, slot: usize) -> Option<Own<'_>> {
        let at = slot.checked_sub(GROUP_SLOT)?;
        match at.checked_sub(self.keys.len()) {
            Some(at) => self.values.get(at).map(Own::Value),
            None => self.keys.get(at).map(Own::Key),
        }
    }
}

impl ColumnValues for GroupValues<'_> {
    fn value(&self, slot: usize) -> Value {
        match self.own(slot) {
            Some(Own::Key(key)) => key.evaluate(self.row),
            Some(Own::Value(value)) => {
                self.wide.note(value.memory());
                value.clone()
            }
            None => self.row.value(slot),
        }
    }

    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        match self.own(slot) {
            Some(Own::Key(key)) => key.evaluate(self.row).at_path(path),
            Some(Own::Value(value)) => value.at_path(path),
            None => self.row.value_at(slot, path),
        }
    }

    fn meter(&self) -> &dyn Meter {
        self.row.meter()
    }
}

impl Group {
    /// The group as expressions read it, over its row.
    pub(super) fn over<'g>(&'g self, row: &'g dyn ColumnValues) -> GroupValues<'g> {
        let (keys, values) = (&self.groups.keys[..], &self.held.values);
        GroupValues {
            keys: match values.len() > self.groups.aggregates.len() {
                true => &[],
                false => keys,
            },
            values,
            row,
            wide: HeldWide::new(row.meter()),
        }
    }
}

/// The items by which a key's value groups a row: those of a set or JSON array once each, else the value itself.
fn alternatives(key: Value, meter: &dyn Meter) -> Vec<Value> {
    let Some(items) = key.items() else {
        return vec![key];
    };
    let (mut once, work) = (DistinctRows::default(), Work::new(meter));
    for item in items {
        if work.begin(ITEM_UNITS + item.memory() as u64).is_none() {
            break;
        }
        once.add(vec![item], meter);
    }
    once.into_rows().into_iter().flatten().collect()
}

/// Calls `visit` with one item of each list, for all choices; the first list's item goes on first.
///
/// # Errors
/// Those of `visit`.
fn each_choice<E>(
    lists: Vec<Vec<Value>>,
    mut visit: impl FnMut(Vec<Value>) -> Result<(), E>,
) -> Result<(), E> {
    if lists.iter().any(Vec::is_empty) {
        return Ok(());
    }
    if lists.iter().all(|list| list.len() == 1) {
        return visit(lists.into_iter().flatten().collect());
    }
    let mut chosen = vec![0; lists.len()];
    loop {
        let items = lists.iter().zip(&chosen);
        visit(items.map(|(list, at)| list[*at].clone()).collect())?;
        let is_next = lists.iter().zip(&mut chosen).any(|(list, at)| {
            *at = (*at + 1) % list.len();
            *at > 0
        });
        if !is_next {
            return Ok(());
        }
    }
}

/// Counts the work of comparing, copying or joining values.
fn spend_on(meter: &dyn Meter, values: &[Value]) {
    let bytes = values.iter().map(Value::memory).sum::<usize>();
    meter.spend(bytes as u64 / COPIED_BYTES);
}

impl Grouped {
    /// No row yet.
    pub(super) fn new(groups: &Arc<Groups>) -> Grouped {
        let accumulators = groups.aggregates.iter();
        let mut grouped = Grouped {
            accumulators: accumulators.map(|of| Accumulator::new(&of.kind)).collect(),
            index: FxHashMap::default(),
            keys: Vec::new(),
            count: 0,
            rows: Vec::new(),
            code: Vec::new(),
            numbers: Vec::new(),
            groups: Arc::clone(groups),
        };
        if groups.keys.is_empty() {
            grouped.begin(Vec::new());
        }
        grouped
    }

    /// Adds a row to each of its groups. `pay` is called with the bytes of memory that this takes: for a new group, and for a text of
    /// [`WIDE_BYTES`](language::meter::WIDE_BYTES) or more, before it is kept. Of a row's own values those of the keys are there, or those of one aggregate.
    ///
    /// # Errors
    /// Those of `pay`.
    pub(super) fn add<E>(
        &mut self,
        row: &dyn ColumnValues,
        number: u32,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let (groups, meter) = (Arc::clone(&self.groups), row.meter());
        let keys = groups.keys.iter();
        let lists: Vec<Vec<Value>> = keys
            .map(|key| alternatives(key.evaluate(row), meter))
            .collect();
        lists.iter().for_each(|list| spend_on(meter, list));
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        each_choice(lists, |key| {
            numbers.push(self.number(key, meter, pay)?);
            Ok(())
        })?;
        let mut bytes = 0;
        for (accumulator, of) in self.accumulators.iter_mut().zip(&groups.aggregates) {
            let arguments = of.arguments.iter().map(|it| it.evaluate(row));
            let arguments: Vec<Value> = arguments.collect();
            if arguments.contains(&Value::Null) {
                continue;
            }
            spend_on(meter, &arguments);
            for number in &numbers {
                bytes += accumulator.add(*number, &arguments, meter, pay)?;
            }
        }
        let within = groups.within.values(row);
        for at in &numbers {
            let kept = Kept {
                row: number,
                keys: within.clone(),
            };
            bytes += self.keep(*at, kept);
        }
        self.numbers = numbers;
        pay(bytes as u64)
    }

    /// The number of a key's group. A new one is paid for before it is made.
    fn number<E>(
        &mut self,
        key: Vec<Value>,
        meter: &dyn Meter,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<u32, E> {
        self.code.clear();
        for value in &key {
            write(value, &mut self.code, meter);
        }
        if let Some(number) = self.index.get(&*self.code) {
            return Ok(*number);
        }
        let values = key.iter().map(|value| value.memory() + size_of::<Value>());
        let own = values.sum::<usize>() + self.code.len();
        let states = STATE_BYTES * self.accumulators.len() as u64;
        pay(GROUP_BYTES + states + own as u64)?;
        Ok(self.begin(key))
    }

    /// Makes the group of a key, of which `code` has the bytes. Gives its number.
    fn begin(&mut self, key: Vec<Value>) -> u32 {
        let number = self.count;
        self.index.insert(self.code.as_slice().into(), number);
        self.keys.extend(key);
        self.count += 1;
        for accumulator in &mut self.accumulators {
            accumulator.grow();
        }
        self.rows.push(Vec::new());
        number
    }

    /// Keeps a row if it is among the first of its group. Gives the memory that this takes, in bytes.
    fn keep(&mut self, number: u32, row: Kept) -> usize {
        let within = &self.groups.within;
        let Some(rows) = self.rows.get_mut(number as usize) else {
            return 0;
        };
        let place = rows.partition_point(|known| within.compare(known, &row).is_lt());
        if place >= self.groups.rows_each {
            return 0;
        }
        let bytes = row.bytes();
        rows.insert(place, row);
        rows.truncate(self.groups.rows_each);
        bytes as usize
    }

    /// The groups that HAVING accepts, by `order`, without the first `offset` and at most `keep` with these; also how many it
    /// accepts. A group is there once for each row that it shows, and these are together: their order is that of the first of them.
    /// `read` calls its second argument with the values of a row.
    ///
    /// # Errors
    /// Those of `read` and of `pay`, which is called with the memory that the answer takes, and fails once the meter has stopped.
    pub(super) fn finish<E>(
        mut self,
        order: &Arc<Order>,
        (keep, offset): (Option<u64>, u64),
        meter: &dyn Meter,
        read: &mut ReadRow<'_, E>,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(Vec<Group>, u64), E> {
        let groups = Arc::clone(&self.groups);
        let mut accepted = Accepted::new(&groups, order, keep, meter);
        let width = groups.keys.len();
        for accumulator in &mut self.accumulators {
            accumulator.end(self.count as usize);
        }
        let mut keys = std::mem::take(&mut self.keys).into_iter();
        for (number, rows) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            let keys = keys.by_ref().take(width);
            let values = with_aggregates(keys, &groups, &mut self.accumulators, number);
            let mut shown: Vec<Option<u32>> = rows.iter().map(|kept| Some(kept.row)).collect();
            if shown.is_empty() {
                shown.push(None);
            }
            let order = match shown[..] {
                [first, _, ..] => Some(accepted.order_of(Held::paid(&values), first, read)?),
                _ => None,
            };
            for row in shown {
                accepted.offer(Held::paid(&values), row, order.as_deref(), read, pay)?;
            }
        }
        accepted.sorted(offset, pay)
    }
}

/// The values of a group: its keys, then its aggregates, which the accumulators let go of.
fn with_aggregates(
    keys: impl Iterator<Item = Value>,
    groups: &Groups,
    accumulators: &mut [Accumulator],
    number: usize,
) -> Arc<[Value]> {
    let aggregates = groups.aggregates.iter().zip(accumulators);
    let aggregates = aggregates.map(|(of, states)| states.take(&of.kind, number));
    keys.chain(aggregates).collect()
}

impl BlocksMade {
    /// As [`Grouped::finish`]; row `n` is the `n`-th of [`BlocksMade::rows`].
    pub(super) fn finish<E>(
        mut self,
        order: &Arc<Order>,
        (keep, offset): (Option<u64>, u64),
        meter: &dyn Meter,
        read: &mut ReadRow<'_, E>,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(Vec<Group>, u64), E> {
        let groups = Arc::clone(&self.groups);
        let mut accepted = Accepted::new(&groups, order, keep, meter);
        for (place, number) in self.order.iter().enumerate() {
            let row = self.rows.get(place).map(|_| place as u32);
            let (mut keys, mut unpaid_bytes) = (Vec::new(), 0);
            if let Some(codes) = &self.codes {
                read(row, &mut |row| {
                    keys.extend(groups.keys.iter().map(|key| key.evaluate(row)));
                })?;
                codes.choose(*number, &mut keys, meter);
                unpaid_bytes = keys.iter().map(Value::memory).sum::<usize>() as u64;
            }
            let keys = keys.into_iter();
            let number = *number as usize;
            let held = Held {
                values: with_aggregates(keys, &groups, &mut self.accumulators, number),
                unpaid_bytes,
            };
            accepted.offer(held, row, None, read, pay)?;
        }
        accepted.sorted(offset, pay)
    }
}

/// The groups that HAVING accepts.
struct Accepted<'g> {
    groups: &'g Arc<Groups>,
    order: &'g Order,
    best: Best<Group>,
    count: u64,
    meter: &'g dyn Meter,
}

impl<'g> Accepted<'g> {
    fn new(
        groups: &'g Arc<Groups>,
        order: &'g Arc<Order>,
        keep: Option<u64>,
        meter: &'g dyn Meter,
    ) -> Accepted<'g> {
        Accepted {
            groups,
            order,
            best: Best::new(Arc::clone(order), keep),
            count: 0,
            meter,
        }
    }

    /// The accepted groups in order, without the first `offset`, and how many were accepted.
    fn sorted<E>(
        self,
        offset: u64,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(Vec<Group>, u64), E> {
        let groups = self.best.into_sorted(offset, self.meter);
        pay(0)?; // it looks at the stop switch
        Ok((groups.unwrap_or_default(), self.count))
    }

    fn group(&self, held: Held, row: Option<u32>) -> Group {
        Group {
            row,
            place: self.count,
            groups: Arc::clone(self.groups),
            held,
            order: Vec::new(),
        }
    }

    /// The values of the keys of ORDER BY of a group with one of its rows.
    fn order_of<E>(
        &self,
        held: Held,
        row: Option<u32>,
        read: &mut ReadRow<'_, E>,
    ) -> Result<Vec<Value>, E> {
        let (group, mut keys) = (self.group(held, row), Vec::new());
        read(row, &mut |row| keys = self.order.values(&group.over(row)))?;
        Ok(keys)
    }

    /// Takes a group with one of its rows, if HAVING accepts it. `order`: the values of the keys of ORDER BY, where they are not those
    /// of this row.
    fn offer<E>(
        &mut self,
        held: Held,
        row: Option<u32>,
        order: Option<&[Value]>,
        read: &mut ReadRow<'_, E>,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut group = self.group(held, row);
        let mut is_accepted = false;
        read(row, &mut |row| {
            let seen = group.over(row);
            let having = self.groups.having.as_ref();
            is_accepted = having.is_none_or(|having| having.accepts(&seen));
            let keys = match order {
                Some(keys) => keys.to_vec(),
                None => self.order.values(&seen),
            };
            let after = self.groups.after.as_ref();
            is_accepted &= after.is_none_or(|after| self.order.is_after(&keys, after));
            drop(seen);
            group.order = keys;
        })?;
        let mut bytes = 0;
        if is_accepted {
            self.count += 1;
            bytes = self.best.offer(group, self.meter);
        }
        // It also looks at the stop switch: HAVING may take a second a group.
        pay(bytes)
    }
}
