//! What a call costs, counted rather than timed.
//!
//! One step is about the work of taking one place of one word through one operation on places: some nanoseconds. The count
//! depends on documents, queries and what the matcher remembers of words, never on a clock. Every [`LOOK_EVERY`] steps the caller is
//! asked whether it still wants the answer.
//!
//! Example: a bound of 100,000 steps, and 30,000 are spent. The next pause is at 32,768: `goes_on` is asked there and the pause
//! moves to 65,536, then to 98,304, then to 100,000. The spending that reaches 100,000 ends the call.
//!
//! Invariants:
//! - `pause` is at most `max`.
//! - Once `ended` is set, `pause` is 0: every further spending says so at once.

use crate::{
    limits::{LOOK_EVERY, QUERY_STEPS_MAX, SLICE_DOCUMENTS},
    standing::Ordinal,
    unfinished::{Costly, Unfinished},
};

/// Entries that are compared by masks for one step: each is a load and a few operations.
const ENTRIES_PER_STEP: u64 = 4;

/// Counts the steps of a call. A matcher's own.
#[derive(Debug)]
pub(crate) struct Meter {
    spent: u64,
    /// Most steps of the call.
    max: u64,
    /// Most steps until the query at hand has to be done with the document at hand.
    query_max: u64,
    /// Steps at which something has to be looked at.
    pause: u64,
    ended: Option<Ended>,
    /// The level and the query at hand, and the first document of the slice at hand.
    level: usize,
    query: Ordinal,
    first: u32,
    /// By document of the slice, the steps of the query at hand; good where `touched` has the bit.
    by_document: [u64; SLICE_DOCUMENTS],
    touched: u64,
    dearest: Option<Dearest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Stopped,
    /// The bound that was reached.
    Costly(u64),
}

/// The query and the document that took the most steps together so far.
#[derive(Clone, Copy, Debug)]
struct Dearest {
    steps: u64,
    level: usize,
    query: Ordinal,
    document: u32,
}

impl Default for Meter {
    fn default() -> Meter {
        Meter {
            spent: 0,
            max: 0,
            query_max: u64::MAX,
            pause: 0,
            ended: None,
            level: 0,
            query: 0,
            first: 0,
            by_document: [0; SLICE_DOCUMENTS],
            touched: 0,
            dearest: None,
        }
    }
}

impl Meter {
    /// A new call, of at most so many steps.
    pub(crate) fn begin(&mut self, max: u64) {
        *self = Meter {
            max,
            pause: max.min(LOOK_EVERY),
            ..Meter::default()
        };
    }

    /// What follows is about this level and the slice that begins at this document.
    pub(crate) fn enter(&mut self, level: usize, first: u32) {
        (self.level, self.first) = (level, first);
    }

    /// What follows is about this query of the level.
    #[inline]
    pub(crate) fn ask(&mut self, query: Ordinal) {
        self.query = query;
        self.touched = 0;
    }

    /// Counts steps; false once the call has ended.
    #[inline(always)]
    pub(crate) fn spend(&mut self, steps: u64, goes_on: &dyn Fn() -> bool) -> bool {
        self.spent += steps;
        self.spent < self.pause || self.look(goes_on)
    }

    /// Counts entries that were compared by masks; false once the call has ended.
    #[inline]
    pub(crate) fn visit(&mut self, entries: u64, goes_on: &dyn Fn() -> bool) -> bool {
        self.spend(entries / ENTRIES_PER_STEP, goes_on)
    }

    #[cold]
    fn look(&mut self, goes_on: &dyn Fn() -> bool) -> bool {
        if self.ended.is_some() {
            return false;
        }
        self.ended = if self.spent >= self.max {
            Some(Ended::Costly(self.max))
        } else if self.spent >= self.query_max {
            Some(Ended::Costly(QUERY_STEPS_MAX))
        } else {
            (!goes_on()).then_some(Ended::Stopped)
        };
        self.pause = match self.ended {
            Some(_) => 0,
            None => (self.spent + LOOK_EVERY).min(self.max).min(self.query_max),
        };
        self.ended.is_none()
    }

    /// Does what the query at hand asks of a document of the slice, by its index there.
    #[inline]
    pub(crate) fn measured<T>(&mut self, index: usize, work: impl FnOnce(&mut Meter) -> T) -> T {
        if self.touched >> index & 1 == 0 {
            self.touched |= 1 << index;
            self.by_document[index] = 0;
        }
        let before = self.spent - self.by_document[index];
        self.query_max = before + QUERY_STEPS_MAX;
        self.pause = self.pause.min(self.query_max);
        let done = work(self);
        self.query_max = u64::MAX;
        let steps = self.spent - before;
        self.by_document[index] = steps;
        if self.dearest.is_none_or(|dearest| dearest.steps < steps) {
            self.dearest = Some(Dearest {
                steps,
                level: self.level,
                query: self.query,
                document: self.first + index as u32,
            });
        }
        done
    }

    /// Whether the call goes on. `id_of`: the id of a query by the number of its level and its place there.
    #[inline(always)]
    pub(crate) fn check(
        &self,
        id_of: impl Fn(usize, Ordinal) -> Option<u64>,
    ) -> Result<(), Unfinished> {
        match self.ended {
            None => Ok(()),
            Some(ended) => Err(self.unfinished(ended, id_of)),
        }
    }

    /// Whether the call has ended.
    #[inline(always)]
    pub(crate) fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    #[cold]
    fn unfinished(
        &self,
        ended: Ended,
        id_of: impl Fn(usize, Ordinal) -> Option<u64>,
    ) -> Unfinished {
        let Ended::Costly(max) = ended else {
            return Unfinished::Stopped;
        };
        let named = self
            .dearest
            .and_then(|dearest| Some((id_of(dearest.level, dearest.query)?, dearest)));
        Unfinished::TooCostly(Costly {
            max,
            query: named.map(|(id, _)| id),
            document: named.map_or(0, |(_, dearest)| dearest.document),
            steps: named.map_or(0, |(_, dearest)| dearest.steps),
        })
    }

    /// Steps of the call so far.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }
}
