//! Queues: the functions of Q4M, the procedures beyond it, and SELECT … WHERE queue_wait(…).

use std::sync::Arc;

use engine::{Command, Error, Family, Hold, QueueStats, Reply};
use relation::request::{Select, WaitSource};
use relation::schema::ColumnType;
use relation::value::Value;
use wire::sql::{self, QueueCall, QueueNext};

use super::owned_row::OwnedRow;
use super::{Execution, FoundRows, Outcome, ready, relations, unexpected};
use crate::counters::add;
use crate::errors::Failure;
use crate::rights::{Action, Deed};

impl Execution<'_> {
    /// Calls a queue function; the answer is one row with one value.
    pub(super) async fn queue(&mut self, call: QueueCall, name: &str) -> Result<Outcome, Failure> {
        let kind = match call {
            QueueCall::Stats { .. } => ColumnType::String,
            _ => ColumnType::Bigint,
        };
        let value = self.called(call).await?;
        let columns = vec![(name.to_owned(), Some(kind))];
        Ok(Outcome::shown(columns, vec![vec![value]]))
    }

    /// The value of a queue function. A mistake of the caller gives NULL and a warning, as in Q4M. `queue_abort` and
    /// `queue_rowid` outside owner mode are errors, as in Q4M, too.
    async fn called(&mut self, call: QueueCall) -> Result<Value, Failure> {
        self.count_call(&call);
        let command = match call {
            QueueCall::Wrong(why) => return Ok(self.null(why)),
            QueueCall::Wait {
                sources,
                timeout_us,
            } => return self.wait(sources, timeout_us).await,
            QueueCall::End => self.session.within(Command::QueueEnd),
            QueueCall::Abort => Command::QueueAbort,
            QueueCall::RowId => Command::QueueRowId,
            QueueCall::SetSource { sender, mode, row } => {
                Command::QueueSetSource { sender, mode, row }
            }
            QueueCall::Compact { table } => Command::QueueCompact { table },
            QueueCall::Stats { table } => Command::QueueStats { table },
        };
        let number = |number: u64| Value::Int(i128::from(number));
        match self.submit_raw(command).await? {
            Ok(Reply::RowId(row)) => Ok(row.map_or(Value::Null, |row| number(row.0))),
            Ok(Reply::QueueStats(stats)) => Ok(Value::Str(text_of(&stats))),
            Ok(_) => Ok(number(1)),
            Err(error) if is_null(&error) => Ok(self.null(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    /// `queue_wait`: the engine sends the row with its reply, because nearly every client selects it next. The session keeps it.
    async fn wait(
        &mut self,
        waited_for: Vec<WaitSource>,
        timeout_us: u64,
    ) -> Result<Value, Failure> {
        let upheavals = self.node.engine()?.upheavals();
        let tables: Vec<String> = waited_for.iter().map(|one| one.table.clone()).collect();
        let command = Command::QueueNext(engine::QueueNext {
            sources: waited_for,
            group: None,
            rows: 1,
            timeout_us,
            hold: Hold::Session,
            done: Vec::new(),
        });
        let command = self.session.within(command);
        match self.node.submit_raw(self.session, command).await? {
            Ok(Reply::Taken(taken)) => {
                let source = taken.source;
                let from = (source as usize).checked_sub(1);
                let table = from.and_then(|place| tables.get(place));
                self.session.owned_row =
                    table.and_then(|table| OwnedRow::new(table, upheavals, taken));
                Ok(Value::Int(source.into()))
            }
            Ok(_) => Err(unexpected()),
            Err(error) if is_null(&error) => Ok(self.null(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }

    fn count_call(&self, call: &QueueCall) {
        let counters = &self.node.counters;
        let counter = match call {
            QueueCall::Wait { .. } => &counters.queue_waits,
            QueueCall::End => &counters.queue_ends,
            QueueCall::Abort => &counters.queue_aborts,
            QueueCall::RowId => &counters.queue_rowids,
            QueueCall::SetSource { .. } => &counters.queue_set_srcids,
            QueueCall::Compact { .. } | QueueCall::Stats { .. } | QueueCall::Wrong(_) => return,
        };
        add(counter, 1);
    }

    fn null(&mut self, why: String) -> Value {
        self.session.warn(why);
        Value::Null
    }

    /// `SELECT … FROM t WHERE queue_wait('t')`: first waits, then runs the SELECT with the result in place of the call.
    pub(super) async fn select_waiting(
        &mut self,
        wait: QueueCall,
        mut select: Select,
    ) -> Result<Outcome, Failure> {
        let answer = self.called(wait).await?;
        select.filter = select
            .filter
            .map(|filter| sql::with_answer(filter, &answer));
        self.select(select).await
    }

    /// `CALL QUEUE_NEXT`: gives the taken rows under the columns of their queue. The connection owns them.
    pub(super) async fn queue_next(&mut self, next: QueueNext) -> Result<Outcome, Failure> {
        let first = next.sources.first().map(|source| source.table.clone());
        let command = self.session.within(command_of(next));
        let Reply::Taken(taken) = self.submit(command).await? else {
            return Err(unexpected());
        };
        let held = self.node.budget.grant();
        if let Err(failure) = held.cover(taken.bytes()) {
            // The client learns of no row, so its connection must own none.
            self.submit(Command::QueueAbort).await?;
            return Err(failure);
        }
        let mut columns = taken.columns;
        if columns.is_empty() {
            let table = first.as_deref().unwrap_or_default();
            let takes = Action(Deed::Take, Some(table));
            columns =
                relations::columns_by_name(&*self.node.snapshot(self.session, takes)?, table)?;
        }
        let rows = taken.rows.into_iter().map(|row| row.values).collect();
        let columns = columns.into_iter();
        let columns = columns.map(|(name, kind)| (name, Some(kind))).collect();
        Ok(Outcome::Rows(Box::new(FoundRows {
            is_costly: false,
            members: Vec::new(),
            answer: ready(columns, rows),
            table: first.unwrap_or_default(),
            counted: false,
            search: None,
            held: Some(Arc::new(held)),
        })))
    }
}

/// The command of `CALL QUEUE_NEXT`.
pub(super) fn command_of(next: QueueNext) -> Command {
    Command::QueueNext(engine::QueueNext {
        sources: next.sources,
        group: next.group,
        rows: next.rows,
        timeout_us: next.timeout_us,
        hold: Hold::Session,
        done: Vec::new(),
    })
}

/// Whether a function of Q4M answers NULL to this error. Refusals by "not yet" and faults of the server stay errors.
fn is_null(error: &Error) -> bool {
    let asks_wrongly = matches!(error.family(), Family::Caller | Family::Limit);
    asks_wrongly && !matches!(error, Error::NotOwner { .. } | Error::NotYet { .. })
}

/// The nine lines of Q4M's `queue_stats`.
fn text_of(stats: &QueueStats) -> String {
    [
        ("rows_written", stats.rows_written),
        ("rows_removed", stats.rows_removed),
        ("wait_immediate", stats.wait_immediate),
        ("wait_delayed", stats.wait_delayed),
        ("wait_timeout", stats.wait_timeout),
        ("restored_by_abort", stats.restored_by_abort),
        ("restored_by_close", stats.restored_by_close),
        ("bytes_total", stats.bytes_total),
        ("bytes_removed", stats.bytes_removed),
    ]
    .map(|(name, value)| format!("{name}: {value}\n"))
    .concat()
}
