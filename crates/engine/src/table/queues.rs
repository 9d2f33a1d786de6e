//! All queues, with a list of those that changed since readers last got their counts.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use queue::Queue;

use crate::catalog::TableId;
use crate::table::in_manifest::InManifest;

/// Queues by number. `get_mut` marks the queue as touched, so that publishing costs the queues that a turn touched, not all 4,096
/// that there may be.
#[derive(Default)]
pub(crate) struct Queues {
    tables: BTreeMap<TableId, Entry>,
    /// Queues that may have changed since [`Queues::take_touched`]. Each existing queue at most once; dropped queues may be among
    /// them.
    touched: Vec<TableId>,
    /// Number of queues with `rows_max=` or `bytes_max=`.
    bounded: usize,
    /// Units that the conditions of all waits may still spend in this turn.
    condition_units: Arc<AtomicU64>,
}

/// One queue among the engine's tables.
struct Entry {
    queue: Queue,
    /// Its checkpoint in manifests.
    manifests: InManifest,
    /// Whether `touched` lists it.
    is_touched: bool,
}

impl Queues {
    /// A new turn: the conditions of all waits together may spend `units`.
    pub(crate) fn begin_turn(&self, units: u64) {
        self.condition_units.store(units, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, table: &TableId) -> Option<&Queue> {
        self.tables.get(table).map(|entry| &entry.queue)
    }

    /// The queue, to be changed: it is marked as touched.
    pub(crate) fn get_mut(&mut self, table: &TableId) -> Option<&mut Queue> {
        let entry = self.tables.get_mut(table)?;
        if !std::mem::replace(&mut entry.is_touched, true) {
            self.touched.push(*table);
        }
        Some(&mut entry.queue)
    }

    /// The queue, to make its report for readers. It is not marked as touched.
    pub(crate) fn get_settled_mut(&mut self, table: &TableId) -> Option<&mut Queue> {
        self.tables.get_mut(table).map(|entry| &mut entry.queue)
    }

    /// Adds a queue, with its checkpoint in manifests.
    pub(crate) fn insert(&mut self, table: TableId, mut queue: Queue, manifests: InManifest) {
        queue.share_units(&self.condition_units);
        self.touched.push(table);
        self.bounded += usize::from(queue.is_bounded());
        let entry = Entry {
            queue,
            manifests,
            is_touched: true,
        };
        self.tables.insert(table, entry);
    }

    pub(crate) fn remove(&mut self, table: &TableId) {
        if let Some(entry) = self.tables.remove(table) {
            self.bounded -= usize::from(entry.queue.is_bounded());
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&TableId, &Queue)> {
        let entries = self.tables.iter();
        entries.map(|(table, entry)| (table, &entry.queue))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Queue> {
        self.tables.values().map(|entry| &entry.queue)
    }

    pub(crate) fn keys(&self) -> Vec<TableId> {
        self.tables.keys().copied().collect()
    }

    /// Notes each queue's checkpoint, which goes into the manifest that is begun now.
    pub(crate) fn begin_manifest(&mut self) {
        for entry in self.tables.values_mut() {
            entry.manifests.begin(entry.queue.folded.position);
        }
    }

    /// The manifest that was begun last is durable.
    pub(crate) fn end_manifest(&mut self) {
        let entries = self.tables.values_mut();
        entries.for_each(|entry| entry.manifests.end());
    }

    /// A queue's checkpoint in manifests; `None` where there is no such queue.
    pub(crate) fn manifests(&self, table: &TableId) -> Option<InManifest> {
        self.tables.get(table).map(|entry| entry.manifests)
    }

    /// Whether any queue has `rows_max=` or `bytes_max=`.
    pub(crate) fn any_bounded(&self) -> bool {
        self.bounded > 0
    }

    /// The queues that may have changed since the last call, dropped ones perhaps among them.
    pub(crate) fn take_touched(&mut self) -> Vec<TableId> {
        let touched = std::mem::take(&mut self.touched);
        for table in &touched {
            if let Some(entry) = self.tables.get_mut(table) {
                entry.is_touched = false;
            }
        }
        touched
    }
}
