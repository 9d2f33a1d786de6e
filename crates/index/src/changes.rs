//! The values that UPDATE has set in the rows of one part, over those that the rows were written with.
//!
//! A row is never written in place. A read of a column asks here first. The seal of a tail and a merge write the values into
//! the new segment's rows, and the new part begins without changes. Example, `UPDATE t SET price = 9 WHERE id IN (40, 41)` in a
//! segment where these are rows 700 and 701, and column 2 is `price`:
//!
//! ```text
//! column 2   version 18    group 0    page 0   (rows 0 .. 511)      none
//!                                     page 1   (rows 512 .. 1023)   lows [188, 189]   numbers [9, 9]
//! ```
//!
//! Pages are shared: a snapshot holds the old ones, and the writer replaces those that it changes. So one UPDATE costs a copy of
//! at most [`PAGE_ROWS`] values and of the pointers above them.
//!
//! Invariants:
//! - `columns` rise, groups and pages are in the order of rows, `lows` rise in a page. Look-ups rely on it.
//! - A page has at least one value, and as many values as lows.
//! - A column's `version` is drawn anew at each change and never twice by a process. So a part and the versions of the columns
//!   of a condition name the rows that the condition accepts: [`crate::Filters`] keeps these.

mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use relation::key;
use relation::row;
use relation::value::Value;

use crate::error::{Error, Result};

pub(crate) use file::{damages_of_changes, decode_changes, read_changes, write_changes};

/// Rows of a page.
const PAGE_ROWS: u32 = 512;
/// Pages of a group.
const GROUP_PAGES: usize = 64;
/// Rows of a group.
const GROUP_ROWS: u32 = PAGE_ROWS * GROUP_PAGES as u32;

/// Memory of a page beside its values, in bytes, estimated.
const PAGE_BYTES: u64 = 96;

static VERSIONS: AtomicU64 = AtomicU64::new(1);

/// All changed values of a part. Cloning shares the pages.
#[derive(Clone, Default)]
pub(crate) struct Changes {
    columns: Vec<ChangedColumn>,
}

/// The changed values of one column.
#[derive(Clone)]
pub(crate) struct ChangedColumn {
    column: u16,
    version: u64,
    /// Values set.
    count: u64,
    /// Memory of the pages, estimated.
    bytes: u64,
    groups: Vec<Option<Arc<Group>>>,
}

#[derive(Clone)]
struct Group {
    pages: [Option<Arc<Page>>; GROUP_PAGES],
}

#[derive(Clone, Default)]
struct Page {
    /// Rows by their number in the page.
    lows: Vec<u16>,
    values: Values,
}

/// One value for each low. Integers of 64 bits take 8 bytes each.
#[derive(Clone)]
enum Values {
    Numbers(Vec<i64>),
    Any(Vec<Value>),
}

/// Index of the group, of the page in it, and of the row in that.
fn place(doc: u32) -> (usize, usize, u16) {
    let (group, in_group) = (doc / GROUP_ROWS, doc % GROUP_ROWS);
    let (page, low) = (in_group / PAGE_ROWS, in_group % PAGE_ROWS);
    (group as usize, page as usize, low as u16)
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Whether a value of the row was changed.
    pub(crate) fn has(&self, doc: u32) -> bool {
        self.columns.iter().any(|changed| changed.has(doc))
    }

    /// The changed columns, rising.
    pub(crate) fn columns(&self) -> &[ChangedColumn] {
        &self.columns
    }

    /// The values of a column; `None` if no row's value of it was changed.
    pub(crate) fn of(&self, column: usize) -> Option<&ChangedColumn> {
        self.columns
            .iter()
            .find(|changed| usize::from(changed.column) == column)
    }

    /// The changed value of a row; `None`: it is as it was written.
    pub(crate) fn value(&self, column: usize, doc: u32) -> Option<Value> {
        self.of(column)?.value(doc)
    }

    /// Puts the changed values of a row over those that it was written with.
    pub(crate) fn apply(&self, doc: u32, values: &mut [Value]) {
        for changed in &self.columns {
            if let Some(value) = changed.value(doc)
                && let Some(own) = values.get_mut(usize::from(changed.column))
            {
                *own = value;
            }
        }
    }

    /// An encoded row with its changes; `None` if it has none. Errors: `Internal`, where `encoded` is no encoded row.
    pub(crate) fn encode(&self, doc: u32, encoded: &[u8]) -> Result<Option<Arc<[u8]>>> {
        if !self.has(doc) {
            return Ok(None);
        }
        let mut values = row::decode(encoded).ok_or_else(|| Error::Internal {
            what: format!("row {doc} of a part is not an encoded row"),
        })?;
        self.apply(doc, &mut values);
        Ok(Some(row::encode(&values)))
    }

    /// A number that names the state of these columns among all that the part ever had: 0 while none of them was changed.
    pub(crate) fn version(&self, columns: impl Iterator<Item = usize>) -> u64 {
        let versions = columns.map(|column| self.of(column).map_or(0, |changed| changed.version));
        versions.max().unwrap_or(0)
    }

    /// Sets the value of one row. Cost: a copy of its page, if a snapshot shares it.
    pub(crate) fn set(&mut self, column: u16, doc: u32, value: Value) {
        let changed = self.column_mut(column);
        changed.version = VERSIONS.fetch_add(1, Ordering::Relaxed);
        changed.set(doc, value);
    }

    /// Takes in the pages of `new`, which was made from `base` by setting values. Where this column's page is still that of
    /// `base`, the new page takes its place whole; elsewhere the values of `new` are set one by one. Cost: a step for each page.
    pub(crate) fn take(&mut self, base: Option<&ChangedColumn>, new: &ChangedColumn) {
        let own = self.column_mut(new.column);
        own.version = VERSIONS.fetch_add(1, Ordering::Relaxed);
        for (at, group) in new.groups.iter().enumerate() {
            let Some(group) = group else { continue };
            for (page_at, page) in group.pages.iter().enumerate() {
                let Some(page) = page else { continue };
                let first = at as u32 * GROUP_ROWS + page_at as u32 * PAGE_ROWS;
                let before = base.and_then(|base| base.page(first));
                if before.is_some_and(|before| Arc::ptr_eq(before, page)) {
                    continue; // not touched
                }
                let is_same = match (before, own.page(first)) {
                    (None, None) => true,
                    (Some(before), Some(own)) => Arc::ptr_eq(before, own),
                    _ => false,
                };
                if is_same {
                    own.put_page(first, page);
                    continue;
                }
                for (low, value) in page.iter() {
                    let is_new =
                        before.is_none_or(|before| before.get(low).as_ref() != Some(&value));
                    if is_new {
                        own.set(first + u32::from(low), value);
                    }
                }
            }
        }
    }

    /// Calls `visit` with column, row and value where `self` has another value than `old`. Pages that both share are skipped.
    pub(crate) fn since(&self, old: &Changes, visit: &mut dyn FnMut(u16, u32, Value)) {
        for changed in &self.columns {
            let before = old.of(usize::from(changed.column));
            for (first, page) in changed.pages() {
                let known = before.and_then(|before| before.page(first));
                if known.is_some_and(|known| Arc::ptr_eq(known, page)) {
                    continue;
                }
                for (low, value) in page.iter() {
                    let was = known.and_then(|known| known.get(low));
                    if was.as_ref() != Some(&value) {
                        visit(changed.column, first + u32::from(low), value);
                    }
                }
            }
        }
    }

    /// Whether `self` and `old` hold the same pages. Two that were changed alike may count as different.
    pub(crate) fn is_same(&self, old: &Changes) -> bool {
        self.columns.len() == old.columns.len()
            && self
                .columns
                .iter()
                .zip(&old.columns)
                .all(|(new, old)| new.column == old.column && new.version == old.version)
    }

    /// Values set, and their memory in bytes, estimated.
    pub(crate) fn size(&self) -> (u64, u64) {
        let columns = self.columns.iter();
        columns.fold((0, 0), |(count, bytes), changed| {
            (count + changed.count, bytes + changed.bytes)
        })
    }

    /// Column, rows and values of all changes: columns rise, and rows in a column.
    pub(super) fn all(&self) -> BTreeMap<u16, Vec<(u32, Value)>> {
        let mut all: BTreeMap<u16, Vec<(u32, Value)>> = BTreeMap::new();
        self.since(&Changes::default(), &mut |column, doc, value| {
            all.entry(column).or_default().push((doc, value));
        });
        all
    }

    fn column_mut(&mut self, column: u16) -> &mut ChangedColumn {
        let at = self
            .columns
            .partition_point(|changed| changed.column < column);
        if self
            .columns
            .get(at)
            .is_none_or(|changed| changed.column != column)
        {
            self.columns.insert(at, ChangedColumn::new(column));
        }
        &mut self.columns[at]
    }
}

impl ChangedColumn {
    /// No value is changed yet.
    pub(crate) fn new(column: u16) -> ChangedColumn {
        ChangedColumn {
            column,
            version: 0,
            count: 0,
            bytes: 0,
            groups: Vec::new(),
        }
    }

    /// The column's place in the table.
    pub(crate) fn column(&self) -> u16 {
        self.column
    }

    /// The changed value of a row.
    pub(crate) fn value(&self, doc: u32) -> Option<Value> {
        self.page(doc)?.get(place(doc).2)
    }

    fn has(&self, doc: u32) -> bool {
        self.page(doc)
            .is_some_and(|page| page.find(place(doc).2).is_ok())
    }

    /// Sets the value of a row.
    pub(crate) fn set(&mut self, doc: u32, value: Value) {
        let page = Arc::make_mut(self.slot(doc).get_or_insert_default());
        let before = page.size();
        page.set(place(doc).2, value);
        let after = page.size();
        self.resize(before, after);
    }

    /// Puts a whole page in its place. `first`: its first row.
    fn put_page(&mut self, first: u32, page: &Arc<Page>) {
        let old = self.slot(first).replace(Arc::clone(page));
        let before = old.map_or((0, 0), |old| old.size());
        self.resize(before, page.size());
    }

    /// Counts a page that had one size and has another now.
    fn resize(&mut self, before: (u64, u64), after: (u64, u64)) {
        self.count = self.count - before.0 + after.0;
        self.bytes = self.bytes - before.1 + after.1;
    }

    /// The changed rows of `docs`, rising.
    pub(crate) fn rows(&self, docs: std::ops::Range<u32>) -> impl Iterator<Item = u32> {
        let first = docs.start - docs.start % PAGE_ROWS;
        let pages = (first..docs.end).step_by(PAGE_ROWS as usize);
        let pages = pages.filter_map(|first| Some((first, self.page(first)?)));
        let all = pages
            .flat_map(|(first, page)| page.lows.iter().map(move |low| first + u32::from(*low)));
        all.filter(move |doc| docs.contains(doc))
    }

    /// Calls `visit` with row and value of each changed row of `docs`, rising. `false`: a value is no integer of 64 bits.
    pub(crate) fn numbers(
        &self,
        docs: std::ops::Range<u32>,
        mut visit: impl FnMut(u32, i64),
    ) -> bool {
        let mut first = docs.start - docs.start % PAGE_ROWS;
        while first < docs.end {
            if let Some(page) = self.page(first) {
                let Values::Numbers(numbers) = &page.values else {
                    return false;
                };
                for (low, number) in page.lows.iter().zip(numbers) {
                    let doc = first + u32::from(*low);
                    if docs.contains(&doc) {
                        visit(doc, *number);
                    }
                }
            }
            first += PAGE_ROWS;
        }
        true
    }

    /// The changed value of a row, if it is an integer of 64 bits.
    pub(crate) fn number(&self, doc: u32) -> Option<i64> {
        let page = self.page(doc)?;
        match &page.values {
            Values::Numbers(numbers) => Some(numbers[page.find(place(doc).2).ok()?]),
            Values::Any(_) => None,
        }
    }

    /// Appends the rows whose changed value has one of these codes ([`key::code`]; rising). Cost: a look at each changed value.
    pub(crate) fn find(&self, codes: &[u64], rows: &mut Vec<u32>) {
        let is_wanted = |value: &Value| {
            let code = key::code(value);
            code.is_some_and(|code| codes.binary_search(&code).is_ok())
        };
        for (first, page) in self.pages() {
            let lows = page.lows.iter().map(|low| first + u32::from(*low));
            match &page.values {
                Values::Numbers(numbers) => {
                    let wanted = lows.zip(numbers);
                    let wanted =
                        wanted.filter(|(_, number)| is_wanted(&Value::Int(i128::from(**number))));
                    rows.extend(wanted.map(|(row, _)| row));
                }
                Values::Any(values) => {
                    let wanted = lows.zip(values).filter(|(_, value)| is_wanted(value));
                    rows.extend(wanted.map(|(row, _)| row));
                }
            }
        }
    }

    /// Highest changed integer.
    pub(crate) fn highest(&self) -> Option<i64> {
        let numbers = self.pages().filter_map(|(_, page)| match &page.values {
            Values::Numbers(numbers) => numbers.iter().copied().max(),
            Values::Any(_) => None,
        });
        numbers.max()
    }

    /// The page of a row.
    fn page(&self, doc: u32) -> Option<&Arc<Page>> {
        let (group, page, _) = place(doc);
        self.groups.get(group)?.as_ref()?.pages[page].as_ref()
    }

    /// The pages with their first rows, rising.
    fn pages(&self) -> impl Iterator<Item = (u32, &Arc<Page>)> {
        let groups = self.groups.iter().enumerate();
        groups.flat_map(|(at, group)| {
            let pages = group
                .iter()
                .flat_map(|group| group.pages.iter().enumerate());
            pages.filter_map(move |(page_at, page)| {
                let first = at as u32 * GROUP_ROWS + page_at as u32 * PAGE_ROWS;
                Some((first, page.as_ref()?))
            })
        })
    }

    fn slot(&mut self, doc: u32) -> &mut Option<Arc<Page>> {
        let (group, page, _) = place(doc);
        if self.groups.len() <= group {
            self.groups.resize(group + 1, None);
        }
        let empty = || {
            Arc::new(Group {
                pages: [const { None }; GROUP_PAGES],
            })
        };
        let group = self.groups[group].get_or_insert_with(empty);
        &mut Arc::make_mut(group).pages[page]
    }
}

impl Default for Values {
    fn default() -> Values {
        Values::Numbers(Vec::new())
    }
}

impl Page {
    fn find(&self, low: u16) -> std::result::Result<usize, usize> {
        match self.lows.get(usize::from(low)) {
            Some(own) if *own == low => Ok(usize::from(low)), // a whole page
            _ => self.lows.binary_search(&low),
        }
    }

    fn get(&self, low: u16) -> Option<Value> {
        Some(self.at(self.find(low).ok()?))
    }

    fn at(&self, at: usize) -> Value {
        match &self.values {
            Values::Numbers(numbers) => Value::Int(i128::from(numbers[at])),
            Values::Any(values) => values[at].clone(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (u16, Value)> {
        self.lows
            .iter()
            .enumerate()
            .map(|(at, low)| (*low, self.at(at)))
    }

    fn set(&mut self, low: u16, value: Value) {
        let number = match value {
            Value::Int(number) => i64::try_from(number).ok(),
            _ => None,
        };
        if let (Values::Numbers(numbers), None) = (&self.values, number) {
            let wide = numbers.iter().map(|number| Value::Int(i128::from(*number)));
            self.values = Values::Any(wide.collect());
        }
        let at = match self.lows.last() {
            Some(last) if *last < low => Err(self.lows.len()), // rows often come rising
            _ => self.find(low),
        };
        if let Err(at) = at {
            self.lows.insert(at, low);
        }
        match (&mut self.values, number, at) {
            (Values::Numbers(numbers), Some(number), Ok(at)) => numbers[at] = number,
            (Values::Numbers(numbers), Some(number), Err(at)) => numbers.insert(at, number),
            (Values::Any(values), _, Ok(at)) => values[at] = value,
            (Values::Any(values), _, Err(at)) => values.insert(at, value),
            (Values::Numbers(_), None, _) => {} // made wide above
        }
    }

    /// Values, and memory in bytes; of an empty page 0.
    fn size(&self) -> (u64, u64) {
        if self.lows.is_empty() {
            return (0, 0);
        }
        let lows = 2 * self.lows.len();
        let values = match &self.values {
            Values::Numbers(numbers) => 8 * numbers.len(),
            Values::Any(values) => values.iter().map(Value::memory).sum(),
        };
        (self.lows.len() as u64, PAGE_BYTES + (lows + values) as u64)
    }
}
