//! RENAME TABLE, and ALTER TABLE of distributed tables: only the catalog changes.

use super::Engine;
use crate::catalog::{check_parts, check_rename};
use crate::command::{Kind, Reply};
use crate::decide::Decision;
use crate::error::{Error, Result};
use crate::record::{CatalogRecord, Record};

impl Engine {
    /// All tables get their new names in one record, or none does. Waits, deliveries and loads are by number: they go on.
    pub(super) fn rename_tables(&mut self, renames: &[(String, String)]) -> Result<Reply> {
        let names = check_rename(&self.state.catalog, renames)?;
        if names.is_empty() {
            return Ok(Reply::done());
        }
        self.commit(Decision::of(
            Record::Catalog(CatalogRecord::Rename { names }),
            Reply::done(),
        ))
    }

    /// A search sees the local tables of before or those of now, never some of both.
    pub(super) fn alter_locals(&mut self, name: &str, locals: &[String]) -> Result<Reply> {
        let table = self.state.catalog.find(name)?;
        let definition = self.state.catalog.named(name)?;
        if !matches!(definition.kind, Kind::Distributed { .. }) {
            return Err(Error::invalid(format!(
                "'{}' is no distributed table: it has no local= to change",
                definition.name
            )));
        }
        let definition = check_parts(&self.state.catalog, &definition, locals)?;
        let definition = Box::new(definition);
        self.commit(Decision::of(
            Record::Catalog(CatalogRecord::Parts { table, definition }),
            Reply::done(),
        ))
    }
}
