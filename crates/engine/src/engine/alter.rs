//! ALTER TABLE, of queues: rows stay as they were stored and are read in the new columns.

use queue::{Origin, Queue, RowNumber};
use relation::request::Delete;
use relation::schema::Column;
use relation::value::Value;

use super::Engine;
use crate::altered::{Altered, bad, filled};
use crate::catalog::{TableId, check_altered};
use crate::command::{Change, Definition, Reply};
use crate::decide::Decision;
use crate::decide::delete::{check, whole};
use crate::error::{Error, Result, ShownValue, Why};
use crate::limits::LAYOUTS_MAX;
use crate::record::{QueueRecord, Record};

impl Engine {
    /// ALTER TABLE of a queue's columns.
    pub(super) fn alter_queue(&mut self, name: &str, changes: &[Change]) -> Result<Reply> {
        let (table, queue) = self.queue_of(name)?;
        if queue.earlier_layouts() >= LAYOUTS_MAX {
            return Err(Error::Limit {
                what: "changes of a queue's columns while it holds rows from before the first",
                max: LAYOUTS_MAX as u64,
            });
        }
        let mut altered = Altered::new(name, queue.columns());
        for change in changes {
            check_free(queue, change)?;
            altered.change(change)?;
        }
        let definition = Definition {
            columns: altered.columns.clone(),
            ..Definition::clone(&*self.state.catalog.named(name)?)
        };
        let definition = check_altered(&self.state.catalog, definition)?;
        altered.columns = definition.columns;
        check_rows(&altered, queue)?;
        let record = Record::Queue(QueueRecord::Alter {
            table,
            columns: altered.columns,
            origins: altered.origins,
        });
        let reply = self.commit(Decision::of(record, Reply::done()))?;
        self.ask_again(table);
        Ok(reply)
    }

    /// The conditions of those who wait are asked of the new columns; a wait for one that is gone is over.
    fn ask_again(&mut self, table: TableId) {
        let Some(queue) = self.state.queues.get_mut(&table) else {
            return;
        };
        for (session, error) in queue.ask_again() {
            self.sessions
                .fail_wait(&mut self.state, session, error.into(), &mut self.outbox);
        }
        self.state.freed.insert(table);
        self.wake();
    }

    /// TRUNCATE: every row goes, owned ones too; owners then own nothing. The table's loads are forgotten with its rows: a load
    /// that is repeated begins at 0.
    pub(super) fn truncate(&mut self, name: &str) -> Result<Reply> {
        let (table, queue) = match self.queue_of(name) {
            Ok(found) => found,
            Err(Error::Invalid { .. }) => return self.delete_all(name),
            Err(error) => return Err(error),
        };
        let affected = queue.backlog.len();
        let ends = self.ends_of_loads(table);
        let reply = self.clear(table, Vec::new(), affected, ends)?;
        self.sessions.release(&mut self.state, table);
        Ok(reply)
    }

    /// TRUNCATE of documents or standing queries.
    fn delete_all(&mut self, name: &str) -> Result<Reply> {
        let asked = Delete::new(name.to_owned(), None);
        let table = self.state.catalog.find(name)?;
        if let Some(definition) = self.state.catalog.get(table) {
            check(&definition.kind, &asked)?;
        }
        let ends = self.ends_of_loads(table);
        let control = self.work.control();
        let mut decision = whole(&mut self.state, &control, (table, None), &asked)?;
        decision.record = Record::unit(decision.record.into_iter().chain(ends));
        decision.gives_room = true;
        self.commit(decision)
    }

    /// QUEUE_PURGE: every row that nobody holds goes.
    pub(super) fn purge(&mut self, name: &str) -> Result<Reply> {
        let (table, queue) = self.queue_of(name)?;
        let held = queue
            .lanes
            .iter()
            .flat_map(|lane| lane.held().keys().copied());
        let mut kept: Vec<RowNumber> = held.filter(|row| queue.backlog.contains(*row)).collect();
        kept.sort_unstable();
        kept.dedup();
        let affected = queue.backlog.len() - kept.len() as u64;
        self.clear(table, kept, affected, Vec::new())
    }

    /// Removes all rows of a queue except `kept`. `ends`: records that go into the same unit, such as the ends of loads.
    fn clear(
        &mut self,
        table: TableId,
        kept: Vec<RowNumber>,
        affected: u64,
        ends: Vec<Record>,
    ) -> Result<Reply> {
        let reply = Reply::affected(affected);
        let cleared = (affected > 0).then_some(Record::Queue(QueueRecord::Clear { table, kept }));
        let Some(record) = Record::unit(cleared.into_iter().chain(ends)) else {
            return Ok(reply);
        };
        let reply = self.commit(Decision::giving_room(record, reply))?;
        self.status.queue_ended_total += affected;
        if let Some(queue) = self.state.queues.get_mut(&table) {
            queue.stats.rows_removed += affected;
        }
        Ok(reply)
    }

    /// QUEUE_PAUSE, QUEUE_RESUME: of one group, or of all there is.
    pub(super) fn pause(&mut self, name: &str, group: Option<&str>, paused: bool) -> Result<Reply> {
        let (table, queue) = self.queue_of(name)?;
        let lanes = match group {
            None => 0..queue.lanes.len(),
            Some(_) => {
                let lane = queue.lane_of(group)?;
                lane..lane + 1
            }
        };
        let is_other = |lane: &usize| queue.paused.get(*lane) != Some(&paused);
        let lanes: Vec<u32> = lanes.filter(is_other).map(|lane| lane as u32).collect();
        if lanes.is_empty() {
            return Ok(Reply::done());
        }
        let record = Record::Queue(QueueRecord::Pause {
            table,
            lanes,
            paused,
        });
        let reply = self.commit(Decision::giving_room(record, Reply::done()))?;
        self.state.freed.insert(table);
        self.wake();
        Ok(reply)
    }
}

/// A row in the columns of another queue. A column gets the value of its name if it can hold it, else its default.
pub(super) fn by_name(columns: &[Column], values: Vec<Value>, other: &[Column]) -> Vec<Value> {
    let of = |column: &Column| {
        let place = columns.iter().position(|own| own.name == column.name)?;
        let value = values.get(place)?.clone();
        match value {
            Value::Null => column.nullable.then_some(Value::Null),
            value => column.kind.accept(value).ok(),
        }
    };
    let or_none = |column: &Column| of(column).or_else(|| filled(column).ok());
    let row = other
        .iter()
        .map(|column| or_none(column).unwrap_or(Value::Null));
    row.collect()
}

/// Refuses a MODIFY that some row's value does not fit. Reads every row where a type changes or NULL is forbidden.
fn check_rows(altered: &Altered, queue: &Queue) -> Result<()> {
    let before = queue.columns();
    let stricter: Vec<(usize, &Column)> = altered
        .origins
        .iter()
        .zip(&altered.columns)
        .filter_map(|(origin, column)| match origin {
            Origin::Column(place) => Some((*place as usize, column)),
            Origin::Value(_) => None,
        })
        .filter(|(place, column)| {
            let before = before.get(*place);
            before.is_none_or(|before| {
                before.kind != column.kind || (before.nullable && !column.nullable)
            })
        })
        .collect();
    if stricter.is_empty() {
        return Ok(());
    }
    for (number, row) in (1..).zip(queue.backlog.rows()) {
        let values = queue.values(row)?.unwrap_or_default();
        for (place, column) in &stricter {
            let value = values.get(*place).cloned().unwrap_or(Value::Null);
            if value == Value::Null {
                match column.nullable {
                    true => continue,
                    false => return Err(bad(column, number, Why::Null)),
                }
            }
            let fits = column.kind.accept(value.clone());
            let why = || Why::Incorrect(column.kind, ShownValue::of(&value));
            fits.map_err(|_| bad(column, number, why()))?;
        }
    }
    Ok(())
}

/// The rows that are there were ordered, counted or delayed by the column as it is. An option's column keeps its name and type.
fn check_free(queue: &Queue, change: &Change) -> Result<()> {
    let (name, what) = match change {
        Change::Modify { column } => {
            let name = column.name.to_lowercase();
            let own = queue.columns().iter().find(|own| own.name == name);
            if own.is_none_or(|own| own.kind == column.kind) {
                return Ok(());
            }
            (name, "type")
        }
        Change::Rename { from, .. } => (from.to_lowercase(), "name"),
        Change::Add { .. } | Change::Drop { .. } | Change::Key { .. } => return Ok(()),
    };
    let mut options = queue.options().clone();
    if !options.columns().any(|(_, named)| named == name) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the {what} of '{name}' cannot change: an option of '{}' names the column",
        queue.name()
    )))
}
