//! UPDATE and DELETE that are only checked, for EXPLAIN.

use std::sync::Arc;

use index::Control;
use relation::request::{Delete, Update};

use super::Snapshot;
use crate::decide;
use crate::decide::delete::Documents;
use crate::decide::update::{check_kind, work_out};
use crate::error::{Error, Result};

impl Snapshot {
    /// Checks an UPDATE as if it were done: its table, what it sets, and the values of each row.
    ///
    /// # Errors
    /// Those of an UPDATE.
    pub fn check_update(&self, update: &Update, control: &Control) -> Result<()> {
        let definition = self.definition(&update.table)?;
        check_kind(&definition, &update.table)?;
        let Some(view) = self.searched(&update.table)? else {
            return Err(Error::NoSuchTable(update.table.clone()));
        };
        let over = Documents {
            definition: Arc::clone(&view.definition),
            analyzer: Arc::clone(&view.analyzer),
            rows: Arc::clone(&view.rows),
        };
        work_out(&over, update, control).map(|_| ())
    }

    /// Checks a DELETE's table and clauses.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` and `NotYet` for what a DELETE of this kind of table refuses.
    pub fn check_delete(&self, delete: &Delete) -> Result<()> {
        decide::delete::check(&self.definition(&delete.table)?.kind, delete)
    }
}
