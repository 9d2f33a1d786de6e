//! INSERT … SELECT: the rows of a SELECT become one INSERT.

use engine::Command;
use query::request::{Insert, Known};
use query::value::Value;
use wire::sql::Statement;

use super::{Execution, Outcome, unexpected};
use crate::errors::{self, Failure};
use crate::limits::{INSERT_SELECT_BYTES_MAX, INSERT_SELECT_ROWS_MAX};

impl Execution<'_> {
    /// Without LIMIT all rows go, unlike those of a SELECT alone. The rows are those of one snapshot; they are in the table once
    /// the whole INSERT is, so a table may be read and written by one statement.
    pub(super) async fn insert_select(
        &mut self,
        mut insert: Insert,
        known: Option<Known>,
        select: Statement,
    ) -> Result<Outcome, Failure> {
        let found = match select {
            Statement::Select(mut select) => {
                // One more than may be, so that a table that is too large is refused and not cut.
                select.limit = select.limit.or(Some(INSERT_SELECT_ROWS_MAX + 1));
                self.select(select).await?
            }
            Statement::SelectConstants(items) => {
                super::constants::select(self.node, self.session, items)?
            }
            _ => return Err(unexpected()),
        };
        let Outcome::Rows(found) = found else {
            return Err(unexpected());
        };
        let held = self.node.budget.grant();
        let mut bytes = 0;
        for row in found.answer.rows {
            let row = row?;
            bytes += row.iter().map(Value::memory).sum::<usize>();
            if bytes > INSERT_SELECT_BYTES_MAX {
                let max = INSERT_SELECT_BYTES_MAX >> 20;
                let message =
                    format!("INSERT … SELECT takes at most {max} MiB of rows: select fewer, by id");
                return Err(Failure::new(errors::LIMIT, message));
            }
            held.cover(bytes)?;
            insert.rows.push(row);
        }
        if insert.rows.is_empty() {
            return Ok(Outcome::NOTHING);
        }
        let command = match known {
            Some(known) => Command::Upsert { insert, known },
            None => Command::Insert(insert),
        };
        self.write_within(command).await
    }
}
