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
}

/// A moment of a table. While it lives, the table keeps the ids of later changes.
#[derive(Clone)]
pub(crate) struct Since {
    changes: u64,
    _plan: Arc<()>,
}

impl Recent {
    /// The present state of the table.
    pub(crate) fn now(&self) -> Since {
        Since {
            changes: self.changes,
            _plan: Arc::clone(&self.plans),
        }
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
        let count = usize::try_from(self.changes - since.changes).ok()?;
        let first = self.ids.len().checked_sub(count)?;
        let mut ids: Vec<u64> = self.ids.range(first..).copied().collect();
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
