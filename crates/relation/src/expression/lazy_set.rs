//! The set of an IN list, which is made when the first row asks.

use std::sync::{Mutex, OnceLock, PoisonError};

use language::meter::Work;
use rustc_hash::FxHashSet;

use super::list::List;
use super::set::Set;

/// The set of a list. It is made when the first row asks: where ids name the rows, none does.
#[derive(Debug)]
pub(super) struct LazySet {
    list: List,
    set: OnceLock<Set>,
    /// Held by the thread that makes the set: it takes the memory of the list once more.
    making: Mutex<()>,
}

impl LazySet {
    pub(super) fn new(list: List) -> LazySet {
        LazySet {
            list,
            set: OnceLock::new(),
            making: Mutex::new(()),
        }
    }

    fn set(&self) -> &Set {
        self.set.get_or_init(|| Set::new(&self.list))
    }

    /// As [`LazySet::set`], which is counted where it has to be made. `None`: the meter has stopped.
    pub(super) fn set_within(&self, work: &Work<'_>) -> Option<&Set> {
        if let Some(set) = self.set.get() {
            return Some(set);
        }
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(set) = self.set.get() {
            return Some(set);
        }
        let set = Set::within(&self.list, work)?;
        Some(self.set.get_or_init(|| set))
    }

    /// Whether all constants are whole numbers.
    pub(super) fn is_whole(&self) -> bool {
        self.list.whole().is_some()
    }

    /// The constants, if all are whole numbers. `None` also once the meter has stopped.
    pub(super) fn whole_within(&self, work: &Work<'_>) -> Option<&FxHashSet<i64>> {
        self.list.whole()?;
        self.set_within(work).map(Set::whole)
    }

    /// The set, if it may consist of texts.
    pub(super) fn of_texts(&self) -> Option<&Set> {
        self.list.whole().is_none().then(|| self.set())
    }
}
