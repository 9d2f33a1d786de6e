//! BEGIN, COMMIT, ROLLBACK, `SET autocommit`, and the statements that commit by themselves.

use engine::{Command, Seen};
use relation::bind::Ids;
use relation::expression::Expression;
use relation::request::Select;
use wire::sql::{Assignment, Statement};

use super::{Execution, Outcome, variables};
use crate::errors::Failure;

/// Whether a statement commits the open transaction before it is done, as statements that change tables do in MySQL.
pub(super) fn commits(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::CreateTable(_)
            | Statement::CreateLike { .. }
            | Statement::AlterTable { .. }
            | Statement::AlterLocals { .. }
            | Statement::RenameTables(_)
            | Statement::DropTable {
                temporary: false,
                ..
            }
            | Statement::Truncate { .. }
            | Statement::QueuePurge { .. }
            | Statement::PqBackfill { .. }
            | Statement::Backup { .. }
    )
}

impl Execution<'_> {
    /// BEGIN. Commits an open transaction first.
    pub(super) async fn begin(&mut self) -> Result<Outcome, Failure> {
        self.commit().await?;
        self.session.begin_transaction();
        Ok(Outcome::NOTHING)
    }

    /// COMMIT. The transaction is over also where it is refused.
    pub(super) async fn commit(&mut self) -> Result<Outcome, Failure> {
        if self.session.end_transaction() {
            let stored = match self.answered.is_some() {
                true => self.submit(Command::Commit).await,
                false => Box::pin(self.by_condition(Command::Commit)).await,
            };
            if let Err(failure) = stored {
                self.session.temporary.rollback();
                // Where a reader was stopped that worked out a condition, the engine waits for its plan. The first error is told.
                let _ = self.node.submit(self.session, Command::Rollback).await;
                return Err(Failure {
                    message: format!("the transaction was rolled back: {}", failure.message),
                    ..failure
                });
            }
        }
        self.session.temporary.commit();
        Ok(Outcome::NOTHING)
    }

    pub(super) async fn rollback(&mut self) -> Result<Outcome, Failure> {
        self.session.temporary.rollback();
        if self.session.end_transaction() {
            self.submit(Command::Rollback).await?;
        }
        Ok(Outcome::NOTHING)
    }

    /// SET. To set `autocommit` from 0 to 1 commits, as in MySQL.
    pub(super) async fn set(&mut self, assignments: Vec<Assignment>) -> Result<Outcome, Failure> {
        let was_manual = self.session.is_manual_commit();
        variables::set(self.node, self.session, assignments)?;
        match was_manual && !self.session.is_manual_commit() {
            true => self.commit().await,
            false => Ok(Outcome::NOTHING),
        }
    }

    /// As [`Execution::own_tables`], for a SELECT on one table.
    pub(super) async fn own_tables_of(&mut self, select: &Select) -> Result<Option<Seen>, Failure> {
        let tables = vec![select.table.clone()];
        self.own_tables(tables, select.filter.as_ref()).await
    }

    /// The tables as the transaction sees them, for a SELECT on `tables`; `None`: as everybody sees them. `filter`: its condition,
    /// where it reads one table. If it names ids, rows of other ids do not count as read.
    pub(super) async fn own_tables(
        &mut self,
        tables: Vec<String>,
        filter: Option<&Expression>,
    ) -> Result<Option<Seen>, Failure> {
        if tables.is_empty() || !self.session.engine_has_part() {
            return Ok(None);
        }
        let ids = filter.and_then(Ids::of).map(|named| named.ids);
        let command = self.session.within(Command::Look { tables, ids });
        Ok(match self.submit(command).await? {
            engine::Reply::Seen(seen) => Some(seen),
            _ => None,
        })
    }
}
