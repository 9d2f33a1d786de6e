//! The cost of a call, counted rather than timed.
//!
//! One step is about the work of taking one place of one word through one operation on places: some nanoseconds. The
//! count depends on documents, queries and the words that the matcher remembers, never on a clock. Every
//! [`LOOK_EVERY`] steps the meter asks the caller whether it still wants the answer.
//!
//! Example: a bound of 100,000 steps. The first pause is at 32,768: the meter calls `goes_on` and moves the pause
//! 32,768 steps on, and so on until the pause is 100,000. The spending that reaches 100,000 ends the call.
//!
//! Invariants:
//! - `pause` is at most `max`.
//! - Once `ended` is set, `pause` is 0, so every further spending returns false at once.

use crate::{
    limits::{LOOK_EVERY, QUERY_STEPS_MAX, SLICE_DOCUMENTS},
    standing::Ordinal,
    unfinished::{Costly, Unfinished},
};

/// Entries that masks decide for one step: each is a load and a few operations.
const ENTRIES_PER_STEP: u64 = 4;

/// Counts the steps of a call. A matcher's own.
#[derive(Debug)]
pub(crate) struct Meter {
    spent: u64,
    /// Most steps of the call.
    max: u64,
    /// Value of `spent` at which the query at hand has taken [`QUERY_STEPS_MAX`] on the document at hand.
    query_max: u64,
    /// Value of `spent` at which [`Meter::look`] runs next.
    pause: u64,
    ended: Option<Ended>,
    /// The level and the query that are being matched, and the first document of the slice.
    level: usize,
    query: Ordinal,
    first: u32,
    /// By document of the slice, the steps of the query at hand; valid where `touched` has the bit.
    by_document: [u64; SLICE_DOCUMENTS],
    touched: u64,
    dearest: Option<Dearest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Stopped,
    /// The bound that was reached, in steps.
    Costly(u64),
}

/// The query and the document on which it took the most steps so far.
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
    /// Begins a call of at most `max` steps.
    pub(crate) fn begin(&mut self, max: u64) {
        *self = Meter {
            max,
            pause: max.min(LOOK_EVERY),
            ..Meter::default()
        };
    }

    /// The steps that follow are of this level and of the slice that begins at document `first`.
    pub(crate) fn enter(&mut self, level: usize, first: u32) {
        (self.level, self.first) = (level, first);
    }

    /// The steps that follow are of this query of the level.
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

    /// Ends the call, unless it has ended: as too costly, or as if its caller no longer wanted the answer.
    pub(crate) fn end(&mut self, is_costly: bool) {
        self.ended.get_or_insert(match is_costly {
            true => Ended::Costly(QUERY_STEPS_MAX),
            false => Ended::Stopped,
        });
        self.pause = 0;
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

    /// Runs `work` for the query at hand and one document of the slice, and charges its steps to both.
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

    /// Ok while the call goes on, else the reason for its end. `id_of` gives a query's id by its level's number and
    /// its ordinal.
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
