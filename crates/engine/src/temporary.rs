//! Temporary tables: rows in memory that one session has for itself.
//!
//! Example: `CREATE TEMPORARY TABLE picked (id bigint PRIMARY KEY, tag varchar(10))` with the rows (7, 'a') and (9, NULL).
//!
//! ```text
//! lists     id 7 9 (16 bytes)    tag 'a', NULL
//! unique    [id]: 7 → row 0, 9 → row 1
//! removed   {}
//! ```
//!
//! A column is one list of constants, so a table of a million ids takes 8 MB, and 8 to 16 MB more for its PRIMARY KEY.
//!
//! Invariants:
//! - All lists have the same length. A removed row keeps its place until more than half of the rows are removed.
//! - Two rows that are not removed differ in the columns of each key, unless one has NULL there.
//! - A refused statement changes nothing.

#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;
use index::{Control, Interrupt};
use relation::bind::JoinColumn;
use relation::expression::{Expression, List, Metered, Prepared, Unprepared};
use relation::request::Insert;
use relation::rows::{BoxedRows, JoinRows};
use relation::schema::Column;
use relation::source::{Asked, Shape, Source};
use relation::value::Value;
use roaring::RoaringBitmap;
use rustc_hash::FxHasher;

use crate::catalog::check_default;
use crate::decide::rows::{Plan, absent_in_queue};
use crate::error::{Error, Result};
use crate::failure;

/// Memory of a row in the table of a key, in bytes: its number, and the table's room to grow.
const KEYED_ROW_BYTES: usize = 12;

/// A temporary table.
#[derive(Clone, Debug)]
pub struct Temporary {
    name: String,
    columns: Vec<Column>,
    /// The values of each column, row by row.
    lists: Vec<List>,
    rows: u32,
    removed: RoaringBitmap,
    unique: Vec<Unique>,
}

/// The rows by a key.
#[derive(Clone, Debug)]
struct Unique {
    columns: Vec<usize>,
    rows: HashTable<u32>,
}

/// What an INSERT does with a row whose key is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtKnown {
    Refuse,
    Ignore,
    Replace,
}

/// What an INSERT did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inserted {
    /// Rows stored, and rows removed by REPLACE.
    pub affected: u64,
    /// A sentence for each row that IGNORE left out.
    pub warnings: Vec<String>,
}

impl Temporary {
    /// An empty table. `unique`: the columns of each PRIMARY KEY and UNIQUE, by index.
    ///
    /// # Errors
    /// `Invalid`: a column cannot hold its default.
    pub fn new(
        name: String,
        mut columns: Vec<Column>,
        unique: Vec<Vec<usize>>,
    ) -> Result<Temporary> {
        columns.iter_mut().try_for_each(check_default)?;
        Ok(Temporary::empty(name, columns, unique))
    }

    fn empty(name: String, columns: Vec<Column>, unique: Vec<Vec<usize>>) -> Temporary {
        let unique = unique.into_iter().map(|columns| Unique {
            columns,
            rows: HashTable::new(),
        });
        Temporary {
            name,
            lists: vec![List::default(); columns.len()],
            columns,
            rows: 0,
            removed: RoaringBitmap::new(),
            unique: unique.collect(),
        }
    }

    /// The columns in the order of CREATE; an `id` is one like any other.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Its keys: the columns of each, by index.
    pub fn unique(&self) -> impl Iterator<Item = &[usize]> {
        self.unique.iter().map(|unique| &unique.columns[..])
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows as usize - self.removed.len() as usize
    }

    /// Whether it has no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory of its rows, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        let lists: usize = self.lists.iter().map(List::memory).sum();
        lists + self.unique.len() * self.rows as usize * KEYED_ROW_BYTES
    }

    /// Memory that the rows of an INSERT take at most, in bytes.
    #[must_use]
    pub fn memory_of(&self, rows: &[Vec<Value>]) -> usize {
        let given: usize = rows.iter().flatten().map(Value::memory).sum();
        let keys = self.unique.len() * KEYED_ROW_BYTES;
        // A list that grows holds its old and its new room at a time.
        2 * given + rows.len() * (self.columns.len() * size_of::<Value>() + keys)
    }

    /// INSERT and REPLACE; `ignores`: IGNORE.
    ///
    /// # Errors
    /// `UnknownColumn`, `WrongColumnCount`, `BadValue`, `OutOfRange`; `DuplicateKey`: a row's key is there.
    pub fn insert(&mut self, insert: Insert, ignores: bool) -> Result<Inserted> {
        let plan = Plan::new(&self.name, &self.columns, false, insert.columns.as_deref())?;
        let mut rows = Vec::with_capacity(insert.rows.len());
        for (place, mut values) in insert.rows.into_iter().enumerate() {
            rows.push(plan.row(&self.columns, &mut values, place + 1, absent_in_queue)?);
        }
        let known = match (insert.replace, ignores) {
            (true, _) => AtKnown::Replace,
            (false, true) => AtKnown::Ignore,
            (false, false) => AtKnown::Refuse,
        };
        if known == AtKnown::Refuse {
            self.check_keys(&rows)?;
        }
        let mut inserted = Inserted::default();
        for row in rows {
            self.put(row, known, &mut inserted);
        }
        self.compact();
        Ok(inserted)
    }

    /// Refuses rows of which one has a key that is there, or that another one has.
    fn check_keys(&self, rows: &[Vec<Value>]) -> Result<()> {
        for unique in &self.unique {
            let mut seen: HashTable<u32> = HashTable::new();
            for (place, row) in rows.iter().enumerate() {
                let Some(own) = hash(&unique.columns, &|column| row[column].clone()) else {
                    continue;
                };
                let among = |at: &u32| {
                    unique
                        .columns
                        .iter()
                        .all(|it| is_same(&rows[*at as usize][*it], &row[*it]))
                };
                if unique.find(&self.lists, own, row).is_some() || seen.find(own, among).is_some() {
                    return Err(unique.refusal(&self.columns, row));
                }
                let of = |at: &u32| {
                    hash(&unique.columns, &|it| rows[*at as usize][it].clone()).unwrap_or(0)
                };
                seen.insert_unique(own, place as u32, of);
            }
        }
        Ok(())
    }

    fn put(&mut self, row: Vec<Value>, known: AtKnown, inserted: &mut Inserted) {
        for at in 0..self.unique.len() {
            let unique = &self.unique[at];
            let own = hash(&unique.columns, &|column| row[column].clone());
            let found = own.and_then(|own| unique.find(&self.lists, own, &row));
            match found {
                None => {}
                Some(_) if known != AtKnown::Replace => {
                    inserted
                        .warnings
                        .push(unique.refusal(&self.columns, &row).to_string());
                    return;
                }
                Some(old) => {
                    self.remove(old);
                    inserted.affected += 1;
                }
            }
        }
        let number = self.rows;
        self.rows += 1;
        inserted.affected += 1;
        for (list, value) in self.lists.iter_mut().zip(row) {
            list.push(value);
        }
        for unique in &mut self.unique {
            unique.add(&self.lists, number);
        }
    }

    /// Removes a row that is there.
    fn remove(&mut self, row: u32) {
        for unique in &mut self.unique {
            let lists = &self.lists;
            if let Some(own) = hash(&unique.columns, &|column| lists[column].get(row as usize))
                && let Ok(entry) = unique.rows.find_entry(own, |other| *other == row)
            {
                entry.remove();
            }
        }
        self.removed.insert(row);
    }

    /// Removes rows, each of which is there. Cost: linear in their number, and at times in that of all rows.
    pub fn delete(&mut self, rows: &[u32]) {
        rows.iter().for_each(|row| self.remove(*row));
        self.compact();
    }

    /// Removes all rows.
    pub fn truncate(&mut self) {
        let unique = self.unique.drain(..).map(|unique| unique.columns);
        let unique = unique.collect();
        *self = Temporary::empty(
            std::mem::take(&mut self.name),
            std::mem::take(&mut self.columns),
            unique,
        );
    }

    /// Gives the places of removed rows to others, if they are more than half.
    fn compact(&mut self) {
        if self.removed.len() * 2 <= u64::from(self.rows) {
            return;
        }
        let kept: Vec<usize> = self.live().map(|row| row as usize).collect();
        for list in &mut self.lists {
            *list = kept.iter().map(|row| list.get(*row)).collect();
        }
        self.rows = kept.len() as u32;
        self.removed.clear();
        for unique in &mut self.unique {
            unique.rows = HashTable::with_capacity(kept.len());
            (0..self.rows).for_each(|row| unique.add(&self.lists, row));
        }
    }

    /// The numbers of the rows that are there, rising.
    fn live(&self) -> impl Iterator<Item = u32> {
        (0..self.rows).filter(|row| !self.removed.contains(*row))
    }

    /// The rows for which a condition is true. `check` is asked now and then whether to stop.
    ///
    /// # Errors
    /// `UnknownColumn`; those of `check`.
    pub fn find(
        self: &Arc<Self>,
        condition: Option<&Expression>,
        interrupt: &Interrupt,
    ) -> Result<TemporaryRows> {
        let resolve = |name: &str| {
            let at = self.columns.iter().position(|column| column.name == name)?;
            Some((at, self.columns[at].kind))
        };
        let prepared = condition.map(|condition| Prepared::typed(condition, &resolve));
        let prepared = prepared.transpose().map_err(|error| match error {
            Unprepared::UnknownColumn(column) => Error::UnknownColumn {
                column,
                table: self.name.clone(),
            },
            Unprepared::Constant(what) => Error::Constant { what: what.into() },
            Unprepared::Invalid(what) => Error::Invalid { what: what.into() },
        })?;
        let mut rows = Vec::new();
        for row in self.live() {
            let values = Metered::new(interrupt, |slot| self.lists[slot].get(row as usize));
            let is_wanted = prepared.as_ref().is_none_or(|it| it.accepts(&values));
            // Before its value is used.
            interrupt.check().map_err(failure::of_index)?;
            if is_wanted {
                rows.push(row);
            }
        }
        Ok(TemporaryRows {
            table: Arc::clone(self),
            rows,
        })
    }
}

/// Rows of a temporary table, as they were when they were found.
#[derive(Clone, Debug)]
pub struct TemporaryRows {
    table: Arc<Temporary>,
    rows: Vec<u32>,
}

impl TemporaryRows {
    /// Their numbers, for [`Temporary::delete`].
    #[must_use]
    pub fn into_numbers(self) -> Vec<u32> {
        self.rows
    }
}

/// A temporary table, or the rows of a system relation, as a statement reads it.
pub struct TemporarySource(pub Arc<Temporary>);

impl Source for TemporarySource {
    type Error = Error;
    type Control = Control;

    fn shape(&self) -> Shape {
        let columns = self.0.columns().iter().map(|column| JoinColumn {
            name: column.name.clone(),
            kind: column.kind,
        });
        let columns: Vec<JoinColumn> = columns.collect();
        Shape {
            starred: columns.len(),
            columns,
            has_id: false,
            is_standing: false,
            takes_match: false,
        }
    }

    fn count(&self) -> u64 {
        self.0.len() as u64
    }

    fn locate(&self, asked: &Asked<'_>, control: &Control) -> Result<BoxedRows<Error>> {
        let found = (self.0).find(asked.select.filter.as_ref(), &control.interrupt)?;
        Ok(Arc::new(found))
    }
}

impl JoinRows for TemporaryRows {
    type Error = Error;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn value(&self, row: u32, column: usize) -> Result<Value> {
        let row = self.rows[row as usize];
        Ok(self.table.lists[column].get(row as usize))
    }
}

impl Unique {
    /// The row of the table that has the key of `row`.
    fn find(&self, lists: &[List], hash: u64, row: &[Value]) -> Option<u32> {
        let has = |other: &u32| {
            let mut columns = self.columns.iter();
            columns.all(|column| is_same(&lists[*column].get(*other as usize), &row[*column]))
        };
        self.rows.find(hash, has).copied()
    }

    /// Adds a row of the table, whose key is not there.
    fn add(&mut self, lists: &[List], row: u32) {
        let columns = &self.columns;
        let hash = |row: u32| hash(columns, &|column| lists[column].get(row as usize));
        if let Some(own) = hash(row) {
            let of = |other: &u32| hash(*other).unwrap_or(0);
            self.rows.insert_unique(own, row, of);
        }
    }

    /// The refusal of a row whose key is there.
    fn refusal(&self, columns: &[Column], row: &[Value]) -> Error {
        let values: Vec<String> = self.columns.iter().map(|it| row[*it].to_string()).collect();
        let names: Vec<&str> = self.columns.iter().map(|it| &*columns[*it].name).collect();
        Error::DuplicateKey {
            entry: values.join("-"),
            key: format!("key ({})", names.join(", ")),
        }
    }
}

/// The hash of a row's key; `None`: it has NULL, and so equals none.
fn hash(columns: &[usize], value: &dyn Fn(usize) -> Value) -> Option<u64> {
    let mut hasher = FxHasher::default();
    for column in columns {
        match value(*column) {
            Value::Null => return None,
            value => value.class(true).hash(&mut hasher),
        }
    }
    Some(hasher.finish())
}

fn is_same(a: &Value, b: &Value) -> bool {
    a.class(true) == b.class(true)
}
