//! SELECT on pq and queue tables: a scan. The engine's thread alone knows what is owned in a queue; where many rows are to be
//! looked at, it hands out how they are now, and whoever asks scans them.

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

use index::Memory;
use percolate::StandingQuery;
use query::expression::{Expression, Prepared};
use query::request::{Item, Output, Select};
use query::schema::ColumnType;
use query::value::Value;

use super::delete::{named_ids, prepare};
use super::rows::row_bytes;
use crate::command::{Answer, Reading, Reply, Rows};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::{ANSWER_BYTES_HERE_MAX, ANSWER_BYTES_MAX, SCANNED_ROWS_MAX};
use crate::sessions::Owned;
use crate::state::State;
use crate::table::percolate::row::{Condition, QUERY_COLUMNS, SHOWN_COLUMNS, query_value};
use crate::table::queue::{RowLook, typed};

/// Answers a SELECT, or says how it is answered where that takes long. `owner`: the session is in owner mode.
///
/// # Errors
/// `NoSuchTable`, `UnknownColumn`; `Invalid` for a search table, MATCH or weight(); `Corrupt`.
pub(crate) fn read(state: &State, owner: Option<&Owned>, select: &Select) -> Result<Reply> {
    let table = state.catalog.find(&select.table)?;
    if let Some(pq) = state.percolates.get(&table) {
        let (name, len) = (&pq.definition.name, pq.set.len() as u64);
        let memory = Memory::new(ANSWER_BYTES_MAX);
        let answer = match select.filter.as_ref().and_then(named_ids) {
            Some(ids) => {
                let named = ids.iter().filter_map(|id| pq.set.get(*id));
                queries(name, len, named, select, &memory)
            }
            None => queries(name, len, pq.set.iter(), select, &memory),
        };
        return answer.map(Reply::Rows);
    }
    check_no_match(select)?;
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::internal("search tables are read from a snapshot"));
    };
    let here = Memory::new(ANSWER_BYTES_HERE_MAX);
    if owner.is_some() {
        let visible: Vec<u64> = queue.visible_rows(table, owner).collect();
        let count = visible.len() as u64;
        let answer = queue_rows(queue.look(), select, count, visible.iter().copied(), &here);
        return or_there(answer, || {
            let (snapshot, select) = (queue.snapshot(), select.clone());
            Reading::new(move |memory| {
                queue_rows(snapshot.look(), &select, count, visible.into_iter(), memory)
            })
        });
    }
    let free = queue.backlog.len() - queue.held_live();
    let there = || {
        let (snapshot, select) = (queue.snapshot(), select.clone());
        Reading::new(move |memory| {
            queue_rows(snapshot.look(), &select, free, snapshot.free_rows(), memory)
        })
    };
    if rows_seen(select, free) > SCANNED_ROWS_MAX {
        return Ok(Reply::Reading(there()));
    }
    let answer = queue_rows(queue.look(), select, free, queue.free_rows(), &here);
    or_there(answer, there)
}

/// An answer that was made here, or how its asker makes it where it takes more memory than is spent here.
fn or_there(answer: Result<Answer>, there: impl FnOnce() -> Reading) -> Result<Reply> {
    match answer {
        Err(Error::SearchMemory { .. }) => Ok(Reply::Reading(there())),
        answer => answer.map(Reply::Rows),
    }
}

/// How many rows of a queue a SELECT looks at.
fn rows_seen(select: &Select, rows: u64) -> u64 {
    if select.filter.is_some() || !select.order.is_empty() {
        return rows;
    }
    let is_count = |item: &Item| {
        matches!(
            item,
            Item::Value {
                what: Output::Count,
                ..
            }
        )
    };
    if select.items.iter().any(is_count) {
        return 0;
    }
    let wanted = select.limit.unwrap_or(u64::MAX);
    rows.min(wanted.saturating_add(select.offset))
}

/// Answers a SELECT on a queue. `rows`: those that are seen, in order; `count`: how many.
fn queue_rows(
    look: RowLook<'_>,
    select: &Select,
    count: u64,
    rows: impl Iterator<Item = u64>,
    memory: &Memory,
) -> Result<Answer> {
    let columns: Vec<(&str, ColumnType)> = typed(&look.definition.columns);
    let name = &look.definition.name;
    let scan = Scan::new(name, &columns, columns.len(), select)?;
    let filter = prepare(name, &columns, select.filter.as_ref())?;
    let access = Access {
        value: &|row: &Vec<Value>, slot| row.get(slot).cloned().unwrap_or(Value::Null),
        accepts: &|row: &Vec<Value>| {
            let slot_of = |slot: usize| row.get(slot).cloned().unwrap_or(Value::Null);
            filter
                .as_ref()
                .is_none_or(|filter| filter.accepts(&slot_of))
        },
        bytes: &|row: &Vec<Value>| row_bytes(row) + size_of_val(row.as_slice()) as u64,
        takes_all: filter.is_none(),
    };
    let row = |row| look.values(row).map(Option::unwrap_or_default);
    scan.answer(count, rows.map(row), &access, memory)
}

/// Answers a SELECT on a pq table. `all`: its queries, by id.
///
/// # Errors
/// `UnknownColumn`; `Invalid` for MATCH or weight(); `SearchMemory`, `Overloaded`.
pub(crate) fn queries<'q>(
    table: &str,
    len: u64,
    all: impl Iterator<Item = &'q Arc<StandingQuery>>,
    select: &Select,
    memory: &Memory,
) -> Result<Answer> {
    check_no_match(select)?;
    let scan = Scan::new(table, &QUERY_COLUMNS, SHOWN_COLUMNS, select)?;
    let condition = select.filter.as_ref();
    let condition = condition.map(|filter| Condition::new(table, filter));
    let condition = condition.transpose()?;
    let access = Access {
        value: &|query: &&Arc<StandingQuery>, slot| query_value(query, slot),
        accepts: &|query: &&Arc<StandingQuery>| {
            let accepts = |condition: &Condition| condition.accepts(query);
            condition.as_ref().is_none_or(accepts)
        },
        bytes: &|_| size_of::<usize>() as u64,
        takes_all: condition.is_none(),
    };
    scan.answer(len, all.map(Ok), &access, memory)
}

fn check_no_match(select: &Select) -> Result<()> {
    match select.matching {
        Some(_) => Err(Error::invalid("MATCH needs a search table")),
        None => Ok(()),
    }
}

/// How a scan looks at rows of one kind.
struct Access<'a, R> {
    value: &'a dyn Fn(&R, usize) -> Value,
    accepts: &'a dyn Fn(&R) -> bool,
    /// Memory that a row takes while it is held.
    bytes: &'a dyn Fn(&R) -> u64,
    /// There is no condition.
    takes_all: bool,
}

/// Rows beyond those wanted that a sort gathers before it drops them.
const SORTED_AT_ONCE: usize = 4096;

/// A SELECT made ready for rows of one table.
struct Scan {
    headers: Vec<(String, Option<ColumnType>)>,
    shown: Vec<Shown>,
    keys: Vec<(Prepared, bool)>,
    offset: u64,
    limit: u64,
    counts: bool,
}

enum Shown {
    Column(usize),
    Computed(Prepared),
}

/// The columns that a SELECT may name.
struct Scope<'a> {
    table: &'a str,
    columns: &'a [(&'a str, ColumnType)],
}

impl Scope<'_> {
    fn ready(&self, expression: &Expression) -> Result<Prepared> {
        let prepared = prepare(self.table, self.columns, Some(expression))?;
        prepared.ok_or_else(|| Error::internal("an expression was lost"))
    }

    fn slot(&self, column: &str) -> Result<usize> {
        let slot = self.columns.iter().position(|(known, _)| *known == column);
        slot.ok_or_else(|| Error::UnknownColumn {
            column: column.to_owned(),
            table: self.table.to_owned(),
        })
    }
}

impl Scan {
    /// `starred`: how many of the columns `*` stands for.
    fn new(
        table: &str,
        columns: &[(&str, ColumnType)],
        starred: usize,
        select: &Select,
    ) -> Result<Scan> {
        let scope = Scope { table, columns };
        let mut scan = Scan {
            headers: Vec::new(),
            shown: Vec::new(),
            keys: Vec::new(),
            offset: select.offset,
            limit: select.limit.unwrap_or(u64::MAX),
            counts: false,
        };
        for item in &select.items {
            match item {
                Item::Star => scan.show_all(columns.iter().take(starred)),
                Item::Value {
                    what: Output::Count,
                    ..
                } if select.items.len() > 1 => {
                    let what = "count(*) beside other columns".to_owned();
                    return Err(Error::NotYet { what });
                }
                Item::Value { what, name } => scan.show_item(&scope, what, name)?,
            }
        }
        for order in &select.order {
            let Output::Expression(key) = &order.key else {
                return Err(Error::invalid("ORDER BY needs a column of the table"));
            };
            let key = scope.ready(aliased(key, &select.items))?;
            scan.keys.push((key, order.descending));
        }
        Ok(scan)
    }

    fn show_all<'a>(&mut self, columns: impl Iterator<Item = &'a (&'a str, ColumnType)>) {
        for (slot, (name, kind)) in columns.enumerate() {
            self.headers.push(((*name).to_owned(), Some(*kind)));
            self.shown.push(Shown::Column(slot));
        }
    }

    fn show_item(&mut self, scope: &Scope<'_>, what: &Output, name: &str) -> Result<()> {
        let (kind, shown) = match what {
            Output::Expression(Expression::Column(column)) => {
                let slot = scope.slot(column)?;
                let kind = scope.columns.get(slot).map(|(_, kind)| *kind);
                (kind, Some(Shown::Column(slot)))
            }
            Output::Expression(expression) => {
                (None, Some(Shown::Computed(scope.ready(expression)?)))
            }
            Output::Count => {
                self.counts = true;
                (Some(ColumnType::Bigint), None)
            }
            Output::Weight => return Err(Error::invalid("weight() needs a search table")),
        };
        self.headers.push((name.to_owned(), kind));
        self.shown.extend(shown);
        Ok(())
    }

    /// `rows`: all of them, in their own order. `count`: how many.
    fn answer<R>(
        self,
        count: u64,
        rows: impl Iterator<Item = Result<R>>,
        access: &Access<'_, R>,
        memory: &Memory,
    ) -> Result<Answer> {
        let mut paid = Paid::from(memory);
        let found = Cell::new(0u64);
        let is_wanted = |row: &Result<R>| row.as_ref().map_or(true, |row| (access.accepts)(row));
        let wanted = rows.filter(is_wanted);
        let mut wanted = wanted.inspect(|_| found.set(found.get() + 1)).fuse();
        if self.counts && access.takes_all {
            return Ok(self.of(vec![vec![Value::Int(count.into())]], 1));
        }
        if self.counts {
            wanted.try_for_each(|row| row.map(drop))?;
            return Ok(self.of(vec![vec![Value::Int(found.get().into())]], 1));
        }
        if !self.keys.is_empty() {
            let best = self.best(wanted, access, &mut Paid::from(memory))?;
            let shown = self.cut(best.into_iter().map(Ok), access, &mut paid)?;
            return Ok(self.of(shown, found.get()));
        }
        let shown = self.cut(wanted.by_ref(), access, &mut paid)?;
        if access.takes_all {
            return Ok(self.of(shown, count));
        }
        wanted.try_for_each(|row| row.map(drop))?;
        Ok(self.of(shown, found.get()))
    }

    /// The first rows in the order asked for, as many as OFFSET and LIMIT need; their own order breaks ties.
    fn best<R>(
        &self,
        rows: impl Iterator<Item = Result<R>>,
        access: &Access<'_, R>,
        paid: &mut Paid<'_>,
    ) -> Result<Vec<R>> {
        let needed = usize::try_from(self.offset.saturating_add(self.limit)).unwrap_or(usize::MAX);
        let most = needed.saturating_mul(2).saturating_add(SORTED_AT_ONCE);
        let mut held: Vec<(Vec<Value>, R)> = Vec::new();
        let size = |(keys, row): &(Vec<Value>, R)| {
            row_bytes(keys) + size_of_val(keys.as_slice()) as u64 + (access.bytes)(row)
        };
        let mut bytes = 0;
        for row in rows {
            let row = row?;
            let keys = self.keys.iter();
            let keys = keys.map(|(key, _)| key.evaluate(&|slot| (access.value)(&row, slot)));
            held.push((keys.collect(), row));
            bytes += held.last().map_or(0, size);
            if held.len() >= most {
                held.sort_by(|left, right| self.compare(&left.0, &right.0));
                held.truncate(needed);
                bytes = held.iter().map(size).sum();
            }
            paid.up_to(bytes)?;
        }
        held.sort_by(|left, right| self.compare(&left.0, &right.0));
        held.truncate(needed);
        Ok(held.into_iter().map(|(_, row)| row).collect())
    }

    fn cut<R>(
        &self,
        rows: impl Iterator<Item = Result<R>>,
        access: &Access<'_, R>,
        paid: &mut Paid<'_>,
    ) -> Result<Vec<Vec<Value>>> {
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let shown = rows.skip(offset).take(limit);
        let mut bytes = 0;
        shown
            .map(|row| self.show(&row?, access, &mut bytes, paid))
            .collect()
    }

    /// `bytes`: of the rows before it, and then of it, too.
    fn show<R>(
        &self,
        row: &R,
        access: &Access<'_, R>,
        bytes: &mut u64,
        paid: &mut Paid<'_>,
    ) -> Result<Vec<Value>> {
        let value = |shown: &Shown| {
            let value = match shown {
                Shown::Column(slot) => (access.value)(row, *slot),
                Shown::Computed(expression) => {
                    expression.evaluate(&|slot| (access.value)(row, slot))
                }
            };
            // A statement may name a large column many times.
            let text = value.text_bytes().map_or(0, <[u8]>::len);
            *bytes += (size_of::<Value>() + text) as u64;
            paid.up_to(*bytes).map(|()| value)
        };
        self.shown.iter().map(value).collect()
    }

    fn compare(&self, left: &[Value], right: &[Value]) -> Ordering {
        for (((_, descending), left), right) in self.keys.iter().zip(left).zip(right) {
            let order = left.cmp_order(right);
            if order != Ordering::Equal {
                return if *descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    fn of(self, rows: Vec<Vec<Value>>, total_found: u64) -> Answer {
        Answer {
            columns: self.headers,
            rows: Rows::ready(rows),
            total_found,
            keywords: Vec::new(),
            warnings: Vec::new(),
            partial: None,
        }
    }
}

/// Bytes that are asked for at once.
const PAID_AT_ONCE: u64 = 16 << 10;

/// Memory that was taken for rows.
struct Paid<'m> {
    memory: &'m Memory,
    bytes: u64,
}

impl Paid<'_> {
    fn from(memory: &Memory) -> Paid<'_> {
        Paid { memory, bytes: 0 }
    }

    /// Takes memory until the rows have `bytes` together. Errors: `SearchMemory`, `Overloaded`.
    fn up_to(&mut self, bytes: u64) -> Result<()> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let more = (bytes - self.bytes).max(PAID_AT_ONCE);
        self.bytes += more;
        self.memory.take(more).map_err(failure::of_memory)
    }
}

/// What an ORDER BY key means: the item of that alias, else itself.
fn aliased<'a>(key: &'a Expression, items: &'a [Item]) -> &'a Expression {
    let Expression::Column(alias) = key else {
        return key;
    };
    let named = |item: &'a Item| match item {
        Item::Value {
            what: Output::Expression(expression),
            name,
        } if name == alias => Some(expression),
        _ => None,
    };
    items.iter().find_map(named).unwrap_or(key)
}
