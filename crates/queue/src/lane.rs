//! A lane hands out the rows of a queue: which rows are free, which are held, and which sessions wait.
//!
//! The [`Backlog`] knows which rows there are and what they hold; the [`Gate`] knows which rows may not go out. A queue has
//! one lane, or one lane for each consumer group.

use std::collections::{BTreeMap, BTreeSet};

use relation::expression::Expression;

use crate::backlog::Backlog;
use crate::error::{Error, Result};
use crate::gate::{Gate, Held, Holder};
use crate::ids::{RowNumber, SessionId};
use crate::limits::IDLE_LINES_MAX;
use crate::line::{Found, Line};
use crate::row_view::{Predicate, RowView};

/// Id of a line within its lane. 0 is the line of sessions that wait without a condition; it is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineId(u32);

/// The line of sessions that take any row.
pub(crate) const EVERY_ROW: LineId = LineId(0);

/// How often a row came back to its lane. Its next delivery is number `count` + 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeliveryCount {
    /// Times the row came back after a delivery, by lease, abort or lost connection.
    pub(crate) count: u32,
    /// The count in the last `Returned` record of the row; 0 where there is none. The manifest stores this number. A lease
    /// that lapses in a queue without `max_deliveries=` writes no record, so a restart forgets that delivery.
    pub(crate) recorded: u32,
}

impl DeliveryCount {
    /// The count of a `Returned` record or of the manifest.
    pub(crate) fn recorded(count: u32) -> DeliveryCount {
        DeliveryCount {
            count,
            recorded: count,
        }
    }
}

/// Which rows of a queue are free, which are held, and which sessions wait, for one consumer group or for all workers.
///
/// # Example
/// A queue without groups and with `deliver_at=` got the rows 1 to 7. At 12:00:00:
///
/// | row | what happened | state | where the lane keeps it |
/// |---|---|---|---|
/// | 1 | taken, ended | gone | nowhere, and the backlog has removed it |
/// | 2 | taken by session 9 | held | `gate.held`: session 9, delivery 1 |
/// | 3 | taken by receipt, the lease is over | free again | `free_below_cursor`; `delivery_counts`: came back once |
/// | 4 | as row 3, then taken again | held until 12:00:30 | `gate.held`: lease, delivery 2; `leases`; `delivery_counts`: once |
/// | 5 | its column says 12:05:00 | delayed | `gate.delays` |
/// | 6 | taken by session 7 | held | `gate.held`; `cursor` is 6 |
/// | 7 | | free | nowhere: rows above the cursor need no mark |
///
/// The next worker gets row 3, the one after it row 7. If session 9 goes, row 2 enters `free_below_cursor` and is the first again. At
/// 12:05:00 row 5 enters `free_below_cursor`. In a queue with groups `gate.acked` has the rows that this lane's group has ended and
/// another group has not; they stay in the backlog. [`crate::Queue`] has an example with groups.
///
/// # Invariants
/// - A row of the backlog below `cursor` is in `free_below_cursor`, or the gate keeps it back. Else no worker without a condition
///   would ever get it.
/// - `free_below_cursor` may name rows that are gone or that the gate keeps back by now. Readers check each row, and drop it then.
/// - `leases` has one entry for each held row with a lease, with the same time. A row without its entry would not come back.
/// - Every row of the backlog below `held_below` is held. `first_not_held` begins there; too high a bound hides rows from
///   `when_full='drop_oldest'`.
/// - `delivery_counts` has every row of the backlog that came back, also while it is held again. It gives the next delivery its
///   number. A receipt of an earlier delivery is late, because its number is lower.
/// - `waiting` is the number of tickets in all lines.
///
/// # How a row moves
/// - `peek` finds a free row, `hold` takes it.
/// - `let_go`: a held row was ended or deleted.
/// - `give_back`: a held row is free again, and the delivery counts.
/// - `put_back`: no worker saw the row; it is free again, and the delivery does not count.
/// - `open_due`: rows whose delay has ended are free.
/// - `forget`: rows are gone, and so are their marks.
#[derive(Default)]
pub struct Lane {
    /// Where the search for a row without a condition goes on. It has passed every row below.
    cursor: RowNumber,
    /// Rows below the cursor that became free again, or free for the first time when their delay ended.
    free_below_cursor: BTreeSet<RowNumber>,
    pub(crate) gate: Gate,
    lines: BTreeMap<LineId, Line>,
    next_line: u32,
    /// Calls of `line` with a condition: the clock of [`Line::asked`].
    asked: u64,
    /// Tickets in all lines.
    waiting: usize,
    /// Rows that came back, by row.
    pub(crate) delivery_counts: BTreeMap<RowNumber, DeliveryCount>,
    /// (end of the lease on the steady clock in microseconds, row).
    leases: BTreeSet<(u64, RowNumber)>,
    /// Second and later deliveries since the server's start.
    pub(crate) redelivered_total: u64,
    /// Every row of the backlog below this one is held.
    held_below: RowNumber,
}

/// Memory of one mark of a row: an entry in one or two trees. Bytes, estimated.
const MARK_BYTES: usize = 64;

impl Lane {
    /// Memory of leases, delays, delivery counts, returned rows and keys. Bytes, estimated. A held row counts twice: it may
    /// have an entry in `leases` too.
    pub(crate) fn marks_bytes(&self) -> u64 {
        let gate = &self.gate;
        let marks = 2 * gate.held.len()
            + gate.delays.len()
            + self.delivery_counts.len()
            + self.free_below_cursor.len();
        (marks * MARK_BYTES + gate.keys.bytes()) as u64
    }

    pub(crate) fn new() -> Lane {
        Lane {
            lines: BTreeMap::from([(EVERY_ROW, Line::new(None))]),
            next_line: 1,
            ..Lane::default()
        }
    }

    /// The held rows, by row. A row that its owner has deleted stays here until the owner lets go of it.
    pub fn held(&self) -> &BTreeMap<RowNumber, Held> {
        &self.gate.held
    }

    /// Tickets in all lines. A session that waits in two lines counts twice.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The line of a condition: the one that is there, or a new one whose condition `make` has prepared. Cost: the lines.
    pub(crate) fn line(
        &mut self,
        condition: Option<&Expression>,
        make: impl FnOnce(&Expression) -> Result<Predicate>,
    ) -> Result<LineId> {
        let Some(condition) = condition else {
            return Ok(EVERY_ROW);
        };
        self.asked += 1;
        let known = self
            .lines
            .iter_mut()
            .find(|(_, line)| line.is_of(condition));
        if let Some((&known, line)) = known {
            line.asked = self.asked;
            return Ok(known);
        }
        let predicate = make(condition)?;
        self.forget_idle();
        let made = LineId(self.next_line);
        self.next_line = self.next_line.wrapping_add(1).max(1);
        let mut line = Line::new(Some(predicate));
        line.asked = self.asked;
        self.lines.insert(made, line);
        Ok(made)
    }

    /// Drops the least recently used line that has no waiters, where there are more than [`IDLE_LINES_MAX`] lines. The lines
    /// of one wait are fewer than that, so a wait never drops a line that it has just asked for.
    fn forget_idle(&mut self) {
        if self.lines.len() <= IDLE_LINES_MAX {
            return;
        }
        let idle = |(_, line): &(&LineId, &Line)| line.is_idle();
        let idle = self.lines.iter().skip(1).filter(idle);
        let oldest = idle.min_by_key(|(_, line)| line.asked).map(|(id, _)| *id);
        oldest.map(|id| self.lines.remove(&id));
    }

    /// Adds a session to a line. Tickets are unique in the server and rise with arrival: the lowest one is served first.
    pub fn stand(&mut self, line: LineId, ticket: u64, session: SessionId) {
        if let Some(line) = self.lines.get_mut(&line)
            && line.tickets.insert(ticket, session).is_none()
        {
            self.waiting += 1;
        }
    }

    /// Removes a ticket from a line; nothing where it is not there.
    pub fn step_out(&mut self, line: LineId, ticket: u64) {
        if let Some(line) = self.lines.get_mut(&line)
            && line.tickets.remove(&ticket).is_some()
        {
            self.waiting -= 1;
        }
    }

    /// The sessions that wait, each once for every line that it stands in.
    pub fn standing(&self) -> Vec<SessionId> {
        let tickets = self.lines.values().flat_map(|line| line.tickets.values());
        tickets.copied().collect()
    }

    /// Prepares every condition for the columns after an ALTER, and asks each row again. Drops a line whose condition can not
    /// be prepared any more; returns its sessions, each with the error.
    pub(crate) fn ask_again(
        &mut self,
        make: &dyn Fn(&Expression) -> Result<Predicate>,
    ) -> Vec<(SessionId, Error)> {
        let (mut failed, waiting) = (Vec::new(), &mut self.waiting);
        self.lines.retain(|_, line| match line.ask_again(make) {
            Ok(()) => true,
            Err(error) => {
                *waiting -= line.tickets.len();
                let standing = line.tickets.values();
                failed.extend(standing.map(|session| (*session, error.clone())));
                false
            }
        });
        failed
    }

    /// The first free row that a line's condition takes; it stays free. Amortised cost: each line passes each row once.
    pub(crate) fn peek(
        &mut self,
        line: LineId,
        backlog: &Backlog,
        view: &dyn RowView,
    ) -> Result<Found> {
        if line == EVERY_ROW {
            let row = self.first_free(backlog, view)?;
            return Ok(row.map_or(Found::None, Found::Row));
        }
        match self.lines.get_mut(&line) {
            Some(line) => line.first(backlog, &mut self.gate, view),
            None => Ok(Found::None),
        }
    }

    /// Whether a line has rows that were not asked yet.
    pub(crate) fn has_unasked(&self, line: LineId, backlog: &Backlog) -> bool {
        let line = self.lines.get(&line);
        line.is_some_and(|line| line.has_unasked(backlog))
    }

    /// The same, of any line with waiters.
    pub(crate) fn is_searching(&self, backlog: &Backlog) -> bool {
        let mut lines = self.lines.values().filter(|line| !line.is_idle());
        lines.any(|line| line.has_unasked(backlog))
    }

    fn first_free(&mut self, backlog: &Backlog, view: &dyn RowView) -> Result<Option<RowNumber>> {
        while let Some(&row) = self.free_below_cursor.first() {
            if backlog.contains(row) && self.gate.is_open(row) {
                return Ok(Some(row));
            }
            self.free_below_cursor.pop_first();
        }
        while let Some(row) = backlog.first_at_or_above(self.cursor) {
            if self.gate.lets(row, view)? {
                self.cursor = row;
                return Ok(Some(row));
            }
            self.cursor = row.plus(1);
        }
        self.cursor = backlog.next();
        Ok(None)
    }

    /// The session to be served next. Each line with waiters offers the first free row that its condition takes, and the lowest
    /// of these rows goes out. Where several lines offer it, it goes to the longest wait. `None` where no line has a row.
    ///
    /// Error: the session at the front of a line whose condition could not read a row.
    pub(crate) fn next_served(
        &mut self,
        backlog: &Backlog,
        view: &dyn RowView,
    ) -> std::result::Result<Option<SessionId>, (SessionId, Error)> {
        if self.waiting == 0 {
            return Ok(None);
        }
        let mut best: Option<(RowNumber, u64, SessionId)> = None;
        let mut after = None;
        while let Some((line, ticket, session)) = self.next_front(after) {
            after = Some(line);
            let found = self.peek(line, backlog, view);
            let row = match found.map_err(|error| (session, error))? {
                Found::Row(row) => row,
                Found::None | Found::NotYet => continue,
            };
            if best.is_none_or(|(other, waits, _)| (row, ticket) < (other, waits)) {
                best = Some((row, ticket, session));
            }
        }
        Ok(best.map(|(_, _, session)| session))
    }

    /// The first line above `after` that has waiters, with the ticket and session at its front.
    fn next_front(&self, after: Option<LineId>) -> Option<(LineId, u64, SessionId)> {
        let from = after.map_or(0, |LineId(id)| id + 1);
        self.lines.range(LineId(from)..).find_map(|(id, line)| {
            let (ticket, session) = line.front()?;
            Some((*id, ticket, session))
        })
    }

    /// Gives a free row to a holder and numbers the delivery.
    pub(crate) fn hold(&mut self, row: RowNumber, holder: Holder) {
        let before = self
            .delivery_counts
            .get(&row)
            .map_or(0, |before| before.count);
        let delivery = before.saturating_add(1);
        self.redelivered_total += u64::from(before > 0);
        if let Holder::Lease { until_us } = holder {
            self.leases.insert((until_us, row));
        }
        self.gate.held.insert(row, Held { holder, delivery });
        self.free_below_cursor.remove(&row);
    }

    /// The first row of the backlog that is not held. Cost: the rows that were taken since the last call.
    pub(crate) fn first_not_held(&mut self, backlog: &Backlog) -> Option<RowNumber> {
        while let Some(row) = backlog.first_at_or_above(self.held_below) {
            if !self.gate.held.contains_key(&row) {
                return Some(row);
            }
            self.held_below = row.plus(1);
        }
        None
    }

    /// Lets go of a row that this group has ended and that stays in the backlog for other groups.
    pub(crate) fn let_go_of_kept(&mut self, row: RowNumber) {
        self.let_go(row);
        self.may_be_free(row);
    }

    /// A row of the backlog is no longer held: `held_below` must not be above it.
    pub(crate) fn may_be_free(&mut self, row: RowNumber) {
        self.held_below = self.held_below.min(row);
    }

    /// Removes a row's holder and lease. The row does not become free: it is gone, or the caller frees it.
    pub(crate) fn let_go(&mut self, row: RowNumber) -> Option<Held> {
        let held = self.gate.held.remove(&row)?;
        if let Holder::Lease { until_us } = held.holder {
            self.leases.remove(&(until_us, row));
        }
        Some(held)
    }

    /// Moves the end of a row's lease to `until_us`, later or earlier, on the steady clock. Nothing where no lease holds it.
    pub fn extend(&mut self, row: RowNumber, until_us: u64) {
        if let Some(held) = self.gate.held.get_mut(&row)
            && let Holder::Lease { until_us: before } = held.holder
        {
            self.leases.remove(&(before, row));
            self.leases.insert((until_us, row));
            held.holder = Holder::Lease { until_us };
        }
    }

    /// Ends a delivery without an acknowledgement: the row is free again at its place, at once or when its delay has ended.
    /// False where the row is gone, not held, or ended by this group.
    pub(crate) fn give_back(
        &mut self,
        row: RowNumber,
        backlog: &Backlog,
        view: &dyn RowView,
    ) -> bool {
        let Some(held) = self.let_go(row) else {
            return false;
        };
        if !backlog.contains(row) || self.gate.acked.contains(row.0) {
            return false;
        }
        let delivered = self.delivery_counts.entry(row).or_default();
        delivered.count = delivered.count.max(held.delivery);
        self.may_be_free(row);
        self.open(row, view);
        true
    }

    /// Undoes `hold`: the row is free again, and the delivery does not count because no worker saw the row.
    pub(crate) fn put_back(&mut self, row: RowNumber, view: &dyn RowView) {
        self.let_go_of_kept(row);
        self.open(row, view);
    }

    /// Offers a row to the cursors that have passed it, unless the gate keeps it back. Every change that lets a row out must
    /// come through here.
    fn open(&mut self, row: RowNumber, view: &dyn RowView) {
        if !self.gate.is_open(row) {
            return;
        }
        if row < self.cursor {
            self.free_below_cursor.insert(row);
        }
        for line in self.lines.values_mut() {
            line.offer(row, view);
        }
    }

    /// Drops the marks of rows that are gone. The next row of each one's `order_by=` key may go out.
    pub(crate) fn forget(&mut self, rows: &[RowNumber], view: &dyn RowView) {
        for row in rows {
            self.delivery_counts.remove(row);
            self.gate.delays.clear(*row);
            self.gate.acked.remove(row.0);
            self.follow(*row, view);
        }
    }

    /// This lane has ended a row: the next row of its `order_by=` key may go out.
    pub(crate) fn follow(&mut self, row: RowNumber, view: &dyn RowView) {
        if let Some(next) = self.gate.keys.gone(row) {
            self.open(next, view);
        }
    }

    /// Frees rows whose delay has ended, at most `rows_max`, earliest first. True where there was one.
    pub(crate) fn open_due(&mut self, rows_max: usize, view: &dyn RowView) -> bool {
        for opened in 0..rows_max {
            let Some(row) = self.gate.delays.take_due(view.now_us()) else {
                return opened > 0;
            };
            self.open(row, view);
        }
        true
    }

    /// Rows whose lease is over, at most `rows_max`, earliest first. They stay held until the caller gives them back.
    pub(crate) fn expired(&self, steady_us: u64, rows_max: usize) -> Vec<RowNumber> {
        let over = self.leases.range(..=(steady_us, RowNumber(u64::MAX)));
        over.map(|(_, row)| *row).take(rows_max).collect()
    }

    /// When the next lease ends, on the steady clock, in microseconds.
    pub(crate) fn next_lease_us(&self) -> Option<u64> {
        self.leases.first().map(|(until_us, _)| *until_us)
    }

    /// A lower bound of the rows that this lane has yet to end: the oldest row is not below it.
    pub(crate) fn lowest(&self) -> RowNumber {
        let held = self.gate.held.first_key_value().map(|(row, _)| *row);
        let returned = self.free_below_cursor.first().copied();
        let passed = held.into_iter().chain(returned);
        let passed = passed.chain(self.gate.delays.first_row());
        let passed = passed.chain(self.gate.keys.met().next());
        passed.chain([self.cursor]).min().unwrap_or_default()
    }

    /// Ends every delivery, for a TRUNCATE or a DROP. Returns the rows with their holders, by row.
    pub fn release_all(&mut self) -> Vec<(RowNumber, Held)> {
        self.leases.clear();
        std::mem::take(&mut self.gate.held).into_iter().collect()
    }
}
