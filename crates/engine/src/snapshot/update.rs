//! An UPDATE of many rows, worked out by a reader.

use std::sync::Arc;

use index::{Control, ReadColumn};
use query::options::Options;
use query::request::Update;
use query::schema::text_names;
use query::value::Value;

use super::Snapshot;
use crate::command::Kind;
use crate::decide::update::{Assignments, check_count, rows_of};
use crate::error::{Error, Result};
use crate::failure;
use crate::planned::PlannedUpdate;
use crate::record::UpdatedRows;

impl Snapshot {
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
        let assignments = Assignments::new(&definition, update)?;
        let mut rows = UpdatedRows::new(assignments.columns());
        let select = rows_of(update);
        let bound = view.rows.bind(&select, &Options::default());
        let bound = bound.map_err(|error| failure::of_bind(&definition.name, error))?;
        let fields = text_names(&definition.columns);
        let query = match &update.matching {
            Some(text) => Some(query::parse(text, &fields, &view.analyzer).map_err(Error::Query)?),
            None => None,
        };
        let columns = assignments.columns();
        let mut values = Vec::new();
        let mut set = |id: u64, read: &ReadColumn<'_>, out: &mut Vec<(u16, Value)>| {
            values.clear();
            check_count(rows.ids.len())?;
            if assignments.values(id, read, rows.ids.len() + 1, &mut values)? {
                out.extend(columns.iter().copied().zip(values.iter().cloned()));
                rows.push(id, &mut values);
            }
            Ok::<(), Error>(())
        };
        let change = view
            .rows
            .plan_change(&bound, query.as_ref(), control, &mut set)?;
        Ok(Some(PlannedUpdate::new(definition, change, rows)))
    }
}
