//! SELECT on pq and queue tables: a scan by the engine's thread, which alone knows what is owned.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use percolate::StandingQuery;
use query::expression::{Expression, Prepared};
use query::request::{Item, Output, Select};
use query::schema::{Column, ColumnType};
use query::value::Value;

use super::delete::{Owned, named_ids, prepare};
use super::rows::row_bytes;
use crate::command::{Answer, Rows};
use crate::error::{Error, Result};
use crate::limits::ANSWER_BYTES_MAX;
use crate::state::State;
use crate::table::percolate::row::{QUERY_COLUMNS, SHOWN_COLUMNS, query_value};

/// Answers a SELECT. `owner`: the session is in owner mode.
///
/// # Errors
/// `NoSuchTable`, `UnknownColumn`; `Invalid` for a search table, MATCH or weight(); `Corrupt`.
pub(crate) fn read(state: &State, owner: Option<Owned>, select: &Select) -> Result<Answer> {
    let table = state.catalog.find(&select.table)?;
    if select.matching.is_some() {
        return Err(Error::invalid("MATCH needs a search table"));
    }
    if let Some(pq) = state.percolates.get(&table) {
        let scan = Scan::new(&pq.definition.name, &QUERY_COLUMNS, SHOWN_COLUMNS, select)?;
        let row = |query: &std::sync::Arc<StandingQuery>| {
            Ok((0..QUERY_COLUMNS.len())
                .map(|slot| query_value(query, slot))
                .collect())
        };
        if let Some(ids) = select.filter.as_ref().and_then(named_ids) {
            let named = ids.iter().filter_map(|id| pq.set.get(*id));
            return scan.answer(ids.len() as u64, named.map(row));
        }
        return scan.answer(pq.set.len() as u64, pq.set.iter().map(row));
    }
    let Some(queue) = state.queues.get(&table) else {
        return Err(Error::internal("search tables are read from a snapshot"));
    };
    let column = |column: &Column| (column.name.clone(), column.kind);
    let columns: Vec<(String, ColumnType)> = queue.columns().iter().map(column).collect();
    let columns: Vec<(&str, ColumnType)> = columns
        .iter()
        .map(|(name, kind)| (name.as_str(), *kind))
        .collect();
    let scan = Scan::new(&queue.definition.name, &columns, columns.len(), select)?;
    let row = |row| queue.values(row).map(Option::unwrap_or_default);
    if owner.is_none() {
        let free = queue.backlog.len() - queue.owned_live();
        return scan.answer(free, queue.free_rows().map(row));
    }
    let visible: Vec<u64> = queue.visible_rows(table, owner).collect();
    scan.answer(visible.len() as u64, visible.into_iter().map(row))
}

/// A SELECT made ready for rows of one table.
struct Scan {
    headers: Vec<(String, Option<ColumnType>)>,
    shown: Vec<Shown>,
    filter: Option<Prepared>,
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
            filter: prepare(table, columns, select.filter.as_ref())?,
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
    fn answer(self, count: u64, rows: impl Iterator<Item = Result<Vec<Value>>>) -> Result<Answer> {
        if self.counts {
            let found = match &self.filter {
                None => count,
                Some(_) => self
                    .matching(rows)
                    .try_fold(0u64, |count, row| row.map(|_| count + 1))?,
            };
            return Ok(self.of(vec![vec![Value::Int(found.into())]], 1));
        }
        if !self.keys.is_empty() {
            let mut sorted = bounded(self.matching(rows)).collect::<Result<Vec<_>>>()?;
            sorted.sort_by(|left, right| self.compare(left, right)); // stable: their own order breaks ties
            let found = sorted.len() as u64;
            let shown = self.cut(sorted.into_iter().map(Ok))?;
            return Ok(self.of(shown, found));
        }
        if self.filter.is_none() {
            let shown = self.cut(rows)?;
            return Ok(self.of(shown, count));
        }
        let mut found = 0u64;
        let counted = self.matching(rows).inspect(|_| found += 1);
        let mut counted = counted.fuse();
        let shown = self.cut(counted.by_ref())?;
        for row in counted {
            row?;
        }
        Ok(self.of(shown, found))
    }

    fn matching<'a>(
        &'a self,
        rows: impl Iterator<Item = Result<Vec<Value>>> + 'a,
    ) -> impl Iterator<Item = Result<Vec<Value>>> + 'a {
        rows.filter(|row| match (row, &self.filter) {
            (Ok(row), Some(filter)) => filter.accepts(&slot_of(row)),
            _ => true,
        })
    }

    fn cut(&self, rows: impl Iterator<Item = Result<Vec<Value>>>) -> Result<Vec<Vec<Value>>> {
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let shown = rows.skip(offset).take(limit);
        bounded(shown.map(|row| row.map(|row| self.show(&row)))).collect()
    }

    fn show(&self, row: &[Value]) -> Vec<Value> {
        let value = |shown: &Shown| match shown {
            Shown::Column(slot) => slot_of(row)(*slot),
            Shown::Computed(expression) => expression.evaluate(&slot_of(row)),
        };
        self.shown.iter().map(value).collect()
    }

    fn compare(&self, left: &[Value], right: &[Value]) -> Ordering {
        for (key, descending) in &self.keys {
            let order = key
                .evaluate(&slot_of(left))
                .cmp_order(&key.evaluate(&slot_of(right)));
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
        }
    }
}

/// Ends with `Limit` once the rows are larger than an answer may be.
fn bounded(
    rows: impl Iterator<Item = Result<Vec<Value>>>,
) -> impl Iterator<Item = Result<Vec<Value>>> {
    let mut bytes = 0;
    rows.map(move |row| {
        let row = row?;
        bytes += row_bytes(&row) + size_of_val(row.as_slice()) as u64;
        if bytes > ANSWER_BYTES_MAX {
            return Err(Error::Limit {
                what: "bytes of an answer without LIMIT",
                max: ANSWER_BYTES_MAX,
            });
        }
        Ok(row)
    })
}

fn slot_of(row: &[Value]) -> impl Fn(usize) -> Value + '_ {
    |slot| row.get(slot).cloned().unwrap_or(Value::Null)
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
