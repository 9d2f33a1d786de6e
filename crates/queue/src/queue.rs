//! A queue: its backlog, its lanes, and what the manifest keeps beside the rows.
//!
//! The engine applies each record of a queue here, when it was decided and again in recovery:
//!
//! | record | call |
//! |---|---|
//! | `Rows`, `Documents`, `Hits` | [`Backlog::push`], [`Backlog::push_hits`], [`Queue::note_keys`] |
//! | `RemoveRows` | [`Queue::remove`] |
//! | `Done`: a consumer group has ended rows | [`Queue::done`] |
//! | `Returned`: rows came back, with delivery counts or a delay | [`Queue::note_returned`] |
//! | `Clear` | [`Queue::clear`] |
//! | `Alter` | [`Queue::alter`] |
//! | `Pause` | [`Queue::paused`] |
//!
//! Taking a row writes no record.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use relation::bind::Scope;
use relation::expression::Expression;
use relation::schema::Column;
use relation::value::Value;

use crate::ages::Ages;
use crate::backlog::Backlog;
use crate::error::{Error, Result};
use crate::ids::RowNumber;
use crate::lane::{DeliveryCount, Lane};
use crate::layout::{Layouts, Origin};
use crate::options::QueueOptions;
use crate::row_view::{Predicate, key_of};
use crate::unique::Seen;

/// Relays that a queue can tell apart: sender numbers are 0 to 63.
pub const SENDERS: usize = 64;

/// The checkpoint of a queue: the journal position that its files reach, with the lanes as they were at that position.
///
/// # Example
/// A queue with the groups `mail` and `audit`. A fold begins after record 41:
///
/// | record | says | |
/// |---|---|---|
/// | 40 | rows 1 to 100 | goes to the file `41.rows` |
/// | 41 | `mail` has ended row 7 | in `lanes`, with `position` 41 and `next` 101 |
/// | 42 | rows 101 to 120 | above the checkpoint: replayed |
/// | 43 | `mail` has ended row 110 | above the checkpoint: replayed |
///
/// Records 42 and 43 are applied while the file is written. A manifest written after record 43 still says 41, 101 and the
/// lanes of record 41. A start opens `41.rows`, takes the lanes, and replays 42 and 43.
///
/// # Invariants
/// - The files hold every row of the records up to `position`, and none of the records above it. Rows that were removed
///   later may be marked removed already: removing them again changes nothing.
/// - `lanes` are those of `position`. Later lanes would hold marks of rows that the replay has yet to add, such as row 110.
///   They would have lost the marks of rows that the replay removes.
#[derive(Clone, Default)]
pub struct Folded {
    /// The last record whose rows the files hold.
    pub position: u64,
    /// The number that the next row had at that record.
    pub next: RowNumber,
    /// The lanes, encoded: pauses, recorded delivery counts and delays, rows that groups have ended.
    pub lanes: Vec<u8>,
}

/// The counters of `queue_stats`. Bytes are those of now; the others count since the server's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Rows inserted.
    pub rows_written: u64,
    /// Rows deleted or ended; a row counts once for each consumer group that ends it.
    pub rows_removed: u64,
    /// Waits that found a row at once.
    pub wait_immediate: u64,
    /// Waits that got a row after standing in line.
    pub wait_delayed: u64,
    /// Waits whose time ran out; a wait for several queues counts in each.
    pub wait_timeout: u64,
    /// Rows given back by `queue_abort`.
    pub restored_by_abort: u64,
    /// Rows given back because their connection closed.
    pub restored_by_close: u64,
    /// Bytes of the rows in memory and in files, removed rows included whose room is not free yet.
    pub bytes_total: u64,
    /// The part of `bytes_total` that removed rows take, estimated by their number.
    pub bytes_removed: u64,
}

/// A queue as the engine's thread owns it. Readers on other threads get a [`QueueSnapshot`].
///
/// # Example: groups, leases and a restart
/// A queue with `groups='mail,audit'` and `max_deliveries='5'`. Its workers take rows under leases of 30 s. Row 7:
///
/// | time | calls | record | lane of `mail` | lane of `audit` |
/// |---|---|---|---|---|
/// | 12:00:00 | [`Backlog::push`] | `Rows` | free | free |
/// | 12:00:01 | [`Queue::take`] for `mail` | none | held until 12:00:31, delivery 1 | free |
/// | 12:00:02 | [`Queue::take`] for `audit` | none | as before | held until 12:00:32, delivery 1 |
/// | 12:00:05 | `audit` ends it: [`Queue::done`], [`Queue::let_go`] | `Done` | as before | ended |
/// | 12:00:31 | [`Queue::expired`], [`Queue::note_returned`], [`Queue::give_back`] | `Returned` | free, came back once | ended |
/// | 12:00:40 | [`Queue::take`] for `mail` | none | held until 12:01:10, delivery 2 | ended |
/// | 12:00:50 | the server is killed and started again | | free, came back once | ended |
/// | 12:00:55 | [`Queue::take`] for `mail` | none | held until 12:01:25, delivery 2 | ended |
/// | 12:01:00 | `mail` ends it: [`Queue::done`], [`Queue::let_go`] | `Done` | gone | gone |
///
/// The restart forgets holders and leases. It keeps what records say: rows, ended rows, counts of deliveries, delays. The two
/// deliveries with number 2 are told apart by their receipts, which name the start of the server: the first is late. Without
/// `max_deliveries=` a return without a delay writes no `Returned` record, and the delivery of 12:00:55 has number 1 again.
pub struct Queue {
    pub(crate) name: Arc<str>,
    pub(crate) columns: Arc<[Column]>,
    pub(crate) options: QueueOptions,
    /// The rows that are not removed, in insert order.
    pub backlog: Backlog,
    /// One lane, or one for each consumer group in the order of `groups=`.
    pub lanes: Vec<Lane>,
    pub(crate) layouts: Layouts,
    /// For each lane, whether QUEUE_PAUSE has stopped it: it hands out no row then.
    pub paused: Vec<bool>,
    /// For each sender, the number at the source of the last row that it relayed; 0: none came. An INSERT that relays the same
    /// row again is passed over.
    pub received: [u64; SENDERS],
    /// Keys of `unique_by=`, with their times.
    pub seen: Seen,
    /// Removed rows that a lane may have marks of; [`Queue::settle`] tells the lanes.
    pub(crate) gone: Vec<RowNumber>,
    /// (lane, row): rows that a lane has ended, in a queue with `order_by=`. [`Queue::settle`] lets out the next of their key.
    pub(crate) ended: Vec<(usize, RowNumber)>,
    /// When rows came.
    pub(crate) ages: Ages,
    /// Counters since the start. Its bytes are 0: [`Queue::stats`] computes them.
    pub stats: QueueStats,
    /// The checkpoint: what the next manifest says of the queue.
    pub folded: Folded,
    /// Whether a record above the checkpoint, or above the fold that runs, has changed the queue.
    pub changed: bool,
    /// The checkpoint of the fold that runs; it replaces [`Queue::folded`] once the fold's file is in use.
    pub folding: Option<Folded>,
    /// Units that the conditions of waits may still spend, for now.
    pub(crate) condition_units: Arc<AtomicU64>,
    /// The number of the first row that the unit which is applied now may put.
    pub(crate) unit_from: Option<RowNumber>,
}

impl Queue {
    /// A queue over a backlog whose files hold the rows of every record up to `position`. Its lanes know nothing yet.
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
            condition_units: Arc::new(AtomicU64::new(u64::MAX)),
            unit_from: None,
        };
        queue.folded = queue.as_of(position);
        queue
    }

    /// The checkpoint at `position`, which must be the last record applied. Cost: the lanes' marks.
    pub fn as_of(&self, position: u64) -> Folded {
        Folded {
            position,
            next: self.backlog.next(),
            lanes: self.encoded_lanes(),
        }
    }

    /// The name of its table, lower case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The columns of now; rows from before an ALTER are read as these.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The options of CREATE TABLE.
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

    /// The place of a column among the queue's; `None` for no name or an unknown one.
    pub fn slot(&self, name: Option<&String>) -> Option<usize> {
        let name = name?;
        self.columns()
            .iter()
            .position(|column| column.name == *name)
    }

    /// The `unique_by=` key of each row, `None` for NULL; empty where the queue has no such option.
    pub fn unique_keys(&self, rows: &[Vec<Value>]) -> Vec<Option<Vec<u8>>> {
        match self.slot(self.options.unique_by.as_ref()) {
            None => Vec::new(),
            Some(slot) => {
                let key = |row: &Vec<Value>| row.get(slot).and_then(key_of);
                rows.iter().map(key).collect()
            }
        }
    }

    /// Notes the `unique_by=` keys of rows that were inserted at `at_us`, and drops keys older than `unique_for=`.
    pub fn note_keys(&mut self, rows: &[Vec<Value>], at_us: i64) {
        let window_us = i64::try_from(self.options.unique_for_us.unwrap_or(0)).unwrap_or(i64::MAX);
        for key in self.unique_keys(rows).into_iter().flatten() {
            self.seen.note(&key, at_us);
        }
        self.seen.forget(at_us.saturating_sub(window_us));
    }

    /// The place of a consumer group's lane; 0 for no group in a queue without groups. Case does not count.
    ///
    /// Errors: `NoGroup` where the queue has groups and none is named, `UnknownGroup`.
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

    /// Earlier layouts that are kept: each ALTER of a queue with rows adds one.
    #[must_use]
    pub fn earlier_layouts(&self) -> usize {
        self.layouts.len()
    }

    /// Changes the columns. `origins` says for each new column where rows from before take its value from. Rewrites no row.
    pub fn alter(&mut self, columns: &[Column], origins: Vec<Origin>) {
        let before = std::mem::replace(&mut self.columns, columns.into());
        self.layouts.push(&self.backlog, before.to_vec(), origins);
    }

    /// Gives the queue its new name, and the new name of the queue in `dead=`. Rows, holders and waiters stay.
    pub fn rename(&mut self, name: &str, dead: Option<String>) {
        self.name = name.into();
        self.options.dead = dead;
    }

    /// The rows that a session outside owner mode sees, rising: those that nobody holds. With consumer groups each group holds
    /// rows of its own, so all rows are shown.
    pub fn free_rows(&self) -> impl Iterator<Item = RowNumber> + '_ {
        let held = self.own_held();
        self.backlog
            .rows()
            .filter(move |row| held.is_none_or(|held| !held.held().contains_key(row)))
    }

    /// Whether a row is among [`Queue::free_rows`].
    #[must_use]
    pub fn is_free(&self, row: RowNumber) -> bool {
        let held = self.own_held();
        self.backlog.contains(row) && held.is_none_or(|held| !held.held().contains_key(&row))
    }

    fn own_held(&self) -> Option<&Lane> {
        match self.options.groups.is_empty() {
            true => self.lanes.first(),
            false => None,
        }
    }

    /// The rows that a session sees. `owned`: the lane and rows of a session in owner mode, which sees these and no others, in
    /// this order. `None`: as [`Queue::free_rows`].
    pub fn visible_rows<'q>(
        &'q self,
        owned: Option<(usize, &'q [RowNumber])>,
    ) -> Box<dyn Iterator<Item = RowNumber> + 'q> {
        match owned {
            None => Box::new(self.free_rows()),
            Some((lane, rows)) => {
                let rows = rows.iter().copied();
                Box::new(rows.filter(move |row| self.is_owed(lane, *row)))
            }
        }
    }

    /// Whether a row is in the backlog and the lane's group has yet to end it.
    pub fn is_owed(&self, lane: usize, row: RowNumber) -> bool {
        let acked = self.lanes.get(lane).map(|lane| &lane.gate.acked);
        self.backlog.contains(row) && acked.is_none_or(|acked| !acked.contains(row.0))
    }

    /// Number of rows that [`Queue::free_rows`] leaves out.
    pub fn held_live(&self) -> u64 {
        let held = self.own_held().map(Lane::held);
        let rows = held.into_iter().flat_map(|held| held.keys());
        rows.filter(|row| self.backlog.contains(**row)).count() as u64
    }

    /// Removes a row for good, also where a worker holds it. Nothing where it is not in the backlog.
    pub fn remove(&mut self, row: RowNumber) {
        if self.backlog.remove(row) && self.is_remembered(row) {
            self.gone.push(row);
        }
    }

    /// Undoes a removal of the unit that is taken back.
    pub(crate) fn restore(&mut self, row: RowNumber) {
        self.backlog.restore(row);
        self.lanes.iter_mut().for_each(|lane| lane.may_be_free(row));
    }

    /// Whether a lane may have marks of a row that is removed, so that it must be told.
    fn is_remembered(&self, row: RowNumber) -> bool {
        let options = &self.options;
        let any = options.order_by.is_some() || options.deliver_at.is_some();
        let known = |lane: &Lane| {
            !lane.gate.acked.is_empty()
                || lane.delivery_counts.contains_key(&row)
                || lane.gate.delays.has(row)
        };
        any || self.lanes.iter().any(known)
    }

    /// Applies a `Returned` record: notes each row's count of deliveries. No row may go out before `not_before_us`, in
    /// microseconds since 1970-01-01 UTC; 0: at once. Frees no row: [`Queue::give_back`] does.
    pub fn note_returned(&mut self, lane: usize, rows: &[(RowNumber, u32)], not_before_us: i64) {
        let Some(lane) = self.lanes.get_mut(lane) else {
            return;
        };
        for &(row, count) in rows {
            if !self.backlog.contains(row) {
                continue;
            }
            lane.delivery_counts
                .insert(row, DeliveryCount::recorded(count));
            if not_before_us > 0 {
                lane.gate.delays.set(row, not_before_us);
            }
        }
    }

    /// Applies a `Done` record: a lane has ended rows. A row that every lane has ended is removed.
    pub fn done(&mut self, lane: usize, rows: &[RowNumber]) {
        let is_ordered = self.options.order_by.is_some();
        for &row in rows {
            if !self.backlog.contains(row) {
                continue;
            }
            if is_ordered {
                self.ended.push((lane, row));
            }
            if let Some(lane) = self.lanes.get_mut(lane) {
                lane.gate.acked.insert(row.0);
            }
            let is_done = |lane: &Lane| lane.gate.acked.contains(row.0);
            if self.lanes.iter().all(is_done) {
                self.remove(row);
            }
        }
    }

    /// Removes every row but those in `kept`. The lanes keep their marks of rows from the next number on. In manifests of
    /// earlier programs the lanes may be later than the files, and the replay then has yet to add these rows.
    pub fn clear(&mut self, kept: &[RowNumber]) {
        self.backlog.clear(kept);
        let known = self.lanes.iter().flat_map(|lane| {
            let counted = lane.delivery_counts.keys().copied();
            counted
                .chain(lane.gate.keys.met())
                .chain(lane.gate.acked.iter().map(RowNumber))
                .chain(lane.gate.delays.rows())
        });
        let next = self.backlog.next();
        let is_gone = |row: &RowNumber| *row < next && !self.backlog.contains(*row);
        let gone: Vec<RowNumber> = known.filter(is_gone).collect();
        self.gone.extend(gone);
    }

    /// The reader of its rows.
    pub fn rows(&self) -> RowReader<'_> {
        RowReader {
            name: &self.name,
            columns: &self.columns,
            backlog: &self.backlog,
            layouts: &self.layouts,
        }
    }

    /// The queue as it is now, for a reader on another thread. Cost: the chunks, the marks of removed rows, the rows of the
    /// open chunk, and the held rows.
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

    /// The values of a row in the columns of now; `None` where the row is gone. Reads the row's file where it is in one.
    pub fn values(&self, row: RowNumber) -> Result<Option<Vec<Value>>> {
        self.layouts.values(&self.backlog, self.columns(), row)
    }
}

/// A condition prepared for rows of these columns. Error: `Condition`, naming the queue.
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
        is_standing: false,
    }
}

/// Reads rows of a queue or of a snapshot of it.
#[derive(Clone, Copy)]
pub struct RowReader<'q> {
    /// The name of the queue.
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

    /// The values of a row in the columns of now; `None` where the row is gone.
    pub fn values(&self, row: RowNumber) -> Result<Option<Vec<Value>>> {
        self.layouts.values(self.backlog, self.columns, row)
    }
}

/// A queue as it was at one moment, for one reader on another thread.
pub struct QueueSnapshot {
    name: Arc<str>,
    columns: Arc<[Column]>,
    backlog: Backlog,
    layouts: Layouts,
    held: BTreeSet<RowNumber>,
}

impl QueueSnapshot {
    /// The reader of its rows.
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
    pub fn free_rows(&self) -> impl Iterator<Item = RowNumber> + '_ {
        self.backlog.rows().filter(|row| !self.held.contains(row))
    }

    /// The rows from this one on, rising; held ones too.
    pub fn rows_from(&self, row: RowNumber) -> impl Iterator<Item = RowNumber> + '_ {
        self.backlog.rows_from(row)
    }

    /// Whether nobody holds a row.
    #[must_use]
    pub fn is_free(&self, row: RowNumber) -> bool {
        !self.held.contains(&row)
    }

    /// The number that the next row gets.
    #[must_use]
    pub fn next(&self) -> RowNumber {
        self.backlog.next()
    }
}
