//! UNION: the rows of several SELECTs, one behind the other.

use std::sync::Arc;

use engine::{Answer, Rows};
use query::rows::DistinctRows;
use query::schema::ColumnType;
use query::value::Value;
use wire::sql::{Part, Statement, Union, UnionColumn};

use super::select::Shared;
use super::{Execution, FoundRows, Outcome, join, unexpected};
use crate::budget::Grant;
use crate::errors::{self, Failure};

/// Rows of a SELECT that gives all its rows, where the statement has no LIMIT.
const ALL_ROWS: u64 = u64::MAX >> 1;

/// Parts that are read in one turn of the event loop: others wait for some hundred microseconds.
const PARTS_A_TURN: usize = 16;

/// Headers and types of an answer.
pub(super) type Columns = Vec<(String, Option<ColumnType>)>;

impl Execution<'_> {
    /// Does a UNION. All its SELECTs read the tables of one moment; each gives every row unless it says LIMIT.
    pub(super) async fn union(&mut self, union: Union) -> Result<Outcome, Failure> {
        let tables: Vec<&str> = union.parts.iter().flat_map(tables_of).collect();
        let seen = self.seen(&tables).await?;
        let table = tables
            .first()
            .map_or(String::new(), |table| (*table).to_owned());
        drop(tables);
        let search = self.begin_search(&table, &Default::default());
        let held = Arc::new(self.node.budget.grant());
        let outer = self.shared.replace(Shared {
            seen,
            held: Arc::clone(&held),
            interrupt: Arc::clone(&search.interrupt),
        });
        let found = self.parts(union.parts, union.distinct_parts, &held).await;
        self.shared = outer;
        let (columns, mut answers) = found?;
        search.found();
        let total: u64 = answers.iter().map(|(_, total)| *total).sum();
        let (limit, offset) = (union.limit.unwrap_or(ALL_ROWS), union.offset);
        let page = |rows: Box<dyn Iterator<Item = engine::Result<Vec<Value>>> + Send>| {
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            rows.skip(offset)
                .take(usize::try_from(limit).unwrap_or(usize::MAX))
        };
        let rows = match union.order.is_empty() {
            true if answers.len() == 1 && offset == 0 && union.limit.is_none() => {
                answers.remove(0).0
            }
            true => {
                let rows = answers.into_iter().flat_map(|(rows, _)| rows);
                Rows::reading(page(Box::new(rows)))
            }
            false => {
                let keys = union
                    .order
                    .iter()
                    .map(|key| Ok((place(&columns, &key.column)?, key.descending)));
                let keys: Vec<(usize, bool)> = keys.collect::<Result<_, Failure>>()?;
                let rows = self.apart(total as usize, || sorted(answers, &keys, &held))?;
                Rows::ready(
                    page(Box::new(rows.into_iter().map(Ok))).collect::<engine::Result<_>>()?,
                )
            }
        };
        let answer = Answer {
            columns,
            rows,
            total_found: total,
            keywords: Vec::new(),
            warnings: Vec::new(),
            partial: None,
        };
        Ok(self.counted(answer, table, Some(search), Some(held)))
    }

    /// The columns of the first part, and the rows of all; the first `distinct` parts give equal rows once.
    async fn parts(
        &mut self,
        parts: Vec<Part>,
        distinct: usize,
        held: &Arc<Grant>,
    ) -> Result<(Columns, Vec<(Rows, u64)>), Failure> {
        let mut columns: Option<Columns> = None;
        let (mut answers, mut once) = (Vec::with_capacity(parts.len()), DistinctRows::default());
        for (at, part) in parts.into_iter().enumerate() {
            if at % PARTS_A_TURN == PARTS_A_TURN - 1 {
                tokio::task::yield_now().await;
            }
            let found = self.part(part).await?;
            let given = found.answer.columns;
            match &mut columns {
                None => columns = Some(given),
                Some(known) => unite(known, &given, at)?,
            }
            match at < distinct {
                true => {
                    let Answer {
                        rows, total_found, ..
                    } = found.answer;
                    self.apart(total_found as usize, || add(&mut once, rows, held))?;
                }
                false => answers.push((found.answer.rows, found.answer.total_found)),
            }
        }
        if distinct > 0 {
            let rows = once.into_rows();
            let total = rows.len() as u64;
            answers.insert(0, (Rows::ready(rows), total));
        }
        Ok((columns.unwrap_or_default(), answers))
    }

    async fn part(&mut self, part: Part) -> Result<FoundRows, Failure> {
        match part {
            Part::Select(select) => self.every_row(Statement::Select(*select), ALL_ROWS).await,
            Part::Joined(select) => self.every_row(Statement::Joined(select), ALL_ROWS).await,
            Part::Constants(items) => {
                let items = Statement::SelectConstants(items);
                self.every_row(items, ALL_ROWS).await
            }
            Part::Each {
                select,
                column,
                constants,
            } => {
                let each = join::for_each(&select, &column);
                let outcome = Box::pin(self.joined_with(each, Some(constants))).await?;
                rows_of(outcome)
            }
        }
    }

    /// The rows of a SELECT of any kind, at most `most` where it says no LIMIT.
    pub(super) async fn every_row(
        &mut self,
        mut select: Statement,
        most: u64,
    ) -> Result<FoundRows, Failure> {
        if let Statement::Select(select) = &mut select {
            select.limit = select.limit.or(Some(most));
        }
        rows_of(self.read_rows(select).await?)
    }
}

fn rows_of(outcome: Outcome) -> Result<FoundRows, Failure> {
    match outcome {
        Outcome::Rows(found) => Ok(found),
        _ => Err(unexpected()),
    }
}

/// The tables that a part reads.
fn tables_of(part: &Part) -> Vec<&str> {
    match part {
        Part::Select(select) | Part::Each { select, .. } => vec![&select.table],
        Part::Joined(select) => select.tables.iter().map(|table| &*table.table).collect(),
        Part::Constants(_) => Vec::new(),
    }
}

/// Makes the types of the columns fit those of one more SELECT, the part with index `at`.
fn unite(known: &mut Columns, given: &Columns, at: usize) -> Result<(), Failure> {
    if known.len() != given.len() {
        let message = format!(
            "the SELECTs of a UNION have different numbers of columns: the first has {}, number {} has {}",
            known.len(),
            at + 1,
            given.len()
        );
        return Err(Failure::new(errors::WRONG_COLUMN_COUNT, message));
    }
    for ((_, kind), (_, other)) in known.iter_mut().zip(given) {
        if kind != other {
            *kind = None;
        }
    }
    Ok(())
}

/// The place of a key of ORDER BY among the columns.
fn place(columns: &Columns, key: &UnionColumn) -> Result<usize, Failure> {
    let found = match key {
        UnionColumn::Numbered(number) => usize::try_from(*number)
            .ok()
            .and_then(|number| number.checked_sub(1)),
        UnionColumn::Named(name) => columns
            .iter()
            .position(|(header, _)| header.eq_ignore_ascii_case(name)),
    };
    found.filter(|place| *place < columns.len()).ok_or_else(|| {
        let key = match key {
            UnionColumn::Numbered(number) => number.to_string(),
            UnionColumn::Named(name) => format!("'{name}'"),
        };
        let message = format!("ORDER BY of a UNION names no column of it: {key}");
        Failure::new(errors::UNKNOWN_COLUMN, message)
    })
}

/// All rows by the keys; rows with equal keys keep their order.
fn sorted(
    answers: Vec<(Rows, u64)>,
    keys: &[(usize, bool)],
    held: &Grant,
) -> Result<Vec<Vec<Value>>, Failure> {
    let mut all = Vec::new();
    for row in answers.into_iter().flat_map(|(rows, _)| rows) {
        let row = row?;
        held.take(memory(&row))?;
        all.push(row);
    }
    all.sort_by(|a, b| {
        let keys = keys.iter().map(|(place, falls)| {
            let order = a[*place].cmp_order(&b[*place]);
            if *falls { order.reverse() } else { order }
        });
        keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    Ok(all)
}

fn memory(row: &[Value]) -> u64 {
    let values: usize = row.iter().map(Value::memory).sum();
    (size_of::<Vec<Value>>() + values) as u64
}

/// Adds the rows that are new.
fn add(once: &mut DistinctRows, rows: Rows, held: &Grant) -> Result<(), Failure> {
    for row in rows {
        let row = row?;
        let bytes = memory(&row);
        if let Some(more) = once.add(row) {
            held.take(bytes + more)?;
        }
    }
    Ok(())
}
