//! One queue: its rows in insert order, which of them are held, and who waits.

use std::collections::BTreeSet;
use std::sync::Arc;

use query::bind::Scope;
use query::expression::Expression;
use query::schema::Column;
use query::value::Value;

use crate::ages::Ages;
use crate::backlog::Backlog;
use crate::error::{Error, Result};
use crate::lane::{Delivered, Lane};
use crate::layout::{Layouts, Origin};
use crate::options::QueueOptions;
use crate::row_view::{Predicate, key_of};
use crate::unique::Seen;

/// Senders that relay rows into a queue: 0 to 63.
pub const SENDERS: usize = 64;

/// How far the files of a queue reach, and what the queue knew of its rows at that very position.
///
/// A replay applies every record above `position` to the rows in the files. It has to begin with the lanes of that position:
/// lanes of a later one would mark rows that the replay has yet to add, and would know nothing of rows that it removes.
#[derive(Clone, Default)]
pub struct Folded {
    /// The last record that the files hold.
    pub position: u64,
    /// The number that the next row got there.
    pub next: u64,
    /// The lanes, encoded: pauses, delivery counts, delays, acknowledged rows.
    pub lanes: Vec<u8>,
}

/// The counters of `queue_stats`. Those of rows and bytes are of the queue as it is on disk; the others count since the server's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Rows inserted.
    pub rows_written: u64,
    /// Rows deleted.
    pub rows_removed: u64,
    /// Waits that found a row at once.
    pub wait_immediate: u64,
    /// Waits that got a row later.
    pub wait_delayed: u64,
    /// Waits that ran out of time.
    pub wait_timeout: u64,
    /// Rows given back by `queue_abort`.
    pub restored_by_abort: u64,
    /// Rows given back by a connection that went.
    pub restored_by_close: u64,
    /// Bytes of the rows that are kept, removed ones included.
    pub bytes_total: u64,
    /// Bytes of removed rows among them.
    pub bytes_removed: u64,
}

/// A queue as the thread that changes it owns it.
pub struct Queue {
    pub(crate) name: Arc<str>,
    pub(crate) columns: Arc<[Column]>,
    pub(crate) options: QueueOptions,
    /// Its rows.
    pub backlog: Backlog,
    /// One, or one for each consumer group.
    pub lanes: Vec<Lane>,
    pub(crate) layouts: Layouts,
    /// For each lane: no row is handed out.
    pub paused: Vec<bool>,
    /// The last row received from each sender; 0: none.
    pub received: [u64; SENDERS],
    /// Keys of `unique_by=`.
    pub seen: Seen,
    /// Rows that are gone and that the lanes have not been told of.
    pub(crate) gone: Vec<u64>,
    /// Rows that a lane is done with, where the next of their key follows them.
    pub(crate) ended: Vec<(usize, u64)>,
    /// When rows came.
    pub(crate) ages: Ages,
    /// Counted since the start; those of bytes are made when asked for.
    pub stats: QueueStats,
    /// How far its files reach: what the next manifest says of it.
    pub folded: Folded,
    /// Whether a record above that changed it.
    pub changed: bool,
    /// The fold that runs: what [`Queue::folded`] becomes once its file is in use.
    pub folding: Option<Folded>,
}

impl Queue {
    /// A queue of that name whose files hold every record up to `position`.
    #[must_use]
    pub fn new(
        name: &str,
        columns: &[Column],
        options: &QueueOptions,
        backlog: Backlog,
        position: u64,
    ) -> Queue {
        let lanes = options.groups.len().max(1);
        let mut queue = Queue {
            name: name.into(),
            columns: columns.into(),
            options: options.clone(),
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
        };
        queue.folded = queue.as_of(position);
        queue
    }

    /// What a manifest says of the queue if its files hold every record up to `position`, the last one applied.
    pub fn as_of(&self, position: u64) -> Folded {
        Folded {
            position,
            next: self.backlog.next(),
            lanes: self.encoded_lanes(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// What it was declared with.
    #[must_use]
    pub fn options(&self) -> &QueueOptions {
        &self.options
    }

    /// Whether it has `rows_max=` or `bytes_max=`.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        let options = &self.options;
        options.rows_max.is_some() || options.bytes_max.is_some()
    }

    /// The place of a column that an option names.
    pub fn slot(&self, name: Option<&String>) -> Option<usize> {
        let name = name?;
        self.columns()
            .iter()
            .position(|column| column.name == *name)
    }

    /// The keys of `unique_by=` of rows; none where rows have no such column.
    pub fn unique_keys(&self, rows: &[Vec<Value>]) -> Vec<Option<Vec<u8>>> {
        match self.slot(self.options.unique_by.as_ref()) {
            None => Vec::new(),
            Some(slot) => {
                let key = |row: &Vec<Value>| row.get(slot).and_then(key_of);
                rows.iter().map(key).collect()
            }
        }
    }

    /// Notes the keys of rows that were inserted at a time.
    pub fn note_keys(&mut self, rows: &[Vec<Value>], at_us: i64) {
        let window_us = i64::try_from(self.options.unique_for_us).unwrap_or(i64::MAX);
        for key in self.unique_keys(rows).into_iter().flatten() {
            self.seen.note(&key, at_us);
        }
        self.seen.forget(at_us.saturating_sub(window_us));
    }

    /// The lane of a consumer group.
    pub fn lane_of(&self, group: Option<&str>) -> Result<usize> {
        let groups = &self.options.groups;
        let Some(group) = group else {
            return match groups.is_empty() {
                true => Ok(0),
                false => Err(Error::NoGroup {
                    queue: self.name.to_string(),
                    groups: groups.clone(),
                }),
            };
        };
        let lower = group.to_lowercase();
        let found = groups.iter().position(|known| *known == lower);
        found.ok_or_else(|| Error::UnknownGroup {
            queue: self.name.to_string(),
            group: lower,
        })
    }

    /// How many earlier forms of its rows are kept: each ALTER made one while the queue held rows.
    #[must_use]
    pub fn earlier_layouts(&self) -> usize {
        self.layouts.len()
    }

    /// Other columns, and how they come of the ones before.
    pub fn alter(&mut self, columns: &[Column], origins: Vec<Origin>) {
        let before = std::mem::replace(&mut self.columns, columns.into());
        self.layouts.push(&self.backlog, before.to_vec(), origins);
    }

    /// The rows that a session outside owner mode sees, in order. With consumer groups there is no one whose rows these
    /// are: all of them.
    pub fn free_rows(&self) -> impl Iterator<Item = u64> + '_ {
        let held = self.own_held();
        self.backlog
            .rows()
            .filter(move |row| held.is_none_or(|held| !held.held().contains_key(row)))
    }

    fn own_held(&self) -> Option<&Lane> {
        match self.options.groups.is_empty() {
            true => self.lanes.first(),
            false => None,
        }
    }

    /// The rows that a session sees, in order; one in owner mode only its own: `owned` is their lane, and they.
    pub fn visible_rows<'q>(
        &'q self,
        owned: Option<(usize, &'q [u64])>,
    ) -> Box<dyn Iterator<Item = u64> + 'q> {
        match owned {
            None => Box::new(self.free_rows()),
            Some((lane, rows)) => {
                let rows = rows.iter().copied();
                Box::new(rows.filter(move |row| self.is_owed(lane, *row)))
            }
        }
    }

    /// Whether a row is there, and for that lane.
    pub fn is_owed(&self, lane: usize, row: u64) -> bool {
        let acked = self.lanes.get(lane).map(|lane| &lane.gate.acked);
        self.backlog.contains(row) && acked.is_none_or(|acked| !acked.contains(row))
    }

    /// Rows that [`Queue::free_rows`] leaves out.
    pub fn held_live(&self) -> u64 {
        let held = self.own_held().map(Lane::held);
        let rows = held.into_iter().flat_map(|held| held.keys());
        rows.filter(|row| self.backlog.contains(**row)).count() as u64
    }

    /// A row is gone.
    pub fn remove(&mut self, row: u64) {
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
        let options = &self.options;
        let any = options.order_by.is_some() || options.deliver_at.is_some();
        let known = |lane: &Lane| {
            !lane.gate.acked.is_empty()
                || lane.delivered.contains_key(&row)
                || lane.gate.delays.has(row)
        };
        any || self.lanes.iter().any(known)
    }

    /// Rows came back to a lane; who gives them back opens them.
    pub fn note_returned(&mut self, lane: usize, rows: &[(u64, u32)], not_before_us: i64) {
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
    pub fn done(&mut self, lane: usize, rows: &[u64]) {
        let is_ordered = self.options.order_by.is_some();
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
    pub fn clear(&mut self, kept: &[u64]) {
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
    pub fn rows(&self) -> RowReader<'_> {
        RowReader {
            name: &self.name,
            columns: &self.columns,
            backlog: &self.backlog,
            layouts: &self.layouts,
        }
    }

    /// The queue as it is now, for a reader beside the engine's thread. Costs as [`Backlog::snapshot`], and the held rows.
    pub fn snapshot(&self) -> QueueSnapshot {
        QueueSnapshot {
            name: Arc::clone(&self.name),
            columns: Arc::clone(&self.columns),
            backlog: self.backlog.snapshot(),
            layouts: self.layouts.clone(),
            held: self
                .own_held()
                .map(|lane| lane.held().keys().copied().collect())
                .unwrap_or_default(),
        }
    }

    /// The values of a row that is there.
    pub fn values(&self, row: u64) -> Result<Option<Vec<Value>>> {
        self.layouts.values(&self.backlog, self.columns(), row)
    }
}

/// A condition ready for rows of these columns.
pub(crate) fn predicate(
    queue: &str,
    columns: &[Column],
    condition: &Expression,
) -> Result<Predicate> {
    let bound = scope(columns).condition(condition);
    let bound = bound.map_err(|error| Error::Condition {
        queue: queue.to_owned(),
        error,
    })?;
    Ok(Predicate::new(condition.clone(), bound.prepared))
}

/// The columns that a statement on a queue may name.
pub(crate) fn scope(columns: &[Column]) -> Scope<'_> {
    Scope {
        columns,
        has_id: false,
        starred: columns.len(),
        is_searched: false,
    }
}

/// What is needed to read rows of a queue.
#[derive(Clone, Copy)]
pub struct RowReader<'q> {
    /// Its name.
    pub name: &'q str,
    columns: &'q [Column],
    backlog: &'q Backlog,
    layouts: &'q Layouts,
}

impl<'q> RowReader<'q> {
    /// The columns that a statement on the queue may name.
    #[must_use]
    pub fn scope(&self) -> Scope<'q> {
        scope(self.columns)
    }

    /// The values of a row that is there.
    pub fn values(&self, row: u64) -> Result<Option<Vec<Value>>> {
        self.layouts.values(self.backlog, self.columns, row)
    }
}

/// A queue as it was, for one reader.
pub struct QueueSnapshot {
    name: Arc<str>,
    columns: Arc<[Column]>,
    backlog: Backlog,
    layouts: Layouts,
    held: BTreeSet<u64>,
}

impl QueueSnapshot {
    /// How its rows are read.
    #[must_use]
    pub fn rows(&self) -> RowReader<'_> {
        RowReader {
            name: &self.name,
            columns: &self.columns,
            backlog: &self.backlog,
            layouts: &self.layouts,
        }
    }

    /// As [`Queue::free_rows`].
    pub fn free_rows(&self) -> impl Iterator<Item = u64> + '_ {
        self.backlog.rows().filter(|row| !self.held.contains(row))
    }
}
