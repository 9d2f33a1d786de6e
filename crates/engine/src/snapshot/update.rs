//! UPDATE and DELETE of many rows: worked out, or only checked, by a reader.

use std::sync::Arc;

use index::Control;
use query::request::{Delete, Update};

use super::Snapshot;
use crate::command::Kind;
use crate::decide;
use crate::decide::update::{check_kind, work_out};
use crate::error::{Error, Result};
use crate::planned::PlannedUpdate;

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
        let over = (&*view.definition, &*view.analyzer);
        work_out(&view.rows, over, update, control).map(|_| ())
    }

    /// Checks a DELETE's table and clauses.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` and `NotYet` for what a DELETE of this kind of table refuses.
    pub fn check_delete(&self, delete: &Delete) -> Result<()> {
        decide::delete::check(&self.definition(&delete.table)?.kind, delete)
    }

    /// Works out an UPDATE of a search table. `None`: the engine decides it, since the table is none, or the statement has ORDER
    /// BY or LIMIT, whose rows cannot be decided one by one.
    ///
    /// # Errors
    /// Those of [`Snapshot::select`]; `Invalid`, `BadValue`, `OutOfRange`; `Limit` of rows.
    pub fn plan_update(&self, update: &Update, control: &Control) -> Result<Option<PlannedUpdate>> {
        if !update.order.is_empty() || update.limit.is_some() {
            return Ok(None);
        }
        let Ok(Some(view)) = self.searched(&update.table) else {
            return Ok(None);
        };
        let definition = Arc::clone(&view.definition);
        if !matches!(definition.kind, Kind::Search(_)) {
            return Ok(None);
        }
        let over = (&*definition, &*view.analyzer);
        let (change, rows) = work_out(&view.rows, over, update, control)?;
        Ok(Some(PlannedUpdate::new(definition, change, rows)))
    }
}
