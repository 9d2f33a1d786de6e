//! Handing out a queue's rows and taking them back: the calls of the engine, each passed on to the lane that it names.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use relation::expression::Expression;

use crate::error::{Error, Result};
use crate::gate::Holder;
use crate::ids::{Now, RowNumber, SessionId};
use crate::lane::{Lane, LineId};
use crate::limits::DUE_ROWS_MAX;
use crate::line::Found;
use crate::queue::{Queue, predicate};
use crate::row_view::RowsNow;

impl Queue {
    /// A lane, and the rows that it reads; `None` where the queue has no such lane.
    fn parts(&mut self, lane: usize, now: Now) -> Option<(&mut Lane, RowsNow<'_>)> {
        let order_by = self.slot(self.options.order_by.as_ref());
        let deliver_at = self.slot(self.options.deliver_at.as_ref());
        let rows = RowsNow {
            backlog: &self.backlog,
            layouts: &self.layouts,
            columns: &self.columns,
            order_by,
            deliver_at,
            now_us: now.unix_us,
            units: &self.condition_units,
        };
        Some((self.lanes.get_mut(lane)?, rows))
    }

    /// Tells the lanes which rows are gone or ended since the last call, and lets out the next rows of their `order_by=` keys.
    pub fn settle(&mut self, now: Now) {
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

    /// Ends recovery: drops the lanes' marks of rows that are not in the backlog.
    pub fn opened(&mut self, now: Now) {
        self.settle(now);
        let backlog = &self.backlog;
        for lane in &mut self.lanes {
            lane.delivery_counts.retain(|row, _| backlog.contains(*row));
            let acked = lane.gate.acked.iter();
            lane.gate.acked = acked
                .filter(|row| backlog.contains(RowNumber(*row)))
                .collect();
            lane.gate.delays.retain(|row| backlog.contains(row));
        }
    }

    /// The line of a condition in a lane, made where there is none. Error: `Condition` where the columns cannot answer it.
    pub fn line(&mut self, lane: usize, condition: Option<&Expression>) -> Result<LineId> {
        let (name, columns) = (&self.name, &self.columns);
        let lane = self.lanes.get_mut(lane);
        let lane = lane.ok_or_else(|| Error::Internal("no such lane".to_owned()))?;
        lane.line(condition, |condition| predicate(name, columns, condition))
    }

    /// After an ALTER: prepares the conditions of all lines for the new columns, from the first row on. Returns the sessions
    /// whose condition names a column that is gone; they wait in that line no more.
    pub fn ask_again(&mut self) -> Vec<(SessionId, Error)> {
        let (name, columns) = (&self.name, &self.columns);
        let make = |condition: &Expression| predicate(name, columns, condition);
        let lanes = self.lanes.iter_mut();
        lanes.flat_map(|lane| lane.ask_again(&make)).collect()
    }

    /// Gives the first free rows of a line to a holder, at most `limit`. Returns their numbers in the order of delivery;
    /// empty where no row is free or the lane is paused, or where a search has to go on later ([`Queue::has_unasked`]). Error: the
    /// first row cannot be read.
    pub fn take(
        &mut self,
        (lane, line): (usize, LineId),
        limit: u32,
        holder: Holder,
        now: Now,
    ) -> Result<Vec<RowNumber>> {
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
                Ok(Found::Row(row)) => {
                    lane.hold(row, holder);
                    taken.push(row);
                }
                Err(error) if taken.is_empty() => return Err(error),
                Ok(Found::None | Found::NotYet) | Err(_) => break, // the next call fails on the same row
            }
        }
        Ok(taken)
    }

    /// Lets conditions spend the units of `units`, which queues may share, before their searches stop for the moment. Without this
    /// call they have no bound.
    pub fn share_units(&mut self, units: &Arc<AtomicU64>) {
        self.condition_units = Arc::clone(units);
    }

    /// Whether a line of a lane has rows that were not asked yet, behind a [`Queue::take`] that gave none: the search goes on with
    /// the next call.
    pub fn has_unasked(&self, (lane, line): (usize, LineId)) -> bool {
        let is_served = !self.is_paused(lane);
        let lane = self.lanes.get(lane).filter(|_| is_served);
        lane.is_some_and(|lane| lane.has_unasked(line, &self.backlog))
    }

    /// The same, of any line with waiters, behind a [`Queue::next_served`] that gave none.
    pub fn is_searching(&self) -> bool {
        let mut lanes = self.lanes.iter().enumerate();
        lanes.any(|(place, lane)| !self.is_paused(place) && lane.is_searching(&self.backlog))
    }

    fn is_paused(&self, lane: usize) -> bool {
        self.paused.get(lane).copied().unwrap_or(false)
    }

    /// The session to be served next, of the first lane that has one. The lowest free row that a session waits for goes out
    /// first, to the session that has waited longest for it. `None` where no waiting session has a row.
    ///
    /// Error: a session whose condition could not read a row.
    pub fn next_served(
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

    /// Tickets in the lines of all lanes: a session counts once for each line that it waits in.
    pub fn waiting(&self) -> usize {
        self.lanes.iter().map(Lane::waiting).sum()
    }

    /// Ends a delivery without an acknowledgement: the row is free again at its place, or will be when its delay has ended.
    /// False where it is not held or is gone: a row that its owner has deleted stays deleted.
    pub fn give_back(&mut self, lane: usize, row: RowNumber, now: Now) -> bool {
        let Some((lane, rows)) = self.parts(lane, now) else {
            return false;
        };
        lane.give_back(row, rows.backlog, &rows)
    }

    /// Undoes the hold of a row that no worker has seen: it is free again, and the delivery does not count.
    pub fn put_back(&mut self, lane: usize, row: RowNumber, now: Now) {
        if let Some((lane, rows)) = self.parts(lane, now) {
            lane.put_back(row, &rows);
        }
    }

    /// The number of the delivery that a row is out in, from 1; 0 where nobody holds it.
    pub fn delivery(&self, lane: usize, row: RowNumber) -> u32 {
        let held = self.lanes.get(lane).and_then(|lane| lane.held().get(&row));
        held.map_or(0, |held| held.delivery)
    }

    /// The share of [`DUE_ROWS_MAX`] that each lane has. At least 1.
    fn due_rows_max(&self) -> usize {
        (DUE_ROWS_MAX / self.lanes.len().max(1)).max(1)
    }

    /// Frees rows whose delay has ended, at most [`DUE_ROWS_MAX`] of the queue. True where there was one.
    pub fn open_due(&mut self, now: Now) -> bool {
        let (mut any, rows_max) = (false, self.due_rows_max());
        for lane in 0..self.lanes.len() {
            if let Some((lane, rows)) = self.parts(lane, now) {
                any |= lane.open_due(rows_max, &rows);
            }
        }
        any
    }

    /// Rows whose lease is over, by lane, at most [`DUE_ROWS_MAX`] of the queue; no lane is listed without rows. The rows stay
    /// held: the caller gives them back.
    pub fn expired(&self, now: Now) -> Vec<(usize, Vec<RowNumber>)> {
        let rows_max = self.due_rows_max();
        let lanes = self.lanes.iter().enumerate();
        let over = lanes.map(|(lane, of)| (lane, of.expired(now.steady_us, rows_max)));
        over.filter(|(_, rows)| !rows.is_empty()).collect()
    }

    /// Removes the holder of a row that was ended or deleted.
    pub fn let_go(&mut self, lane: usize, row: RowNumber) {
        let is_there = self.backlog.contains(row); // another group has yet to end it
        if let Some(lane) = self.lanes.get_mut(lane) {
            match is_there {
                true => lane.let_go_of_kept(row),
                false => {
                    lane.let_go(row);
                }
            }
        }
    }

    /// The oldest rows that no lane holds, at most `rows_max`, rising: `when_full='drop_oldest'` removes them.
    pub fn oldest_free(&mut self, rows_max: usize) -> Vec<RowNumber> {
        let backlog = &self.backlog;
        let lanes = self.lanes.iter_mut();
        // Each lane holds every row below its own first, so some lane holds each row below the highest of them.
        let starts = lanes.map(|lane| lane.first_not_held(backlog));
        let start = starts
            .map(|row| row.unwrap_or(RowNumber(u64::MAX)))
            .max()
            .unwrap_or_default();
        let is_held = |row: RowNumber| self.lanes.iter().any(|lane| lane.held().contains_key(&row));
        let rows = self.backlog.rows_from(start);
        rows.filter(|row| !is_held(*row)).take(rows_max).collect()
    }

    /// When the next lease or delay ends, on the steady clock, in microseconds. `None` where there is none.
    pub fn next_timer_us(&self, now: Now) -> Option<u64> {
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
}
