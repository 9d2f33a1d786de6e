//! The rows of a table that were changed while a reader works out a statement's plan: the rows that the plan may have wrong.
//!
//! Example: a reader plans a DELETE of `n < 5`, and three statements come before the plan is back.
//!
//! ```text
//! Recent::now()               a plan begins at change 7; from here on ids are kept
//! INSERT of id 9              change 8: 9
//! UPDATE of ids 3 and 4       changes 9 and 10: 3, 4
//! UPDATE of id 3              change 11: 3
//! Recent::since(7)            3, 4, 9: the writer looks at these three rows again, and at no other
//! the plan is dropped         the next change forgets the ids
//! ```
//!
//! Invariants:
//! - A row that differs between the state of `now` and the state of `since` is among the ids. A row more costs time; a row less
//!   would be deleted though it no longer fits, or be left though it does.
//! - Without a plan no id is kept: a table that nobody changes by a condition pays a comparison for each row.
//! - A unit's own changes are between [`Recent::hold`] and [`Recent::release`] or [`Recent::take_back`]. Until then `now` and `since`
//!   pass over them: a plan of a member was made behind the same members before it, and only what others change can make it wrong.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::limits::RECENT_IDS_MAX;

/// The ids of the rows that were changed last, while a plan is worked out.
#[derive(Default)]
pub(crate) struct Recent {
    /// The ids of the last changes, the oldest first; an id may occur twice.
    ids: VecDeque<u64>,
    /// Number of changes so far.
    changes: u64,
    /// One more holder for each [`Since`].
    plans: Arc<()>,
    /// The number of changes before those of the unit that is applied now.
    held: Option<u64>,
    /// Rows that count as changed since every moment.
    also: Vec<u64>,
}

/// A moment of a table. While it lives, the table keeps the ids of later changes.
#[derive(Clone)]
pub(crate) struct Since {
    changes: u64,
    _plan: Arc<()>,
}

impl Recent {
    /// The present state of the table, without the changes of a unit that is applied now.
    pub(crate) fn now(&self) -> Since {
        Since {
            changes: self.counted(),
            _plan: Arc::clone(&self.plans),
        }
    }

    /// Lets these rows count as changed since every moment, until the next call.
    pub(crate) fn count_also(&mut self, ids: impl IntoIterator<Item = u64>) {
        self.also = ids.into_iter().collect();
    }

    /// The changes from now on are those of a unit. Does nothing within a unit.
    pub(crate) fn hold(&mut self) {
        self.held.get_or_insert(self.changes);
    }

    /// The unit's changes stay.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// The unit's changes were taken back: the rows are as they were.
    pub(crate) fn take_back(&mut self) {
        let Some(held) = self.held.take() else {
            return;
        };
        let own = usize::try_from(self.changes - held).unwrap_or(usize::MAX);
        self.ids.truncate(self.ids.len().saturating_sub(own));
        self.changes = held;
    }

    /// The number of changes that count: those of others.
    fn counted(&self) -> u64 {
        self.held.unwrap_or(self.changes)
    }

    /// Notes a row that was inserted, replaced, changed or deleted.
    pub(crate) fn note(&mut self, id: u64) {
        self.changes += 1;
        if Arc::strong_count(&self.plans) == 1 {
            if !self.ids.is_empty() {
                self.ids = VecDeque::new();
            }
            return;
        }
        if self.ids.len() == RECENT_IDS_MAX {
            self.ids.pop_front();
        }
        self.ids.push_back(id);
    }

    /// Notes changes of rows that nobody names: no plan of before is good any more.
    pub(crate) fn forget(&mut self) {
        self.changes += 1;
        self.ids = VecDeque::new();
    }

    /// The ids of the rows that were changed since, rising, each once; `None`: there were more than are kept. Cost: the ids.
    pub(crate) fn since(&self, since: &Since) -> Option<Vec<u64>> {
        let own = usize::try_from(self.changes - self.counted()).ok()?;
        let count = usize::try_from(self.counted().checked_sub(since.changes)?).ok()?;
        let end = self.ids.len().checked_sub(own);
        // Without others' changes there is none to be known.
        let end = if count == 0 { end.unwrap_or(0) } else { end? };
        let first = end.checked_sub(count)?;
        let mut ids: Vec<u64> = self.ids.range(first..end).copied().collect();
        ids.extend(&self.also);
        ids.sort_unstable();
        ids.dedup();
        Some(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_changed_since_a_moment_are_told_once_and_rising() {
        let mut recent = Recent::default();
        recent.note(1);
        let first = recent.now();
        recent.note(9);
        let second = recent.now();
        for id in [3, 9, 3] {
            recent.note(id);
        }
        assert_eq!(recent.since(&first), Some(vec![3, 9]));
        assert_eq!(recent.since(&second), Some(vec![3, 9]));
        assert_eq!(recent.since(&recent.now()), Some(Vec::new()));
    }

    #[test]
    fn a_units_own_changes_do_not_count_until_it_is_kept() {
        let mut recent = Recent::default();
        let before = recent.now();
        recent.note(1);
        recent.hold();
        recent.note(2);
        let within = recent.now();
        recent.note(3);
        assert_eq!(recent.since(&before), Some(vec![1]));
        assert_eq!(recent.since(&within), Some(vec![]));
        recent.take_back();
        assert_eq!(recent.since(&before), Some(vec![1]));
        recent.note(4);
        assert_eq!(recent.since(&within), Some(vec![4]));
        recent.hold();
        recent.note(5);
        recent.release();
        assert_eq!(recent.since(&within), Some(vec![4, 5]));
    }

    #[test]
    fn a_unit_of_more_changes_than_are_kept_ends_plans_of_before_it() {
        let mut recent = Recent::default();
        let plan = recent.now();
        recent.note(1);
        let later = recent.now();
        recent.hold();
        (0..=RECENT_IDS_MAX as u64).for_each(|id| recent.note(id));
        assert_eq!(recent.since(&later), Some(vec![]));
        assert_eq!(recent.since(&plan), None);
        recent.take_back();
        assert_eq!(recent.since(&later), Some(vec![]));
        assert_eq!(recent.since(&plan), None);
    }

    #[test]
    fn rows_may_count_as_changed_since_every_moment() {
        let mut recent = Recent::default();
        let plan = recent.now();
        recent.note(2);
        recent.count_also([7, 1]);
        assert_eq!(recent.since(&plan), Some(vec![1, 2, 7]));
        assert_eq!(recent.since(&recent.now()), Some(vec![1, 7]));
        recent.count_also([]);
        assert_eq!(recent.since(&plan), Some(vec![2]));
    }

    #[test]
    fn nothing_is_kept_without_a_plan() {
        let mut recent = Recent::default();
        let plan = recent.now();
        recent.note(1);
        assert_eq!(recent.ids.len(), 1);
        drop(plan);
        recent.note(2);
        assert_eq!(recent.ids.len(), 0);
        let plan = recent.now();
        recent.note(3);
        assert_eq!(recent.since(&plan), Some(vec![3]));
    }

    #[test]
    fn changes_without_names_and_too_many_changes_end_a_plan() {
        let mut recent = Recent::default();
        let plan = recent.now();
        recent.forget();
        recent.note(1);
        assert_eq!(recent.since(&plan), None);
        let plan = recent.now();
        (0..RECENT_IDS_MAX as u64).for_each(|id| recent.note(id));
        assert_eq!(
            recent.since(&plan).map(|ids| ids.len()),
            Some(RECENT_IDS_MAX)
        );
        recent.note(0);
        assert_eq!(recent.since(&plan), None);
    }
}
