//! All queues, and which of them readers have not seen as they are now.

use std::collections::BTreeMap;

use queue::Queue;

use crate::catalog::TableId;
use crate::table::in_manifest::InManifest;

/// Queues by number. A caller that borrows a queue for writing marks it as changed, so that a turn costs the queues that it
/// touched and not all queues.
#[derive(Default)]
pub(crate) struct Queues {
    tables: BTreeMap<TableId, Entry>,
    /// Those that may have changed since [`Queues::take_touched`]; each once, removed ones perhaps.
    touched: Vec<TableId>,
    /// How many have `rows_max=` or `bytes_max=`.
    bounded: usize,
}

/// One queue among the engine's tables.
struct Entry {
    queue: Queue,
    /// How far its files reach, in manifests.
    manifests: InManifest,
    /// Whether it is among those that readers have not seen as they are now.
    is_touched: bool,
}

impl Queues {
    pub(crate) fn get(&self, table: &TableId) -> Option<&Queue> {
        self.tables.get(table).map(|entry| &entry.queue)
    }

    /// The queue, to be changed.
    pub(crate) fn get_mut(&mut self, table: &TableId) -> Option<&mut Queue> {
        let entry = self.tables.get_mut(table)?;
        if !std::mem::replace(&mut entry.is_touched, true) {
            self.touched.push(*table);
        }
        Some(&mut entry.queue)
    }

    /// The queue, for what readers are shown of it: that does not count as a change.
    pub(crate) fn get_settled_mut(&mut self, table: &TableId) -> Option<&mut Queue> {
        self.tables.get_mut(table).map(|entry| &mut entry.queue)
    }

    /// A queue whose files reach as far as the manifest says.
    pub(crate) fn insert(&mut self, table: TableId, queue: Queue, manifests: InManifest) {
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

    /// Notes what the manifest that is being begun says of each queue.
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

    /// How far a queue's files reach, in manifests.
    pub(crate) fn manifests(&self, table: &TableId) -> Option<InManifest> {
        self.tables.get(table).map(|entry| entry.manifests)
    }

    /// Whether some queue is bounded.
    pub(crate) fn any_bounded(&self) -> bool {
        self.bounded > 0
    }

    /// The queues that may have changed since the last call.
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
