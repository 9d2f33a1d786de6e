//! An UPDATE of many rows, worked out by a reader.

use std::sync::Arc;

use index::Control;
use query::request::Update;

use super::Snapshot;
use crate::command::Kind;
use crate::decide::update::{Assignments, work_out};
use crate::error::Result;
use crate::planned::PlannedUpdate;

impl Snapshot {
    /// Checks what an UPDATE sets, without a look at rows.
    ///
    /// # Errors
    /// `NoSuchTable`; `UnknownColumn`; `Invalid` for what cannot be set.
    pub fn check_update(&self, update: &Update) -> Result<()> {
        let definition = self.definition(&update.table)?;
        Assignments::new(&definition, update).map(|_| ())
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
