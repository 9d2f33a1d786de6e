//! One queue: its rows in insert order, which of them are held, and who waits.

mod ages;
mod backlog;
mod batch;
mod chunk;
mod durable;
mod file;
pub(crate) mod gate;
mod keys;
pub(crate) mod lane;
mod layout;
pub(crate) mod line;
mod queues;
#[cfg(test)]
mod tests;
mod unique;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use ages::Ages;
pub(crate) use backlog::Backlog;
pub(crate) use batch::HitBatch;
pub(crate) use chunk::Rows as ChunkRows;
pub(crate) use chunk::StoredRow;
pub(crate) use file::{ChunkFile, FoldJob, MergeRowsJob};
pub(crate) use gate::Holder;
pub(crate) use lane::{Delivered, Lane, LineId};
pub(crate) use layout::{Layouts, Origin, put_origins, read_origins};
use line::Predicate;
use query::expression::Expression;
use query::schema::{Column, ColumnType};
use query::value::Value;
pub(crate) use queues::Queues;
pub(crate) use unique::Seen;

use crate::catalog::TableId;
use crate::codec::put_value;
use crate::command::{Definition, Kind, Now, QueueOptions, QueueStats, SessionId};
use crate::decide::delete::prepare;
use crate::error::{Error, Result};
use crate::sessions::Owned;
use crate::snapshot::GroupReport;

/// Senders that relay rows into a queue: 0 to 63.
pub(crate) const SENDERS: usize = 64;

/// A queue as the engine's thread owns it. Who holds which row, and who waits, is never written to disk.
pub(crate) struct QueueTable {
    pub(crate) definition: Arc<Definition>,
    pub(crate) backlog: Backlog,
    /// One, or one for each consumer group.
    pub(crate) lanes: Vec<Lane>,
    pub(crate) layouts: Layouts,
    /// For each lane: no row is handed out.
    pub(crate) paused: Vec<bool>,
    /// The last row received from each sender; 0: none.
    pub(crate) received: [u64; SENDERS],
    /// Keys of `unique_by=`.
    pub(crate) seen: Seen,
    /// Rows that are gone and that the lanes have not been told of.
    pub(crate) gone: Vec<u64>,
    /// Rows that a lane is done with, where the next of their key follows them.
    ended: Vec<(usize, u64)>,
    /// When rows came.
    pub(crate) ages: Ages,
    /// Counted since the start; those of bytes are made when asked for.
    pub(crate) stats: QueueStats,
    /// Records up to here are in the files that the manifest names.
    pub(crate) folded: u64,
    /// The number that the next row got at that position.
    pub(crate) folded_next: u64,
    /// Whether something happened since.
    pub(crate) changed: bool,
    /// Whether a fold runs.
    pub(crate) folding: bool,
    /// Whether it is among those that readers have not seen as they are now; [`Queues`] sets it.
    is_touched: bool,
}

/// A queue's rows as lanes look at them.
struct Rows<'q> {
    backlog: &'q Backlog,
    layouts: &'q Layouts,
    columns: &'q [Column],
    order_by: Option<usize>,
    deliver_at: Option<usize>,
    now_us: i64,
}

impl Rows<'_> {
    fn value(&self, row: u64, slot: usize) -> Result<Value> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let value = values.and_then(|values| values.into_iter().nth(slot));
        Ok(value.unwrap_or(Value::Null))
    }
}

impl lane::Look for Rows<'_> {
    fn accepts(&self, predicate: &Predicate, row: u64) -> Result<bool> {
        let values = self.layouts.values(self.backlog, self.columns, row)?;
        let values = values.unwrap_or_default();
        let value = |slot: usize| values.get(slot).cloned().unwrap_or(Value::Null);
        Ok(predicate.prepared.accepts(&value))
    }

    fn key(&self, row: u64) -> Result<Option<Vec<u8>>> {
        match self.order_by {
            None => Ok(None),
            Some(slot) => Ok(key_of(&self.value(row, slot)?)),
        }
    }

    fn due_us(&self, row: u64) -> Result<Option<i64>> {
        let Some(slot) = self.deliver_at else {
            return Ok(None);
        };
        let Value::Int(time) = self.value(row, slot)? else {
            return Ok(None); // NULL: at once
        };
        let kind = self.columns.get(slot).map(|column| column.kind);
        let us = match kind {
            Some(ColumnType::Timestamp) => time.saturating_mul(1_000_000),
            _ => time,
        };
        Ok(Some(i64::try_from(us).unwrap_or(i64::MAX)))
    }

    fn now_us(&self) -> i64 {
        self.now_us
    }
}

/// A value as a key; `None` for NULL, which has no like.
pub(crate) fn key_of(value: &Value) -> Option<Vec<u8>> {
    if *value == Value::Null {
        return None;
    }
    let mut key = Vec::new();
    put_value(&mut key, value);
    Some(key)
}

impl QueueTable {
    pub(crate) fn new(definition: Arc<Definition>, backlog: Backlog, folded: u64) -> QueueTable {
        let lanes = options_of(&definition).groups.len().max(1);
        QueueTable {
            definition,
            folded_next: backlog.next(),
            backlog,
            lanes: (0..lanes).map(|_| Lane::new()).collect(),
            layouts: Layouts::default(),
            paused: vec![false; lanes],
            received: [0; SENDERS],
            seen: Seen::default(),
            gone: Vec::new(),
            ended: Vec::new(),
            ages: Ages::default(),
            stats: QueueStats::default(),
            folded,
            changed: false,
            folding: false,
            is_touched: false,
        }
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.definition.columns
    }

    pub(crate) fn options(&self) -> &QueueOptions {
        options_of(&self.definition)
    }

    pub(crate) fn is_bounded(&self) -> bool {
        let options = self.options();
        options.rows_max.is_some() || options.bytes_max.is_some()
    }

    /// The place of a column that an option names.
    pub(crate) fn slot(&self, name: Option<&String>) -> Option<usize> {
        let name = name?;
        self.columns()
            .iter()
            .position(|column| column.name == *name)
    }

    /// The keys of `unique_by=` of rows; none where rows have no such column.
    pub(crate) fn unique_keys(&self, rows: &[Vec<Value>]) -> Vec<Option<Vec<u8>>> {
        match self.slot(self.options().unique_by.as_ref()) {
            None => Vec::new(),
            Some(slot) => {
                let key = |row: &Vec<Value>| row.get(slot).and_then(key_of);
                rows.iter().map(key).collect()
            }
        }
    }

    /// Notes the keys of rows that were inserted at a time.
    pub(crate) fn note_keys(&mut self, rows: &[Vec<Value>], at_us: i64) {
        let window_us = i64::try_from(self.options().unique_for_us).unwrap_or(i64::MAX);
        for key in self.unique_keys(rows).into_iter().flatten() {
            self.seen.note(&key, at_us);
        }
        self.seen.forget(at_us.saturating_sub(window_us));
    }

    /// The lane of a consumer group.
    pub(crate) fn lane_of(&self, group: Option<&str>) -> Result<usize> {
        let groups = &self.options().groups;
        let table = &self.definition.name;
        match group {
            None if groups.is_empty() => Ok(0),
            None => Err(Error::invalid(format!(
                "queue '{table}' has the consumer groups {}: name one of them",
                groups.join(", ")
            ))),
            Some(group) => {
                let lower = group.to_lowercase();
                let found = groups.iter().position(|known| *known == lower);
                found.ok_or_else(|| {
                    Error::invalid(format!("queue '{table}' has no consumer group '{lower}'"))
                })
            }
        }
    }

    /// A lane, and what it looks at.
    fn parts(&mut self, lane: usize, now: Now) -> Option<(&mut Lane, Rows<'_>)> {
        let (order_by, deliver_at) = {
            let options = self.options();
            (
                self.slot(options.order_by.as_ref()),
                self.slot(options.deliver_at.as_ref()),
            )
        };
        let rows = Rows {
            backlog: &self.backlog,
            layouts: &self.layouts,
            columns: &self.definition.columns,
            order_by,
            deliver_at,
            now_us: now.unix_us,
        };
        Some((self.lanes.get_mut(lane)?, rows))
    }

    /// Tells the lanes of rows that are gone, and of those that they are done with.
    pub(crate) fn settle(&mut self, now: Now) {
        for (lane, row) in std::mem::take(&mut self.ended) {
            if let Some((lane, rows)) = self.parts(lane, now) {
                lane.follow(row, &rows);
            }
        }
        if self.gone.is_empty() {
            return;
        }
        let gone = std::mem::take(&mut self.gone);
        for lane in 0..self.lanes.len() {
            if let Some((lane, rows)) = self.parts(lane, now) {
                lane.forget(&gone, &rows);
            }
        }
    }

    /// The journal is applied: what is known of rows that are gone goes.
    pub(crate) fn opened(&mut self, now: Now) {
        self.settle(now);
        let backlog = &self.backlog;
        for lane in &mut self.lanes {
            lane.delivered.retain(|row, _| backlog.contains(*row));
            let acked = lane.gate.acked.iter();
            lane.gate.acked = acked.filter(|row| backlog.contains(*row)).collect();
            lane.gate.delays.retain(|row| backlog.contains(row));
        }
    }

    /// The line of those who wait for rows of a condition.
    pub(crate) fn line(&mut self, lane: usize, condition: Option<&Expression>) -> Result<LineId> {
        let definition = Arc::clone(&self.definition);
        let lane = self.lanes.get_mut(lane);
        let lane = lane.ok_or_else(|| Error::internal("no such lane"))?;
        lane.line(condition, |condition| predicate(&definition, condition))
    }

    /// The columns have changed: the conditions of all lines are asked of them from the first row on. Gives those who
    /// wait for one that names a column that is gone.
    pub(crate) fn ask_again(&mut self) -> Vec<(SessionId, Error)> {
        let definition = Arc::clone(&self.definition);
        let make = |condition: &Expression| predicate(&definition, condition);
        let lanes = self.lanes.iter_mut();
        lanes.flat_map(|lane| lane.ask_again(&make)).collect()
    }

    /// Other columns, and how they come of the ones before.
    pub(crate) fn alter(&mut self, definition: Arc<Definition>, origins: Vec<Origin>) {
        let before = std::mem::replace(&mut self.definition, definition);
        self.layouts
            .push(&self.backlog, before.columns.clone(), origins);
    }

    /// Hands the first free rows of a line to a holder, at most so many.
    pub(crate) fn take(
        &mut self,
        (lane, line): (usize, LineId),
        limit: u32,
        holder: Holder,
        now: Now,
    ) -> Result<Vec<u64>> {
        let mut taken = Vec::new();
        if self.is_paused(lane) {
            return Ok(taken);
        }
        self.settle(now);
        let Some((lane, rows)) = self.parts(lane, now) else {
            return Ok(taken);
        };
        while taken.len() < limit as usize {
            match lane.peek(line, rows.backlog, &rows) {
                Ok(Some(row)) => {
                    lane.hold(row, holder);
                    taken.push(row);
                }
                Err(error) if taken.is_empty() => return Err(error),
                Ok(None) | Err(_) => break, // who asks next is told of what cannot be read
            }
        }
        Ok(taken)
    }

    fn is_paused(&self, lane: usize) -> bool {
        self.paused.get(lane).copied().unwrap_or(false)
    }

    /// Who gets the next row; as [`Lane::next_served`], of any lane.
    pub(crate) fn next_served(
        &mut self,
        now: Now,
    ) -> std::result::Result<Option<SessionId>, (SessionId, Error)> {
        self.settle(now);
        for lane in 0..self.lanes.len() {
            if self.is_paused(lane) {
                continue;
            }
            if let Some((lane, rows)) = self.parts(lane, now)
                && let Some(session) = lane.next_served(rows.backlog, &rows)?
            {
                return Ok(Some(session));
            }
        }
        Ok(None)
    }

    /// Those who stand in line.
    pub(crate) fn waiting(&self) -> usize {
        self.lanes.iter().map(Lane::waiting).sum()
    }

    /// Puts a held row back to its place; one that its owner has deleted stays deleted. True where it is free now.
    pub(crate) fn give_back(&mut self, lane: usize, row: u64, now: Now) -> bool {
        let Some((lane, rows)) = self.parts(lane, now) else {
            return false;
        };
        lane.give_back(row, rows.backlog, &rows)
    }

    /// Makes a row free again that was held and not handed out.
    pub(crate) fn put_back(&mut self, lane: usize, row: u64, now: Now) {
        if let Some((lane, rows)) = self.parts(lane, now) {
            lane.put_back(row, &rows);
        }
    }

    /// Which delivery a row is out in; 0 where nobody has it.
    pub(crate) fn delivery(&self, lane: usize, row: u64) -> u32 {
        let held = self.lanes.get(lane).and_then(|lane| lane.held().get(&row));
        held.map_or(0, |held| held.delivery)
    }

    /// Opens rows whose time has come; true where there was one.
    pub(crate) fn open_due(&mut self, now: Now) -> bool {
        let mut any = false;
        for lane in 0..self.lanes.len() {
            if let Some((lane, rows)) = self.parts(lane, now) {
                any |= lane.open_due(&rows);
            }
        }
        any
    }

    /// When something of it is due on its own: on the steady clock.
    pub(crate) fn next_timer_us(&self, now: Now) -> Option<u64> {
        let leases = self.lanes.iter().filter_map(Lane::next_lease_us).min();
        let due = self
            .lanes
            .iter()
            .filter_map(|lane| lane.gate.delays.next_us());
        let due = due.min().map(|due_us| {
            let left = due_us.saturating_sub(now.unix_us).max(0);
            now.steady_us.saturating_add(left as u64)
        });
        leases.into_iter().chain(due).min()
    }

    /// The rows that a session outside owner mode sees, in order. With consumer groups there is no one whose rows these
    /// are: all of them.
    pub(crate) fn free_rows(&self) -> impl Iterator<Item = u64> + '_ {
        let held = self.own_held();
        self.backlog
            .rows()
            .filter(move |row| held.is_none_or(|held| !held.held().contains_key(row)))
    }

    fn own_held(&self) -> Option<&Lane> {
        match self.options().groups.is_empty() {
            true => self.lanes.first(),
            false => None,
        }
    }

    /// The rows that a session sees, in order; one in owner mode only its own. `table`: this one.
    pub(crate) fn visible_rows<'q>(
        &'q self,
        table: TableId,
        owner: Option<&'q Owned>,
    ) -> Box<dyn Iterator<Item = u64> + 'q> {
        match owner {
            None => Box::new(self.free_rows()),
            Some(owned) => {
                let rows = owned.rows_of(table).iter().copied();
                let is_there = |lane: usize, row: u64| self.is_owed(lane, row);
                Box::new(rows.filter(move |row| is_there(owned.lane(), *row)))
            }
        }
    }

    /// Whether a row is there, and for that lane.
    pub(crate) fn is_owed(&self, lane: usize, row: u64) -> bool {
        let acked = self.lanes.get(lane).map(|lane| &lane.gate.acked);
        self.backlog.contains(row) && acked.is_none_or(|acked| !acked.contains(row))
    }

    /// Rows that [`QueueTable::free_rows`] leaves out.
    pub(crate) fn held_live(&self) -> u64 {
        let held = self.own_held().map(Lane::held);
        let rows = held.into_iter().flat_map(|held| held.keys());
        rows.filter(|row| self.backlog.contains(**row)).count() as u64
    }

    /// Rows out at somebody's, in all lanes.
    pub(crate) fn held_rows(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.held().len() as u64).sum()
    }

    /// Rows whose time has not come.
    pub(crate) fn delayed_rows(&self) -> u64 {
        let lanes = self.lanes.iter();
        lanes.map(|lane| lane.gate.delays.len() as u64).sum()
    }

    /// Rows handed out again.
    pub(crate) fn redelivered(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.redelivered_total).sum()
    }

    /// When the first row that is there came, as far as that is known.
    pub(crate) fn oldest_us(&self) -> Option<i64> {
        let low = self.lanes.iter().map(Lane::lowest).min().unwrap_or(0);
        let first = self.backlog.first_at_or_above(low)?;
        self.ages.of(first)
    }

    /// What each consumer group has before it.
    pub(crate) fn group_reports(&self) -> Vec<GroupReport> {
        let groups = self.options().groups.iter();
        let lanes = self.lanes.iter().zip(&self.paused);
        let report = |(group, (lane, is_paused)): (&String, (&Lane, &bool))| GroupReport {
            group: group.clone(),
            rows: self.backlog.len().saturating_sub(lane.gate.acked.len()),
            owned: lane.held().len() as u64,
            redelivered: lane.redelivered_total,
            is_paused: *is_paused,
        };
        groups.zip(lanes).map(report).collect()
    }

    /// A row is gone.
    pub(crate) fn remove(&mut self, row: u64) {
        if self.backlog.remove(row) && self.is_remembered(row) {
            self.gone.push(row);
        }
    }

    /// Whether a lane knows anything of a row beside that it is there.
    fn is_remembered(&self, row: u64) -> bool {
        let options = self.options();
        let any = options.order_by.is_some() || options.deliver_at.is_some();
        let known = |lane: &Lane| {
            !lane.gate.acked.is_empty()
                || lane.delivered.contains_key(&row)
                || lane.gate.delays.has(row)
        };
        any || self.lanes.iter().any(known)
    }

    /// Rows came back to a lane; who gives them back opens them.
    pub(crate) fn note_returned(&mut self, lane: usize, rows: &[(u64, u32)], not_before_us: i64) {
        let Some(lane) = self.lanes.get_mut(lane) else {
            return;
        };
        for &(row, count) in rows {
            if !self.backlog.contains(row) {
                continue;
            }
            let is_kept = true;
            lane.delivered.insert(row, Delivered { count, is_kept });
            if not_before_us > 0 {
                lane.gate.delays.set(row, not_before_us);
            }
        }
    }

    /// A lane is done with rows; those that no lane waits for any more are gone.
    pub(crate) fn done(&mut self, lane: usize, rows: &[u64]) {
        let is_ordered = self.options().order_by.is_some();
        for &row in rows {
            if !self.backlog.contains(row) {
                continue;
            }
            if is_ordered {
                self.ended.push((lane, row));
            }
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.gate.acked.insert(row);
            }
            let is_done = |lane: &Lane| lane.gate.acked.contains(row);
            if self.lanes.iter().all(is_done) {
                self.remove(row);
            }
        }
    }

    /// Every row is gone but these.
    pub(crate) fn clear(&mut self, kept: &[u64]) {
        self.backlog.clear(kept);
        let known = self.lanes.iter().flat_map(|lane| {
            let delivered = lane.delivered.keys().copied();
            delivered
                .chain(lane.gate.keys.met())
                .chain(lane.gate.acked.iter())
                .chain(lane.gate.delays.rows())
        });
        let gone: Vec<u64> = known.filter(|row| !self.backlog.contains(*row)).collect();
        self.gone.extend(gone);
    }

    /// How its rows are read.
    pub(crate) fn look(&self) -> RowLook<'_> {
        RowLook {
            definition: &self.definition,
            backlog: &self.backlog,
            layouts: &self.layouts,
        }
    }

    /// The queue as it is now, for a reader beside the engine's thread. Costs as [`Backlog::snapshot`], and the held rows.
    pub(crate) fn snapshot(&self) -> QueueSnapshot {
        QueueSnapshot {
            definition: Arc::clone(&self.definition),
            backlog: self.backlog.snapshot(),
            layouts: self.layouts.clone(),
            held: self
                .own_held()
                .map(|lane| lane.held().keys().copied().collect())
                .unwrap_or_default(),
        }
    }

    /// The values of a row that is there.
    pub(crate) fn values(&self, row: u64) -> Result<Option<Vec<Value>>> {
        self.layouts.values(&self.backlog, self.columns(), row)
    }

    /// `queue_stats`.
    pub(crate) fn stats(&self) -> QueueStats {
        let (bytes_total, bytes_removed) = self.backlog.stored_bytes();
        QueueStats {
            bytes_total,
            bytes_removed,
            ..self.stats
        }
    }
}

/// The options of a queue.
pub(crate) fn options_of(definition: &Definition) -> &QueueOptions {
    static NONE: std::sync::LazyLock<QueueOptions> =
        std::sync::LazyLock::new(QueueOptions::default);
    match &definition.kind {
        Kind::Queue(options) => options,
        _ => &NONE,
    }
}

/// A condition ready for a queue's rows.
fn predicate(definition: &Definition, condition: &Expression) -> Result<Predicate> {
    let columns = typed(&definition.columns);
    let prepared = prepare(&definition.name, &columns, Some(condition))?;
    let prepared = prepared.ok_or_else(|| Error::internal("a condition was lost"))?;
    Ok(Predicate::new(condition.clone(), prepared))
}

/// What is needed to read rows of a queue.
#[derive(Clone, Copy)]
pub(crate) struct RowLook<'q> {
    pub(crate) definition: &'q Definition,
    backlog: &'q Backlog,
    layouts: &'q Layouts,
}

impl RowLook<'_> {
    /// The values of a row that is there.
    pub(crate) fn values(&self, row: u64) -> Result<Option<Vec<Value>>> {
        let columns = &self.definition.columns;
        self.layouts.values(self.backlog, columns, row)
    }
}

/// A queue as it was, for one reader.
pub(crate) struct QueueSnapshot {
    definition: Arc<Definition>,
    backlog: Backlog,
    layouts: Layouts,
    held: BTreeSet<u64>,
}

impl QueueSnapshot {
    pub(crate) fn look(&self) -> RowLook<'_> {
        RowLook {
            definition: &self.definition,
            backlog: &self.backlog,
            layouts: &self.layouts,
        }
    }

    /// As [`QueueTable::free_rows`].
    pub(crate) fn free_rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.backlog.rows().filter(|row| !self.held.contains(row))
    }
}

/// Names and types of columns, as expressions look them up.
pub(crate) fn typed(columns: &[Column]) -> Vec<(&str, ColumnType)> {
    columns
        .iter()
        .map(|column| (column.name.as_str(), column.kind))
        .collect()
}
