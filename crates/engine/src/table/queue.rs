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
mod look;
mod queues;
mod report;
mod serve;
#[cfg(test)]
mod tests;
mod unique;

use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) use ages::Ages;
pub(crate) use backlog::Backlog;
pub(crate) use batch::HitBatch;
pub(crate) use chunk::StoredRow;
pub(crate) use file::{ChunkFile, FoldJob, MergeRowsJob};
pub(crate) use gate::Holder;
pub(crate) use lane::{Delivered, Lane, LineId};
pub(crate) use layout::{Layouts, Origin, put_origins, read_origins};
use line::Predicate;
use look::Rows;
pub(crate) use look::key_of;
use query::bind::Scope;
use query::expression::Expression;
use query::schema::Column;
use query::value::Value;
pub(crate) use queues::Queues;
pub(crate) use unique::Seen;

use crate::catalog::TableId;
use crate::command::{Definition, Kind, QueueOptions, QueueStats};
use crate::error::{Error, Result};
use crate::failure;
use crate::manifest::InManifest;
use crate::sessions::Owned;

/// Senders that relay rows into a queue: 0 to 63.
pub(crate) const SENDERS: usize = 64;

/// How far the files of a queue reach, and what the queue knew of its rows at that very position.
///
/// A replay applies every record above `position` to the rows in the files. It has to begin with the lanes of that position:
/// lanes of a later one would mark rows that the replay has yet to add, and would know nothing of rows that it removes.
#[derive(Clone, Default)]
pub(crate) struct Folded {
    /// The last record that the files hold.
    pub(crate) position: u64,
    /// The number that the next row got there.
    pub(crate) next: u64,
    /// The lanes, encoded: pauses, delivery counts, delays, acknowledged rows.
    pub(crate) lanes: Vec<u8>,
}

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
    /// How far its files reach: what the next manifest says of it.
    pub(crate) folded: Folded,
    /// Whether a record above that changed it.
    pub(crate) changed: bool,
    /// The fold that runs: what [`QueueTable::folded`] becomes once its file is in use.
    pub(crate) folding: Option<Folded>,
    /// The position of `folded` in manifests.
    pub(crate) manifests: InManifest,
    /// Whether it is among those that readers have not seen as they are now; [`Queues`] sets it.
    is_touched: bool,
}

impl QueueTable {
    /// A queue whose files hold every record up to `position`.
    pub(crate) fn new(definition: Arc<Definition>, backlog: Backlog, position: u64) -> QueueTable {
        let lanes = options_of(&definition).groups.len().max(1);
        let mut queue = QueueTable {
            definition,
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
            folded: Folded::default(),
            changed: false,
            folding: None,
            manifests: InManifest::default(),
            is_touched: false,
        };
        queue.folded = queue.as_of(position);
        queue
    }

    /// What a manifest says of the queue if its files hold every record up to `position`, the last one applied.
    pub(crate) fn as_of(&self, position: u64) -> Folded {
        Folded {
            position,
            next: self.backlog.next(),
            lanes: self.encoded_lanes(),
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

    /// Other columns, and how they come of the ones before.
    pub(crate) fn alter(&mut self, definition: Arc<Definition>, origins: Vec<Origin>) {
        let before = std::mem::replace(&mut self.definition, definition);
        self.layouts
            .push(&self.backlog, before.columns.clone(), origins);
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

    /// A row is gone.
    pub(crate) fn remove(&mut self, row: u64) {
        if self.backlog.remove(row) && self.is_remembered(row) {
            self.gone.push(row);
        }
    }

    /// Undoes a removal of this batch.
    pub(crate) fn restore(&mut self, row: u64) {
        self.backlog.restore(row);
        self.lanes.iter_mut().for_each(|lane| lane.may_be_free(row));
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
            lane.delivered.insert(row, Delivered::recorded(count));
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

    /// Every row is gone but these. What the lanes know of rows that have yet to come stays: a manifest of an earlier program
    /// has the lanes of a later record than the files, whose rows a replay brings after this.
    pub(crate) fn clear(&mut self, kept: &[u64]) {
        self.backlog.clear(kept);
        let known = self.lanes.iter().flat_map(|lane| {
            let delivered = lane.delivered.keys().copied();
            delivered
                .chain(lane.gate.keys.met())
                .chain(lane.gate.acked.iter())
                .chain(lane.gate.delays.rows())
        });
        let next = self.backlog.next();
        let is_gone = |row: &u64| *row < next && !self.backlog.contains(*row);
        let gone: Vec<u64> = known.filter(is_gone).collect();
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
    let bound = scope(&definition.columns).condition(condition);
    let bound = bound.map_err(|error| failure::of_bind(&definition.name, error))?;
    Ok(Predicate::new(condition.clone(), bound.prepared))
}

/// The columns that a statement on a queue may name.
fn scope(columns: &[Column]) -> Scope<'_> {
    Scope {
        columns,
        has_id: false,
        starred: columns.len(),
        is_searched: false,
    }
}

/// What is needed to read rows of a queue.
#[derive(Clone, Copy)]
pub(crate) struct RowLook<'q> {
    pub(crate) definition: &'q Definition,
    backlog: &'q Backlog,
    layouts: &'q Layouts,
}

impl<'q> RowLook<'q> {
    pub(crate) fn scope(&self) -> Scope<'q> {
        scope(&self.definition.columns)
    }

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
