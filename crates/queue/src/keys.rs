//! `order_by=`: of the rows of one key only the first goes out; the next one follows when that is gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

/// Rows that have been met, by their keys.
#[derive(Default)]
pub(crate) struct Keys {
    chains: FxHashMap<Arc<[u8]>, Chain>,
    of: BTreeMap<u64, Arc<[u8]>>,
    /// Of the keys of all rows, each with its own copy.
    key_bytes: usize,
}

/// Memory of a row beside its key: the counts of its holders, its places in maps and sets.
const ROW_BYTES: usize = 160;

struct Chain {
    first: u64,
    later: BTreeSet<u64>,
}

impl Keys {
    /// Notes a row; true where it is the first of its key.
    pub(crate) fn meet(&mut self, row: u64, key: Vec<u8>) -> bool {
        if self.of.contains_key(&row) {
            return self.is_first(row);
        }
        let key: Arc<[u8]> = key.into();
        self.key_bytes += key.len();
        self.of.insert(row, Arc::clone(&key));
        match self.chains.get_mut(&key) {
            None => {
                let later = BTreeSet::new();
                self.chains.insert(key, Chain { first: row, later });
                true
            }
            Some(chain) => {
                chain.later.insert(row);
                false
            }
        }
    }

    /// Whether no row of its key was met before it; true for a row that was not met.
    pub(crate) fn is_first(&self, row: u64) -> bool {
        let chain = self.of.get(&row).and_then(|key| self.chains.get(key));
        chain.is_none_or(|chain| chain.first == row)
    }

    /// A row is gone. Gives the one of its key that is first now, if another was.
    pub(crate) fn gone(&mut self, row: u64) -> Option<u64> {
        let key = self.of.remove(&row)?;
        self.key_bytes -= key.len();
        let chain = self.chains.get_mut(&key)?;
        if chain.first != row {
            chain.later.remove(&row);
            return None;
        }
        match chain.later.pop_first() {
            Some(next) => {
                chain.first = next;
                Some(next)
            }
            None => {
                self.chains.remove(&key);
                None
            }
        }
    }

    /// Memory of the rows that were met.
    pub(crate) fn bytes(&self) -> usize {
        self.key_bytes + self.of.len() * ROW_BYTES
    }

    /// The rows that were met.
    pub(crate) fn met(&self) -> impl Iterator<Item = u64> + '_ {
        self.of.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_key_the_first_row_goes_and_then_the_next() {
        let mut keys = Keys::default();
        let key = || b"k".to_vec();
        assert!(keys.meet(1, key()));
        assert!(!keys.meet(3, key()));
        assert!(!keys.meet(7, key()));
        assert!(keys.meet(2, b"other".to_vec()));
        assert_eq!(keys.gone(3), None);
        assert_eq!(keys.gone(1), Some(7));
        assert!(keys.is_first(7));
        assert_eq!(keys.gone(7), None);
        assert_eq!(keys.gone(2), None);
        assert!(keys.chains.is_empty() && keys.of.is_empty());
    }
}
