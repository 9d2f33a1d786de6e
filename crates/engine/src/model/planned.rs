//! An UPDATE of many rows that a reader has worked out, on its way to the engine's thread.

use std::fmt;
use std::sync::Arc;

use index::PlannedChange;

use crate::command::Definition;
use crate::record::UpdatedRows;

/// The rows of an UPDATE and their new values, over one snapshot. Cheap to clone.
#[derive(Clone)]
pub struct PlannedUpdate(Arc<Plan>);

struct Plan {
    definition: Arc<Definition>,
    change: PlannedChange,
    rows: UpdatedRows,
}

impl PlannedUpdate {
    /// `definition`: that of the table when the rows were chosen. `rows`: the values of `change`, as a record holds them.
    pub(crate) fn new(
        definition: Arc<Definition>,
        change: PlannedChange,
        rows: UpdatedRows,
    ) -> PlannedUpdate {
        PlannedUpdate(Arc::new(Plan {
            definition,
            change,
            rows,
        }))
    }

    pub(crate) fn definition(&self) -> &Arc<Definition> {
        &self.0.definition
    }

    pub(crate) fn change(&self) -> &PlannedChange {
        &self.0.change
    }

    pub(crate) fn rows(&self) -> &UpdatedRows {
        &self.0.rows
    }
}

/// Two are equal if they are one.
impl PartialEq for PlannedUpdate {
    fn eq(&self, other: &PlannedUpdate) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for PlannedUpdate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.0.rows.ids.len();
        formatter
            .debug_struct("PlannedUpdate")
            .field("rows", &rows)
            .finish_non_exhaustive()
    }
}
