//! Applies RENAME TABLE: the catalog has the new names, and every table a copy of its definition. Rows, files and numbers stay.

use std::sync::Arc;

use super::State;
use crate::catalog::TableId;
use crate::command::Kind;
use crate::error::Result;

impl State {
    /// Gives tables their new names.
    pub(super) fn rename(&mut self, names: &[(TableId, String)]) -> Result<()> {
        for table in self.catalog.rename(names) {
            let Some(definition) = self.catalog.get(table).cloned() else {
                continue;
            };
            if let Some(search) = self.searches.get_mut(&table) {
                search.definition = Arc::clone(&definition);
                search.is_unpublished = true;
            }
            if let Some(pq) = self.percolates.get_mut(&table) {
                pq.definition = Arc::clone(&definition);
                pq.is_unpublished = true;
            }
            if let (Some(queue), Kind::Queue(options)) =
                (self.queues.get_mut(&table), &definition.kind)
            {
                queue.rename(&definition.name, options.dead.clone());
            }
        }
        self.is_catalog_unpublished = true;
        self.connect()
    }
}
