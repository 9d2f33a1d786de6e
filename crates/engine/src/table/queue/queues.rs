//! All queues, and which of them readers have not seen as they are now.

use std::collections::BTreeMap;
use std::collections::btree_map::{Iter, Keys, Values, ValuesMut};

use crate::catalog::TableId;

use super::QueueTable;

/// Queues by number. Whoever may change one is taken to have done so: a turn then costs what it touched, however many
/// queues there are.
#[derive(Default)]
pub(crate) struct Queues {
    tables: BTreeMap<TableId, QueueTable>,
    /// Those that may have changed since [`Queues::take_touched`]; each once, removed ones perhaps.
    touched: Vec<TableId>,
    /// How many have `rows_max=` or `bytes_max=`.
    bounded: usize,
}

impl Queues {
    pub(crate) fn get(&self, table: &TableId) -> Option<&QueueTable> {
        self.tables.get(table)
    }

    /// The queue, to be changed.
    pub(crate) fn get_mut(&mut self, table: &TableId) -> Option<&mut QueueTable> {
        let queue = self.tables.get_mut(table)?;
        if !std::mem::replace(&mut queue.is_touched, true) {
            self.touched.push(*table);
        }
        Some(queue)
    }

    /// The queue, for what readers are shown of it: that does not count as a change.
    pub(crate) fn get_settled_mut(&mut self, table: &TableId) -> Option<&mut QueueTable> {
        self.tables.get_mut(table)
    }

    /// Every queue, for changes that readers are not shown.
    pub(crate) fn settled_mut(&mut self) -> ValuesMut<'_, TableId, QueueTable> {
        self.tables.values_mut()
    }

    pub(crate) fn insert(&mut self, table: TableId, mut queue: QueueTable) {
        queue.is_touched = true;
        self.touched.push(table);
        self.bounded += usize::from(queue.is_bounded());
        self.tables.insert(table, queue);
    }

    pub(crate) fn remove(&mut self, table: &TableId) {
        if let Some(queue) = self.tables.remove(table) {
            self.bounded -= usize::from(queue.is_bounded());
        }
    }

    pub(crate) fn keys(&self) -> Keys<'_, TableId, QueueTable> {
        self.tables.keys()
    }

    pub(crate) fn values(&self) -> Values<'_, TableId, QueueTable> {
        self.tables.values()
    }

    pub(crate) fn iter(&self) -> Iter<'_, TableId, QueueTable> {
        self.tables.iter()
    }

    /// Whether some queue is bounded.
    pub(crate) fn any_bounded(&self) -> bool {
        self.bounded > 0
    }

    /// The queues that may have changed since the last call.
    pub(crate) fn take_touched(&mut self) -> Vec<TableId> {
        let touched = std::mem::take(&mut self.touched);
        for table in &touched {
            if let Some(queue) = self.tables.get_mut(table) {
                queue.is_touched = false;
            }
        }
        touched
    }
}
