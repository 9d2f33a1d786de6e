//! INSERT … SELECT: the rows of a SELECT become one INSERT.

use std::borrow::Cow;

use engine::{Command, Definition, Kind, Reason, Write};
use relation::expression::{Kept, as_set};
use relation::request::{Insert, Item, Known, Output};
use relation::schema::ColumnType;
use relation::value::Value;
use wire::sql::Statement;

use super::union::Columns;
use super::{Execution, Outcome, local_time};
use crate::budget::Grant;
use crate::errors::{self, Failure};
use crate::limits::{
    INSERT_SELECT_BYTES_MAX, INSERT_SELECT_ROWS_MAX, TEMPORARY_SELECT_BYTES_MAX,
    TEMPORARY_SELECT_ROWS_MAX,
};
use crate::node::guarded;

/// Memory of a row beside its values, in bytes: its place among the rows, and what an allocation takes of its own.
const ROW_BYTES: usize = size_of::<Vec<Value>>() + 16;

/// Bounds of the rows of a SELECT that become rows of a table.
pub(super) struct Copied {
    rows: usize,
    bytes: usize,
    /// The statement and what it does, and what to do where it has more rows.
    what: &'static str,
    advice: &'static str,
}

impl Copied {
    /// Rows that become one record of the journal.
    const STORED: Copied = Copied {
        rows: INSERT_SELECT_ROWS_MAX,
        bytes: INSERT_SELECT_BYTES_MAX,
        what: "INSERT … SELECT stores, as one unit,",
        advice: "select parts, such as … WHERE id > 0 ORDER BY id ASC LIMIT 10000, then those behind the last id",
    };

    /// Rows that stay in the memory of the connection.
    pub(super) const TEMPORARY: Copied = Copied {
        rows: TEMPORARY_SELECT_ROWS_MAX,
        bytes: TEMPORARY_SELECT_BYTES_MAX,
        what: "a temporary table takes from one SELECT",
        advice: "select fewer, by id",
    };

    fn exceeded(&self) -> Failure {
        let (rows, mib) = (self.rows, self.bytes >> 20);
        let (what, advice) = (self.what, self.advice);
        let message = format!("{what} at most {rows} rows or {mib} MiB: {advice}");
        Failure::new(errors::LIMIT, message)
    }
}

/// Items of the SELECT that are moments, as `NOW() + INTERVAL 1 DAY`, become dates where the columns that get them have dates, as they
/// do in VALUES. Of a SELECT with `*` none does, since nobody knows which column an item is for.
fn set_moments(insert: &Insert, definition: &Definition, select: &mut Statement) {
    let items = if let Statement::Select(select) | Statement::SelectWaiting { select, .. } = select
    {
        &mut select.items
    } else if let Statement::Joined(select) = select {
        &mut select.items
    } else {
        return; // no other has items of its own
    };
    let kind_of = |name: &str| {
        let mut columns = definition.columns.iter();
        let column = columns.find(|column| column.name.eq_ignore_ascii_case(name));
        column.map(|column| column.kind)
    };
    let kinds: Vec<Option<ColumnType>> = match &insert.columns {
        Some(names) => names.iter().map(|name| kind_of(name)).collect(),
        None => {
            let id = (!matches!(definition.kind, Kind::Queue(_))).then_some(None);
            let columns = definition.columns.iter().map(|column| Some(column.kind));
            id.into_iter().chain(columns).collect()
        }
    };
    if items.len() != kinds.len() {
        return; // the rows are refused for it, or there is a `*`
    }
    for (item, kind) in items.iter_mut().zip(kinds) {
        if let (Item::Value { what, .. }, Some(kind)) = (item, kind)
            && let Output::Expression(written) = what
            && let Cow::Owned(text) = as_set(written, kind, false)
        {
            *written = text;
        }
    }
}

/// All rows of a SELECT, in memory.
pub(super) struct Selected {
    pub(super) columns: Columns,
    /// What is known of the values of each column.
    pub(super) known: Vec<Kept>,
    pub(super) rows: Vec<Vec<Value>>,
    /// What holds them.
    pub(super) held: Grant,
}

impl Selected {
    /// The names of the columns, as a table has them.
    pub(super) fn names(&self) -> Vec<String> {
        let columns = self.columns.iter();
        columns.map(|(name, _)| name.to_lowercase()).collect()
    }
}

impl Execution<'_> {
    /// Without LIMIT all rows go, unlike those of a SELECT alone. The rows are those of one snapshot; they are in the table once
    /// the whole INSERT is, so a table may be read and written by one statement.
    pub(super) async fn insert_select(
        &mut self,
        mut insert: Insert,
        known: Option<Known>,
        mut select: Statement,
    ) -> Result<Outcome, Failure> {
        let is_temporary = self.session.temporary.has(&insert.table);
        if !is_temporary {
            let definition = self.node.engine()?.snapshot().definition(&insert.table)?;
            set_moments(&insert, &definition, &mut select);
        }
        let most = match is_temporary {
            true => Copied::TEMPORARY,
            false => Copied::STORED,
        };
        let selected = self.all_rows(select, most).await?;
        let _held = selected.held;
        insert.rows = selected.rows;
        local_time::localize_rows(self.node, self.session, &mut insert);
        if insert.rows.is_empty() {
            return Ok(Outcome::NOTHING);
        }
        if is_temporary {
            let statement = match known {
                Some(known) => Statement::Upsert { insert, known },
                None => Statement::Insert(insert),
            };
            return self.of_temporary(statement).await;
        }
        let write = match known {
            Some(known) => Write::Upsert { insert, known },
            None => Write::Insert(insert),
        };
        self.write_within(Command::Write(write)).await
    }

    /// The columns and all rows of a SELECT. Errors: those of the rows; `LIMIT` for more than
    /// `most`; `OUT_OF_TIME`, `INTERRUPTED`.
    pub(super) async fn all_rows(
        &mut self,
        select: Statement,
        most: Copied,
    ) -> Result<Selected, Failure> {
        // One more than may be, so that a table that is too large is refused and not cut.
        let mut found = self.every_row(select, most.rows as u64 + 1).await?;
        if found.answer.partial == Some(Reason::Time) {
            return Err(engine::Error::OutOfTime.into());
        }
        let held = self.node.budget.grant();
        let (mut rows, mut bytes, mut memory) = (Vec::new(), 0, 0);
        let damaged = found.answer.rows.damaged();
        let search = found.search.as_ref();
        if let Some(search) = search {
            search.ends_in_time();
        }
        let mut read = |row: Result<Vec<Value>, engine::Error>| {
            if let Some(search) = search {
                engine::goes_on(&search.interrupt)?;
            }
            let row = row?;
            let values: usize = row.iter().map(Value::memory).sum();
            bytes += values;
            let is_first = rows.is_empty();
            if rows.len() == most.rows || bytes > most.bytes && !is_first {
                return Err(most.exceeded());
            }
            memory += ROW_BYTES + values;
            held.cover(memory)?;
            rows.push(row);
            Ok(())
        };
        // Rows are read, and their expressions evaluated, as they are asked for.
        match search {
            Some(search) => self.node.long_within(self.session, &search.interrupt).await,
            None => self.node.long(self.session).await,
        }
        guarded(self.node, || found.answer.rows.try_for_each(&mut read))?;
        for sentence in self.node.note_damaged(&damaged) {
            self.session.warn(sentence);
        }
        Ok(Selected {
            known: found.answer.known(),
            columns: found.answer.columns,
            rows,
            held,
        })
    }
}
