//! `order_by=`: only the first row of a key goes out; the next one follows when the first is gone or ended.
//!
//! With `order_by='customer'` a cursor meets row 1 (ann), row 2 (bob), row 3 (ann) and row 7 (ann):
//!
//! | key | first | later |
//! |---|---|---|
//! | ann | 1 | 3, 7 |
//! | bob | 2 | |
//!
//! Rows 1 and 2 may go out. When row 3 is deleted nothing may go out in its place. When row 1 is ended, row 7 is the first
//! of ann. A row keeps its place while it is held or delayed, so row 7 waits for a delayed row 1 as well.
//!
//! Invariants:
//! - A row of `of` is the first or a later row of exactly one chain, that of its key.
//! - A key without rows has no chain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ids::RowNumber;

/// The rows that a cursor has met, by key. Rows whose key is NULL are not here: they wait for no other row.
#[derive(Default)]
pub(crate) struct Keys {
    chains: FxHashMap<Arc<[u8]>, Chain>,
    of: BTreeMap<RowNumber, Arc<[u8]>>,
    /// Length of all rows' keys, a shared key counted once for each row. Bytes.
    key_bytes: usize,
}

/// Memory of a row beside its key: reference counts, entries in maps and sets. Bytes, estimated.
const ROW_BYTES: usize = 160;

struct Chain {
    first: RowNumber,
    later: BTreeSet<RowNumber>,
}

impl Keys {
    /// Notes a row and its key. True where the row is the first of its key.
    pub(crate) fn meet(&mut self, row: RowNumber, key: Vec<u8>) -> bool {
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

    /// Whether a row is the first of its key. True for a row that was not met, or whose key is NULL.
    pub(crate) fn is_first(&self, row: RowNumber) -> bool {
        let chain = self.of.get(&row).and_then(|key| self.chains.get(key));
        chain.is_none_or(|chain| chain.first == row)
    }

    /// Removes a row. Returns the next row of its key, if the removed row was the first: that one may go out now.
    pub(crate) fn gone(&mut self, row: RowNumber) -> Option<RowNumber> {
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

    /// Memory of the rows that were met. Bytes, estimated.
    pub(crate) fn bytes(&self) -> usize {
        self.key_bytes + self.of.len() * ROW_BYTES
    }

    /// The rows that were met, rising.
    pub(crate) fn met(&self) -> impl Iterator<Item = RowNumber> + '_ {
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
        assert!(keys.meet(RowNumber(1), key()));
        assert!(!keys.meet(RowNumber(3), key()));
        assert!(!keys.meet(RowNumber(7), key()));
        assert!(keys.meet(RowNumber(2), b"other".to_vec()));
        assert_eq!(keys.gone(RowNumber(3)), None);
        assert_eq!(keys.gone(RowNumber(1)), Some(RowNumber(7)));
        assert!(keys.is_first(RowNumber(7)));
        assert_eq!(keys.gone(RowNumber(7)), None);
        assert_eq!(keys.gone(RowNumber(2)), None);
        assert!(keys.chains.is_empty() && keys.of.is_empty());
    }
}
