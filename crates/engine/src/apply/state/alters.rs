//! Applies an ALTER TABLE. Columns are in the catalog, so the checkpoint of the manifest decides, not that of the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use queue::Origin;
use relation::schema::Column;

use super::{Prepared, State};
use crate::catalog::TableId;
use crate::command::Definition;
use crate::error::Result;
use crate::failure;
use crate::table::reshape::{is_needed, reshape};
use crate::table::search::{keep, shape};

impl State {
    pub(super) fn apply_alter(
        &mut self,
        table: TableId,
        (columns, origins): (&[Column], &[Origin]),
        position: u64,
        prepared: &mut Prepared,
    ) -> Result<bool> {
        if position <= self.catalog_folded {
            return Ok(false);
        }
        let Some(before) = self.catalog.get(table).cloned() else {
            return self.skip_dropped(table, position);
        };
        let definition = Arc::new(Definition {
            columns: columns.to_vec(),
            ..Definition::clone(&before)
        });
        if let Some(queue) = self.queues.get_mut(&table) {
            queue.alter(columns, origins.to_vec());
        }
        if let Some(pq) = self.percolates.get_mut(&table) {
            pq.alter(Arc::clone(&definition), prepared.read_again.take())?;
        }
        if self.searches.contains_key(&table) {
            self.alter_search(table, (&before, &definition), origins, position, prepared)?;
        }
        self.catalog.insert(table, definition);
        self.is_catalog_unpublished = true;
        self.connect()?;
        Ok(true)
    }

    /// Rows that must be written again are, all of them: the files then hold every record up to this one. Below it a restart
    /// finds the old columns, and above it the new ones.
    fn alter_search(
        &mut self,
        table: TableId,
        (before, definition): (&Definition, &Arc<Definition>),
        origins: &[Origin],
        position: u64,
        prepared: &mut Prepared,
    ) -> Result<()> {
        let Some(search) = self.searches.get_mut(&table) else {
            return Ok(());
        };
        search.definition = Arc::clone(definition);
        search.keep = keep(definition);
        search.is_unpublished = true;
        if !is_needed(&before.columns, &definition.columns, origins) {
            search.table.set_shape(shape(definition));
            return Ok(());
        }
        let altered = match prepared.altered.take() {
            Some(altered) => altered,
            None => {
                let reshape = reshape(&before.columns, definition, origins);
                let made = search.table.altered(&reshape, BTreeMap::new(), position);
                made.map_err(failure::of_index)?
            }
        };
        search.files = search.table.install_altered(altered);
        search.folded = position;
        search.file_changes += 1;
        search.merge_due = true;
        Ok(())
    }
}
