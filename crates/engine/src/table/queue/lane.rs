//! Who gets which row of a queue: rows that are free, rows that are held, and those who stand in line.
//!
//! Free are the rows at or above the cursor and those given back below it, as far as nobody holds them. Everything
//! here is memory only; what a row holds and whether it is there is the [`Backlog`]'s.

use std::collections::{BTreeMap, BTreeSet};

use query::expression::Expression;

use super::Backlog;
use super::line::{Line, Predicate};
use crate::command::SessionId;
use crate::error::Result;

/// What holds a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// A session in owner mode.
    Session(SessionId),
}

/// A line of those who wait, by its number; 0 is the one for every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineId(u32);

/// The line without a condition.
pub(crate) const EVERY_ROW: LineId = LineId(0);

/// Lines with a condition that nobody stands in are kept for the next who asks, up to so many.
const IDLE_LINES_MAX: usize = 100;

/// Rows as a condition looks at them.
pub(crate) trait Look {
    /// Whether a predicate takes a row that is there.
    fn accepts(&self, predicate: &Predicate, row: u64) -> Result<bool>;
}

/// See the module's text.
pub(crate) struct Lane {
    cursor: u64,
    /// Free rows below the cursor; some may be gone or held meanwhile.
    returned: BTreeSet<u64>,
    held: BTreeMap<u64, Holder>,
    lines: BTreeMap<LineId, Line>,
    next_line: u32,
    /// Places taken in all lines.
    waiting: usize,
}

impl Lane {
    pub(crate) fn new() -> Lane {
        Lane {
            cursor: 0,
            returned: BTreeSet::new(),
            held: BTreeMap::new(),
            lines: BTreeMap::from([(EVERY_ROW, Line::new(None))]),
            next_line: 1,
            waiting: 0,
        }
    }

    /// Rows that are held, also ones that their owner has deleted.
    pub(crate) fn held(&self) -> &BTreeMap<u64, Holder> {
        &self.held
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
        let known = self.lines.iter().find(|(_, line)| line.is_of(condition));
        if let Some((&known, _)) = known {
            return Ok(known);
        }
        let predicate = make(condition)?;
        self.forget_idle();
        let made = LineId(self.next_line);
        self.next_line = self.next_line.wrapping_add(1).max(1);
        self.lines.insert(made, Line::new(Some(predicate)));
        Ok(made)
    }

    /// Makes room for a new line: the oldest that nobody stands in goes.
    fn forget_idle(&mut self) {
        if self.lines.len() <= IDLE_LINES_MAX {
            return;
        }
        let idle = |(_, line): &(&LineId, &Line)| line.is_idle();
        let oldest = self.lines.iter().skip(1).find(idle).map(|(id, _)| *id);
        oldest.map(|id| self.lines.remove(&id));
    }

    /// Stands in line.
    pub(crate) fn stand(&mut self, line: LineId, ticket: u64, session: SessionId) {
        if let Some(line) = self.lines.get_mut(&line)
            && line.tickets.insert(ticket, session).is_none()
        {
            self.waiting += 1;
        }
    }

    /// Leaves a line.
    pub(crate) fn step_out(&mut self, line: LineId, ticket: u64) {
        if let Some(line) = self.lines.get_mut(&line)
            && line.tickets.remove(&ticket).is_some()
        {
            self.waiting -= 1;
        }
    }

    /// Everybody who stands in a line, once a line.
    pub(crate) fn standing(&self) -> Vec<SessionId> {
        let tickets = self.lines.values().flat_map(|line| line.tickets.values());
        tickets.copied().collect()
    }

    /// Makes every condition anew. Gives those who stand in a line whose condition cannot be made any more; it goes.
    pub(crate) fn ask_again(
        &mut self,
        make: &dyn Fn(&Expression) -> Result<Predicate>,
    ) -> Vec<(SessionId, crate::error::Error)> {
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
        look: &dyn Look,
    ) -> Result<Option<u64>> {
        if line == EVERY_ROW {
            return Ok(self.first_free(backlog));
        }
        let (lines, held) = (&mut self.lines, &self.held);
        let Some(line) = lines.get_mut(&line) else {
            return Ok(None);
        };
        let is_free = |row| !held.contains_key(&row);
        line.first(backlog, &is_free, look)
    }

    fn first_free(&mut self, backlog: &Backlog) -> Option<u64> {
        while let Some(&row) = self.returned.first() {
            if backlog.contains(row) && !self.held.contains_key(&row) {
                return Some(row);
            }
            self.returned.pop_first();
        }
        while let Some(row) = backlog.first_at_or_above(self.cursor) {
            if !self.held.contains_key(&row) {
                self.cursor = row;
                return Some(row);
            }
            self.cursor = row + 1;
        }
        self.cursor = backlog.next();
        None
    }

    /// Who gets the next row: the line, and the ticket of the one who stands there longest. Of the rows that somebody
    /// waits for the first one goes first, to whoever has waited longest of those who may have it.
    pub(crate) fn next_served(
        &mut self,
        backlog: &Backlog,
        look: &dyn Look,
    ) -> std::result::Result<Option<SessionId>, (SessionId, crate::error::Error)> {
        if self.waiting == 0 {
            return Ok(None);
        }
        let standing: Vec<(LineId, u64, SessionId)> = self
            .lines
            .iter()
            .filter_map(|(id, line)| line.front().map(|(ticket, session)| (*id, ticket, session)))
            .collect();
        let mut best: Option<(u64, u64, SessionId)> = None;
        for (line, ticket, session) in standing {
            let row = self.peek(line, backlog, look);
            let Some(row) = row.map_err(|error| (session, error))? else {
                continue;
            };
            if best.is_none_or(|(other, waits, _)| (row, ticket) < (other, waits)) {
                best = Some((row, ticket, session));
            }
        }
        Ok(best.map(|(_, _, session)| session))
    }

    /// Holds a free row.
    pub(crate) fn hold(&mut self, row: u64, holder: Holder) {
        self.held.insert(row, holder);
        self.returned.remove(&row);
    }

    /// Lets go of a row that is there no more, or is about to go.
    pub(crate) fn let_go(&mut self, row: u64) {
        self.held.remove(&row);
    }

    /// Makes a held row free again, at its place; nothing where it was removed meanwhile. True where it is free now.
    pub(crate) fn give_back(&mut self, row: u64, backlog: &Backlog, look: &dyn Look) -> bool {
        if self.held.remove(&row).is_none() || !backlog.contains(row) {
            return false;
        }
        if row < self.cursor {
            self.returned.insert(row);
        }
        for line in self.lines.values_mut() {
            line.offer(row, look);
        }
        true
    }

    /// Nobody holds anything any more: the rows are about to go. Gives who held.
    pub(crate) fn release_all(&mut self) -> Vec<(u64, Holder)> {
        std::mem::take(&mut self.held).into_iter().collect()
    }
}
