//! Who gets which row of a queue: rows that are free, rows that are held, and those who stand in line.
//!
//! Free are the rows at or above the cursor and those given back below it, as far as the [`Gate`] lets them out. What a
//! row holds and whether it is there is the [`Backlog`]'s. A queue has one lane, or one for each consumer group.

use std::collections::{BTreeMap, BTreeSet};

use query::expression::Expression;

use crate::backlog::Backlog;
use crate::error::{Error, Result};
use crate::gate::{Gate, Held, Holder};
use crate::ids::SessionId;
use crate::limits::IDLE_LINES_MAX;
use crate::line::Line;
use crate::row_view::{Predicate, RowView};

/// A line of those who wait, by its number; 0 is the one for every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineId(u32);

/// The line without a condition.
pub(crate) const EVERY_ROW: LineId = LineId(0);

/// What is known of the deliveries of a row that is free again, or that is held anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Times it came back.
    pub(crate) count: u32,
    /// The count in the last record about the row; 0: no record has one. Files store this count. A lapsed lease may have no
    /// record: then a restart forgets it, whether it reads files or the journal.
    pub(crate) recorded: u32,
}

impl Delivered {
    /// As a record says.
    pub(crate) fn recorded(count: u32) -> Delivered {
        Delivered {
            count,
            recorded: count,
        }
    }
}

/// See the module's text.
#[derive(Default)]
pub struct Lane {
    cursor: u64,
    /// Free rows below the cursor; some may be gone or held meanwhile.
    returned: BTreeSet<u64>,
    pub(crate) gate: Gate,
    lines: BTreeMap<LineId, Line>,
    next_line: u32,
    /// Times that a condition's line was asked for.
    asked: u64,
    /// Places taken in all lines.
    waiting: usize,
    /// Rows that came back.
    pub(crate) delivered: BTreeMap<u64, Delivered>,
    /// When leases end, on the steady clock.
    leases: BTreeSet<(u64, u64)>,
    /// Rows handed out that had been before.
    pub(crate) redelivered_total: u64,
    /// Every row below that is there is held.
    held_below: u64,
}

/// Memory of a mark of a row: its place in a tree or two.
const MARK_BYTES: usize = 64;

impl Lane {
    /// Memory of what is known of rows beside the rows: those that are held count with the end of their lease.
    pub(crate) fn marks_bytes(&self) -> u64 {
        let gate = &self.gate;
        let marks =
            2 * gate.held.len() + gate.delays.len() + self.delivered.len() + self.returned.len();
        (marks * MARK_BYTES + gate.keys.bytes()) as u64
    }

    pub(crate) fn new() -> Lane {
        Lane {
            lines: BTreeMap::from([(EVERY_ROW, Line::new(None))]),
            next_line: 1,
            ..Lane::default()
        }
    }

    /// Rows that are held, also ones that their owner has deleted.
    pub fn held(&self) -> &BTreeMap<u64, Held> {
        &self.gate.held
    }

    /// Those who stand in line.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// The line of a condition that is ready, found or made. `make`: prepares the condition.
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

    /// Makes room for a new line: of those that nobody stands in the one that was not asked for longest goes. One wait
    /// asks for fewer lines than are kept, so none of its own.
    fn forget_idle(&mut self) {
        if self.lines.len() <= IDLE_LINES_MAX {
            return;
        }
        let idle = |(_, line): &(&LineId, &Line)| line.is_idle();
        let idle = self.lines.iter().skip(1).filter(idle);
        let oldest = idle.min_by_key(|(_, line)| line.asked).map(|(id, _)| *id);
        oldest.map(|id| self.lines.remove(&id));
    }

    /// Stands in line.
    pub fn stand(&mut self, line: LineId, ticket: u64, session: SessionId) {
        if let Some(line) = self.lines.get_mut(&line)
            && line.tickets.insert(ticket, session).is_none()
        {
            self.waiting += 1;
        }
    }

    /// Leaves a line.
    pub fn step_out(&mut self, line: LineId, ticket: u64) {
        if let Some(line) = self.lines.get_mut(&line)
            && line.tickets.remove(&ticket).is_some()
        {
            self.waiting -= 1;
        }
    }

    /// Everybody who stands in a line, once a line.
    pub fn standing(&self) -> Vec<SessionId> {
        let tickets = self.lines.values().flat_map(|line| line.tickets.values());
        tickets.copied().collect()
    }

    /// Makes every condition anew. Gives those who stand in a line whose condition cannot be made any more; it goes.
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

    /// The first free row that a line takes; it stays free.
    pub(crate) fn peek(
        &mut self,
        line: LineId,
        backlog: &Backlog,
        view: &dyn RowView,
    ) -> Result<Option<u64>> {
        if line == EVERY_ROW {
            return self.first_free(backlog, view);
        }
        match self.lines.get_mut(&line) {
            Some(line) => line.first(backlog, &mut self.gate, view),
            None => Ok(None),
        }
    }

    fn first_free(&mut self, backlog: &Backlog, view: &dyn RowView) -> Result<Option<u64>> {
        while let Some(&row) = self.returned.first() {
            if backlog.contains(row) && self.gate.is_open(row) {
                return Ok(Some(row));
            }
            self.returned.pop_first();
        }
        while let Some(row) = backlog.first_at_or_above(self.cursor) {
            if self.gate.lets(row, view)? {
                self.cursor = row;
                return Ok(Some(row));
            }
            self.cursor = row + 1;
        }
        self.cursor = backlog.next();
        Ok(None)
    }

    /// Who gets the next row: the one who stands there longest. Of the rows that somebody waits for the first one goes
    /// first, to whoever has waited longest of those who may have it.
    pub(crate) fn next_served(
        &mut self,
        backlog: &Backlog,
        view: &dyn RowView,
    ) -> std::result::Result<Option<SessionId>, (SessionId, Error)> {
        if self.waiting == 0 {
            return Ok(None);
        }
        let mut best: Option<(u64, u64, SessionId)> = None;
        let mut after = None;
        while let Some((line, ticket, session)) = self.next_front(after) {
            after = Some(line);
            let row = self.peek(line, backlog, view);
            let Some(row) = row.map_err(|error| (session, error))? else {
                continue;
            };
            if best.is_none_or(|(other, waits, _)| (row, ticket) < (other, waits)) {
                best = Some((row, ticket, session));
            }
        }
        Ok(best.map(|(_, _, session)| session))
    }

    /// The next line that somebody stands in, and who has stood there longest.
    fn next_front(&self, after: Option<LineId>) -> Option<(LineId, u64, SessionId)> {
        let from = after.map_or(0, |LineId(id)| id + 1);
        self.lines.range(LineId(from)..).find_map(|(id, line)| {
            let (ticket, session) = line.front()?;
            Some((*id, ticket, session))
        })
    }

    /// Holds a free row.
    pub(crate) fn hold(&mut self, row: u64, holder: Holder) {
        let before = self.delivered.get(&row).map_or(0, |before| before.count);
        let delivery = before.saturating_add(1);
        self.redelivered_total += u64::from(before > 0);
        if let Holder::Lease { until_us } = holder {
            self.leases.insert((until_us, row));
        }
        self.gate.held.insert(row, Held { holder, delivery });
        self.returned.remove(&row);
    }

    /// The first row that is there and not held. Cost: the rows that were taken since the last call.
    pub(crate) fn first_not_held(&mut self, backlog: &Backlog) -> Option<u64> {
        while let Some(row) = backlog.first_at_or_above(self.held_below) {
            if !self.gate.held.contains_key(&row) {
                return Some(row);
            }
            self.held_below = row + 1;
        }
        None
    }

    /// Lets go of a row that is there and is not this lane's to hand out.
    pub(crate) fn let_go_of_kept(&mut self, row: u64) {
        self.let_go(row);
        self.may_be_free(row);
    }

    /// A row that is there may be held no more.
    pub(crate) fn may_be_free(&mut self, row: u64) {
        self.held_below = self.held_below.min(row);
    }

    /// Lets go of a row that is there no more, or is about to go.
    pub(crate) fn let_go(&mut self, row: u64) -> Option<Held> {
        let held = self.gate.held.remove(&row)?;
        if let Holder::Lease { until_us } = held.holder {
            self.leases.remove(&(until_us, row));
        }
        Some(held)
    }

    /// Holds a leased row until another time.
    pub fn extend(&mut self, row: u64, until_us: u64) {
        if let Some(held) = self.gate.held.get_mut(&row)
            && let Holder::Lease { until_us: before } = held.holder
        {
            self.leases.remove(&(before, row));
            self.leases.insert((until_us, row));
            held.holder = Holder::Lease { until_us };
        }
    }

    /// Makes a held row free again, at its place; nothing where it was removed meanwhile. True where it is free now, or
    /// will be in its time.
    pub(crate) fn give_back(&mut self, row: u64, backlog: &Backlog, view: &dyn RowView) -> bool {
        let Some(held) = self.let_go(row) else {
            return false;
        };
        if !backlog.contains(row) || self.gate.acked.contains(row) {
            return false;
        }
        let delivered = self.delivered.entry(row).or_default();
        delivered.count = delivered.count.max(held.delivery);
        self.may_be_free(row);
        self.open(row, view);
        true
    }

    /// Makes a held row free again that nobody has seen.
    pub(crate) fn put_back(&mut self, row: u64, view: &dyn RowView) {
        self.let_go_of_kept(row);
        self.open(row, view);
    }

    /// A row that the cursors may have passed is free now, unless the gate holds it.
    fn open(&mut self, row: u64, view: &dyn RowView) {
        if !self.gate.is_open(row) {
            return;
        }
        if row < self.cursor {
            self.returned.insert(row);
        }
        for line in self.lines.values_mut() {
            line.offer(row, view);
        }
    }

    /// Rows that are gone: what was known of them goes too, and those behind them in the order of a key may go out.
    pub(crate) fn forget(&mut self, rows: &[u64], view: &dyn RowView) {
        for row in rows {
            self.delivered.remove(row);
            self.gate.delays.clear(*row);
            self.gate.acked.remove(*row);
            self.follow(*row, view);
        }
    }

    /// This lane is done with a row: the next of its key may go out.
    pub(crate) fn follow(&mut self, row: u64, view: &dyn RowView) {
        if let Some(next) = self.gate.keys.gone(row) {
            self.open(next, view);
        }
    }

    /// Opens rows whose time has come, at most `rows_max`; true where there was one.
    pub(crate) fn open_due(&mut self, rows_max: usize, view: &dyn RowView) -> bool {
        for opened in 0..rows_max {
            let Some(row) = self.gate.delays.take_due(view.now_us()) else {
                return opened > 0;
            };
            self.open(row, view);
        }
        true
    }

    /// The first leased rows whose time is over, at most `rows_max`; they are still held.
    pub(crate) fn expired(&self, steady_us: u64, rows_max: usize) -> Vec<u64> {
        let over = self.leases.range(..=(steady_us, u64::MAX));
        over.map(|(_, row)| *row).take(rows_max).collect()
    }

    /// When the next lease ends, on the steady clock.
    pub(crate) fn next_lease_us(&self) -> Option<u64> {
        self.leases.first().map(|(until_us, _)| *until_us)
    }

    /// No row that is there for this lane has a lower number.
    pub(crate) fn lowest(&self) -> u64 {
        let held = self.gate.held.first_key_value().map(|(row, _)| *row);
        let returned = self.returned.first().copied();
        let passed = held.into_iter().chain(returned);
        let passed = passed.chain(self.gate.delays.first_row());
        let passed = passed.chain(self.gate.keys.met().next());
        passed.chain([self.cursor]).min().unwrap_or(0)
    }

    /// Nobody holds anything any more: the rows are about to go. Gives who held.
    pub fn release_all(&mut self) -> Vec<(u64, Held)> {
        self.leases.clear();
        std::mem::take(&mut self.gate.held).into_iter().collect()
    }
}
