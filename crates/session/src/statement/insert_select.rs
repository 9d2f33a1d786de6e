//! INSERT … SELECT: the rows of a SELECT become one INSERT.

use engine::{Command, Reason};
use query::request::{Insert, Known};
use query::value::Value;
use wire::sql::Statement;

use super::union::Columns;
use super::{Execution, Outcome, temporary, unexpected};
use crate::errors::{self, Failure};
use crate::limits::{INSERT_SELECT_BYTES_MAX, INSERT_SELECT_ROWS_MAX};
use crate::node::guarded;

impl Execution<'_> {
    /// Without LIMIT all rows go, unlike those of a SELECT alone. The rows are those of one snapshot; they are in the table once
    /// the whole INSERT is, so a table may be read and written by one statement.
    pub(super) async fn insert_select(
        &mut self,
        mut insert: Insert,
        known: Option<Known>,
        select: Statement,
    ) -> Result<Outcome, Failure> {
        (_, insert.rows) = self.all_rows(select).await?;
        if insert.rows.is_empty() {
            return Ok(Outcome::NOTHING);
        }
        let statement = match known {
            Some(known) => Statement::Upsert { insert, known },
            None => Statement::Insert(insert),
        };
        let table = temporary::table_of(&statement).unwrap_or_default();
        if self.session.temporary.has(table) {
            return self.of_temporary(statement).await;
        }
        let command = match statement {
            Statement::Upsert { insert, known } => Command::Upsert { insert, known },
            Statement::Insert(insert) => Command::Insert(insert),
            _ => return Err(unexpected()),
        };
        self.write_within(command).await
    }

    /// The columns and all rows of a SELECT, in memory. Errors: those of the rows; `OUT_OF_TIME`, `INTERRUPTED`.
    pub(super) async fn all_rows(
        &mut self,
        select: Statement,
    ) -> Result<(Columns, Vec<Vec<Value>>), Failure> {
        // One more than may be, so that a table that is too large is refused and not cut.
        let mut found = self.every_row(select, INSERT_SELECT_ROWS_MAX + 1).await?;
        if found.answer.partial == Some(Reason::Time) {
            return Err(engine::Error::OutOfTime.into());
        }
        let held = self.node.budget.grant();
        let (mut rows, mut bytes) = (Vec::new(), 0);
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
            bytes += row.iter().map(Value::memory).sum::<usize>();
            if bytes > INSERT_SELECT_BYTES_MAX {
                let max = INSERT_SELECT_BYTES_MAX >> 20;
                let message =
                    format!("INSERT … SELECT takes at most {max} MiB of rows: select fewer, by id");
                return Err(Failure::new(errors::LIMIT, message));
            }
            held.cover(bytes)?;
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
        Ok((found.answer.columns, rows))
    }
}
