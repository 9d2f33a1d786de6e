//! Values as they were sent become rows of a search table.

use std::sync::Arc;

use language::meter::Meter;
use relation::row::encode;
use relation::schema::Column;
use relation::value::Value;

use super::check_texts;
use crate::command::Definition;
use crate::decide::rows::{Plan, absent_in_document};
use crate::error::Result;

/// Turns values as they were sent into rows of a search table.
pub(crate) struct Making<'t> {
    plan: Plan,
    columns: &'t [Column],
    /// Buffer for the values of a row.
    stored: Vec<Value>,
}

impl<'t> Making<'t> {
    /// `named`: the columns of the statement; `None`: all, behind the id.
    pub(crate) fn new(definition: &'t Definition, named: Option<&[String]>) -> Result<Making<'t>> {
        let columns = &definition.columns;
        Ok(Making {
            plan: Plan::new(&definition.name, columns, true, named)?,
            columns,
            stored: Vec::with_capacity(columns.len()),
        })
    }

    /// The id given in a row. `number`: that of the row, from 1.
    pub(crate) fn id(&self, values: &mut [Value], number: usize) -> Result<Option<u64>> {
        self.plan.id(values, number)
    }

    /// The row, of the values that are left when its id was taken out. `is_one`: the statement has no other row. If the meter has
    /// stopped, the answer is of no use.
    pub(crate) fn row(
        &mut self,
        values: &mut [Value],
        number: usize,
        is_one: bool,
        meter: &dyn Meter,
    ) -> Result<Arc<[u8]>> {
        let given = (values, number);
        self.plan.fill(
            self.columns,
            given,
            absent_in_document,
            meter,
            &mut self.stored,
        )?;
        let checked = check_texts(self.columns, &self.stored);
        checked.map_err(|error| error.at_row(!is_one, number))?;
        Ok(encode(&self.stored))
    }
}
