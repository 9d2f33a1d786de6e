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
//! - Memory is taken before tuples and hash tables grow. The stop switch is asked before each row, since an expression may take a
//!   second over one.
//!
//! Cost: linear in the rows of all tables and of the answer, where a step has a key. A step without one looks at each pair.

mod keyed;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::Arc;

use keyed::Keyed;
use language::meter::{HeldWide, Meter, Work};

use super::best::Best;
use super::groups::{BlocksMade, Group, Grouped, Groups, ReadRow};
use super::order::{Order, Sorted};
use super::paid::Paid;
use super::sort::{COMPARED_UNITS, Sort};
use crate::bind::{BoundJoin, JoinStep, Shown, table_of};
use crate::expression::{ColumnValues, List, Metered, Prepared};
use crate::json::JsonStep;
use crate::processor::fetch_line;
use crate::value::Value;

/// No row.
const NONE: u32 = u32::MAX;

/// Units of a pair of rows that is compared, and of a row of the answer, without their expressions.
const TUPLE_UNITS: u64 = 15;
const ROW_UNITS: u64 = 100;

/// Rows of the first table for each tuple up to which tuples are put in order by counting.
const COUNTED_ROWS_A_TUPLE: usize = 4;

/// Bytes of a long value that are read for a unit.
const COPIED_BYTES: u64 = 2;

/// Most tuples whose long values are counted before they are read; the rows of more are read in a turn.
const COUNTED_TUPLES_MAX: usize = 1_000;

/// Tuples whose look-ups wait for memory together.
const LOOK_UPS_AT_ONCE: usize = 16;

/// A step of fetching a row into the processor's cache. Each step uses what the one before it fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetch {
    /// The row's entry in the list of rows.
    Entry,
    /// Its numbers, and where its bytes are.
    Place,
    /// The bytes of its values, as far as they are read at once.
    Bytes,
}

/// The steps in their order.
const FETCHES: [Fetch; 3] = [Fetch::Entry, Fetch::Place, Fetch::Bytes];

/// Rows of an answer between two steps of fetching one.
pub const ROWS_A_FETCH: usize = 8;

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

    /// Bytes that reading the value of a row's column copies, where they are many; else 0. Rows in memory are copied as fast as rows
    /// are sent.
    fn value_bytes(&self, _row: u32, _column: usize) -> usize {
        0
    }

    /// Tells the processor to fetch what the values of a row's columns will need. Rows that lie in order need none of it.
    fn fetch(&self, _row: u32, _columns: &[usize], _step: Fetch) {}

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

    /// Counts the work of expressions over tuples.
    fn meter(&self) -> &dyn Meter;

    /// Counts work, and looks at the stop switch.
    ///
    /// # Errors
    /// The join was stopped.
    fn spend(&self, units: u64) -> Result<(), Self::Error> {
        self.meter().spend(units);
        self.check()
    }
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
    meter: &'a dyn Meter,
    wide: HeldWide<'a>,
}

impl<E> Tuple<'_, E> {
    fn read(
        &self,
        slot: usize,
        read: impl Fn(&dyn JoinRows<Error = E>, u32, usize) -> Result<Value, E>,
    ) -> Value {
        let (table, column) = table_of(self.bases, slot);
        let row = self.rows[table];
        let Some(rows) = self.tables[table].as_ref().filter(|_| row != NONE) else {
            return Value::Null;
        };
        let value = read(&**rows, row, column).unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            Value::Null
        });
        self.wide.note(value.memory());
        value
    }
}

impl<E> ColumnValues for Tuple<'_, E> {
    fn value(&self, slot: usize) -> Value {
        self.read(slot, |rows, row, column| rows.value(row, column))
    }

    fn value_at(&self, slot: usize, path: &[JsonStep]) -> Value {
        self.read(slot, |rows, row, column| rows.value_at(row, column, path))
    }

    fn meter(&self) -> &dyn Meter {
        self.meter
    }
}

impl<E> Clone for Join<E> {
    fn clone(&self) -> Join<E> {
        self.with(self.tuples.clone())
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

    /// The join with its tuples. What stays is one without tuples, which nobody may use any more.
    #[must_use]
    pub fn take(&mut self) -> Join<E> {
        let tuples = std::mem::take(&mut self.tuples);
        self.with(tuples)
    }

    fn with(&self, tuples: Vec<u32>) -> Join<E> {
        Join {
            bases: Arc::clone(&self.bases),
            tables: self.tables.clone(),
            tuples,
            read: self.read.clone(),
            bounds: Arc::clone(&self.bounds),
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
        for rows in self.tuples.chunks_exact(self.width()) {
            self.bounds.check()?;
            visit(&self.tuple(rows, &failed), rows)?;
            if let Some(error) = failed.take() {
                return Err(error);
            }
        }
        self.bounds.check()
    }

    /// Counts the look at a row or a pair.
    fn look(&self, work: &Work<'_>) -> Result<(), E> {
        match work.begin(TUPLE_UNITS) {
            Some(()) => Ok(()),
            None => self.bounds.check(),
        }
    }

    fn tuple<'a>(&'a self, rows: &'a [u32], failed: &'a RefCell<Option<E>>) -> Tuple<'a, E> {
        Tuple {
            bases: &self.bases,
            tables: &self.tables,
            rows,
            failed,
            meter: self.bounds.meter(),
            wide: HeldWide::new(self.bounds.meter()),
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
        out.tuples()
    }

    /// Pairs each tuple with the rows that its keys lead to.
    fn by_keys(&self, step: &JoinStep, count: u32) -> Result<Vec<u32>, E> {
        let keyed = Keyed::new(self, step, count)?;
        let mut out = Growing::new(self, step);
        let failed = RefCell::new(None);
        let (mut values, mut buckets) = (Vec::new(), Vec::new());
        for tuples in self.tuples.chunks(LOOK_UPS_AT_ONCE * self.width()) {
            values.clear();
            buckets.clear();
            for rows in tuples.chunks_exact(self.width()) {
                let tuple = self.tuple(rows, &failed);
                let start = values.len();
                let others = step.keys.iter().map(|key| &key.other);
                values.extend(others.map(|other| other.evaluate_within(&tuple, &out.work)));
                buckets.push(keyed.bucket(&step.keys, &values[start..]));
            }
            if let Some(error) = failed.take() {
                return Err(error);
            }
            keyed.fetch(&buckets);
            let sought = buckets.iter().zip(values.chunks_exact(step.keys.len()));
            for (rows, (bucket, values)) in tuples.chunks_exact(self.width()).zip(sought) {
                out.begin(rows);
                for row in keyed.chain(*bucket) {
                    match keyed.equals(row, values) {
                        true => out.offer(row)?,
                        false => out.look()?,
                    }
                }
                out.end()?;
            }
        }
        out.tuples()
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
    failed: RefCell<Option<E>>,
    paid: Paid,
    work: Work<'a>,
}

impl<'a, E> Growing<'a, E> {
    fn new(join: &'a Join<E>, step: &'a JoinStep) -> Growing<'a, E> {
        Growing {
            join,
            step,
            tuples: Vec::new(),
            tried: Vec::new(),
            has_partner: false,
            failed: RefCell::new(None),
            paid: Paid::default(),
            work: Work::new(join.bounds.meter()),
        }
    }

    fn look(&self) -> Result<(), E> {
        self.join.look(&self.work)
    }

    fn begin(&mut self, rows: &[u32]) {
        self.tried.clear();
        self.tried.extend_from_slice(rows);
        self.has_partner = false;
    }

    /// Adds the tuple with this row, if the rest of the condition is true.
    fn offer(&mut self, row: u32) -> Result<(), E> {
        self.look()?;
        self.tried[self.step.table] = row;
        if let Some(rest) = &self.step.rest {
            self.join.bounds.check()?;
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
        self.look()?;
        if self.step.is_left && !self.has_partner {
            self.tried[self.step.table] = NONE;
            return self.push();
        }
        Ok(())
    }

    /// All tuples. Errors: the join was stopped.
    fn tuples(self) -> Result<Vec<u32>, E> {
        let (bounds, tuples) = (&self.join.bounds, self.tuples);
        drop(self.work);
        bounds.check()?;
        Ok(tuples)
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

/// The rows of a join's answer, read one by one.
pub struct JoinedRows<E> {
    join: Join<E>,
    shown: Arc<[Shown]>,
    /// By table, the columns that are shown as they are.
    columns: Vec<Vec<usize>>,
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

/// The slots that a column of an answer reads.
fn slots_of(shown: &Shown) -> &[usize] {
    match shown {
        Shown::Slot(slot) | Shown::Stored(slot, _) => std::slice::from_ref(slot),
        Shown::Computed(prepared) => prepared.slots(),
        Shown::Weight | Shown::Count => &[],
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
        self.count_long(bound, &order)?;
        Ok(Joined {
            total,
            rows: Answered::Reading(JoinedRows::new(self, &bound.shown, order)),
        })
    }

    /// Counts the long values of a short answer before they are read: nobody looks at the switch while the first rows are sent.
    fn count_long(&self, bound: &BoundJoin, tuples: &[u32]) -> Result<(), E> {
        if tuples.len() > COUNTED_TUPLES_MAX {
            return Ok(());
        }
        for tuple in tuples {
            let rows = self.rows_of(*tuple);
            let mut bytes = 0;
            for slot in bound.shown.iter().flat_map(slots_of) {
                let (table, column) = table_of(&self.bases, *slot);
                if let Some(of) = self.tables[table].as_ref().filter(|_| rows[table] != NONE) {
                    bytes += of.value_bytes(rows[table], column) as u64;
                }
            }
            if bytes > 0 {
                self.bounds.spend(bytes / COPIED_BYTES)?;
            }
        }
        Ok(())
    }

    /// The answer of groups that were made from blocks of rows. The one step has joined their first rows.
    ///
    /// # Errors
    /// As [`Join::answer`].
    pub fn answer_blocks(self, bound: &BoundJoin, made: BlocksMade) -> Result<Joined<E>, E> {
        self.finished(bound, |_, order, page, read, pay| {
            made.finish(order, page, self.bounds.meter(), read, pay)
        })
    }

    /// The groups of the tuples.
    fn grouped(&self, bound: &BoundJoin, groups: &Arc<Groups>) -> Result<Joined<E>, E> {
        self.finished(bound, |written, order, page, read, pay| {
            let failed = RefCell::new(None);
            let mut grouped = Grouped::new(groups);
            for (place, tuple) in written.iter().enumerate() {
                let tuple = self.tuple(self.rows_of(*tuple), &failed);
                grouped.add(&tuple, place as u32, pay)?;
                if let Some(error) = failed.take() {
                    return Err(error);
                }
            }
            grouped.finish(order, page, self.bounds.meter(), read, pay)
        })
    }

    /// The answer of the groups that `finish` makes: from all tuples in their order, with the order and the page of the answer.
    fn finished(
        &self,
        bound: &BoundJoin,
        finish: impl FnOnce(
            &[u32],
            &Arc<Order>,
            (Option<u64>, u64),
            &mut ReadRow<'_, E>,
            &mut dyn FnMut(u64) -> Result<(), E>,
        ) -> Result<(Vec<Group>, u64), E>,
    ) -> Result<Joined<E>, E> {
        let written = self.written()?;
        let mut paid = Paid::default();
        // A statement that gives way in the look at the switch has paid for all that it keeps.
        let mut pay = |bytes: u64| {
            paid.more(bytes, &mut |more| self.bounds.take(more))?;
            self.bounds.check()
        };
        let failed = RefCell::new(None);
        let tuple_of = |place: u32| {
            let tuple = written.get(place as usize)?;
            Some(self.tuple(self.rows_of(*tuple), &failed))
        };
        let mut read =
            |row: Option<u32>, see: &mut dyn FnMut(&dyn ColumnValues)| -> Result<(), E> {
                match row.and_then(tuple_of) {
                    Some(tuple) => see(&tuple),
                    None => see(&Metered::new(self.bounds.meter(), |_| Value::Null)),
                }
                failed.take().map_or(Ok(()), Err)
            };
        let keep = bound
            .limit
            .and_then(|limit| limit.checked_add(bound.offset));
        let page = (keep, bound.offset);
        let (found, total) = finish(&written, &bound.order, page, &mut read, &mut pay)?;
        let mut rows = Vec::with_capacity(found.len());
        for group in found {
            let (mut values, mut paid) = (Vec::with_capacity(bound.shown.len()), Ok(()));
            read(group.row, &mut |row| {
                let seen = group.over(row);
                for shown in bound.shown.iter() {
                    let value = shown.value(0, &seen);
                    paid = pay(value.memory() as u64);
                    if paid.is_err() {
                        break;
                    }
                    values.push(value);
                }
            })?;
            paid?;
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
            self.sort_as_written(&mut written)?;
        }
        Ok(written)
    }

    /// Sorts tuples by their rows of the tables in the order written. Where the rows of the first table are few beside the tuples,
    /// tuples are placed by counting, and only those of one row are compared.
    fn sort_as_written(&self, written: &mut [u32]) -> Result<(), E> {
        let work = Work::new(self.bounds.meter());
        let compare = |a: &u32, b: &u32| self.rows_of(*a).cmp(self.rows_of(*b));
        let mut sort = Sort::new(compare, |_| COMPARED_UNITS, &work);
        let first = self.tables.first().and_then(Option::as_ref);
        let rows = first.map_or(0, |rows| rows.len());
        let is_sorted = match rows / COUNTED_ROWS_A_TUPLE <= written.len() {
            true => {
                self.place(written, rows, &work)?;
                let row_of = |tuple: &u32| self.rows_of(*tuple)[0];
                let mut of_row = written.chunk_by_mut(|a, b| row_of(a) == row_of(b));
                of_row.try_for_each(|tuples| sort.sort(tuples))
            }
            false => sort.sort(written),
        };
        drop(work);
        match is_sorted {
            Some(()) => Ok(()),
            None => self.bounds.check(),
        }
    }

    /// Brings tuples into the order of the `rows` rows of the first table, of which each tuple has one.
    fn place(&self, written: &mut [u32], rows: usize, work: &Work<'_>) -> Result<(), E> {
        self.bounds
            .take(((rows + written.len()) * size_of::<u32>()) as u64)?;
        let row_of = |tuple: u32| self.rows_of(tuple)[0] as usize;
        // For each row the place behind its tuples, and in the end that of its first one.
        let mut places = vec![0_u32; rows];
        for tuple in &*written {
            self.look(work)?;
            places[row_of(*tuple)] += 1;
        }
        let mut behind = 0;
        for place in &mut places {
            behind += *place;
            *place = behind;
        }
        let found = written.to_vec();
        for tuple in found {
            self.look(work)?;
            let place = &mut places[row_of(tuple)];
            *place -= 1;
            written[*place as usize] = tuple;
        }
        Ok(())
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
        let mut paid = Paid::default();
        let failed = RefCell::new(None);
        for (place, tuple) in written.iter().enumerate() {
            self.bounds.check()?;
            let keys = order.values(&self.tuple(self.rows_of(*tuple), &failed));
            if let Some(error) = failed.take() {
                return Err(error);
            }
            let found = Found {
                tuple: place as u32,
                keys,
            };
            let more = best.offer(found, self.bounds.meter());
            paid.more(more, &mut |more| self.bounds.take(more))?;
        }
        let best = best.into_sorted(bound.offset, self.bounds.meter());
        self.bounds.check()?;
        let best = best.into_iter().flatten();
        Ok(best.map(|found| written[found.tuple as usize]).collect())
    }
}

impl<E> JoinedRows<E> {
    fn new(join: Join<E>, shown: &Arc<[Shown]>, order: Vec<u32>) -> JoinedRows<E> {
        let mut columns = vec![Vec::new(); join.width()];
        for shown in shown.iter() {
            if let Shown::Slot(slot) = shown {
                let (table, column) = table_of(&join.bases, *slot);
                columns[table].push(column);
            }
        }
        JoinedRows {
            join,
            shown: Arc::clone(shown),
            columns,
            left: order.into_iter(),
        }
    }

    /// Takes one step of fetching each of some rows that come soon, so that they wait for memory together.
    fn fetch(&self) {
        let left = self.left.as_slice();
        let coming = |steps: usize| left.get(steps * ROWS_A_FETCH);
        if let Some(tuple) = coming(FETCHES.len() + 1) {
            fetch_line(self.join.rows_of(*tuple).as_ptr());
        }
        for (before, step) in FETCHES.into_iter().enumerate() {
            let Some(tuple) = coming(FETCHES.len() - before) else {
                continue;
            };
            let tables = self.join.tables.iter().zip(self.join.rows_of(*tuple));
            for ((table, row), columns) in tables.zip(&self.columns) {
                if let Some(table) = table.as_ref().filter(|_| *row != NONE) {
                    table.fetch(*row, columns, step);
                }
            }
        }
    }
}

impl<E> Iterator for JoinedRows<E> {
    type Item = Result<Vec<Value>, E>;

    fn next(&mut self) -> Option<Self::Item> {
        self.fetch();
        let at = self.left.next()?;
        if let Err(error) = self.join.bounds.check() {
            // No row follows.
            self.left = Vec::new().into_iter();
            return Some(Err(error));
        }
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
        self.join.bounds.meter().spend(ROW_UNITS + bytes / 4);
        let read = failed.take().map_or(Ok(values), Err);
        Some(read.and_then(|values| self.join.bounds.check().map(|()| values)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}
