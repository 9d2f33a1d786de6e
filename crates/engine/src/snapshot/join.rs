//! The rows of search tables as joins read them.

use std::sync::Arc;

use index::{Control, Interrupt, Located, Memory};
use language::meter::Meter;
use relation::json::JsonStep;
use relation::options::Options;
use relation::request::Select;
use relation::rows::{BoxedRows, Fetch, Groups, JoinBounds, JoinRows};
use relation::value::Value;

use super::{Snapshot, View};
use crate::command::{Answer, Definition, MadeGroups, Searched};
use crate::error::{Error, Result};
use crate::failure;

impl Searched for Snapshot {
    fn definition(&self, table: &str) -> Result<Arc<Definition>> {
        Snapshot::definition(self, table)
    }

    fn rows(&self, table: &str) -> Result<u64> {
        if let Some(view) = self.searched(table)? {
            return Ok(view.rows.count());
        }
        Ok(match self.view(table)? {
            View::Percolate(view) => view.queries.len() as u64,
            _ => 0,
        })
    }

    fn select(&self, select: &Select, options: &Options, control: &Control) -> Result<Answer> {
        Snapshot::select(self, select, options, control)
    }

    fn locate(
        &self,
        select: &Select,
        options: &Options,
        control: &Control,
    ) -> Result<BoxedRows<Error>> {
        let Some(view) = self.searched(&select.table)? else {
            return Err(Error::internal("only rows of search tables are located"));
        };
        let (mut bound, query) = self.bound(&view, select, options, control)?;
        bound.options.cutoff = 0;
        bound.scroll = None;
        let answer = view.rows.search(&bound, query.as_ref(), control);
        let answer = answer.map_err(failure::of_index)?;
        if let Some(reason) = answer.partial {
            // Rows that are missing here would be missing from each row that they join.
            return Err(failure::of_interrupt(reason));
        }
        let located = answer.rows.located(view.definition.columns.len());
        let located = located.ok_or_else(|| Error::internal("a count has no rows"))?;
        Ok(Arc::new(SearchRows(located)))
    }

    fn group(
        &self,
        select: &Select,
        options: &Options,
        groupings: &[Arc<Groups>],
        control: &Control,
    ) -> Result<Vec<Option<MadeGroups>>> {
        let Some(view) = self.searched(&select.table)? else {
            return Ok(groupings.iter().map(|_| None).collect());
        };
        let (bound, query) = self.bound(&view, select, options, control)?;
        let made = view.rows.group(&bound, query.as_ref(), groupings, control);
        let made = made.map_err(failure::of_index)?.into_iter();
        let made = made.map(|of| {
            of.map(|of| MadeGroups {
                rows: Arc::new(SearchRows(of.rows)),
                made: of.made,
            })
        });
        Ok(made.collect())
    }
}

/// Rows of a search table.
struct SearchRows(Located);

impl JoinRows for SearchRows {
    type Error = Error;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, row: u32, column: usize) -> Result<Value> {
        let value = self.0.value(row as usize, column);
        value.map_err(failure::of_index)
    }

    fn value_bytes(&self, row: u32, column: usize) -> usize {
        // Where it cannot be read, the read of the value says so.
        self.0.value_bytes(row as usize, column).unwrap_or(0)
    }

    fn fetch(&self, row: u32, columns: &[usize], step: Fetch) {
        self.0.fetch(row as usize, columns, step);
    }

    fn value_at(&self, row: u32, column: usize, path: &[JsonStep]) -> Result<Value> {
        let value = self.0.value_at(row as usize, column, path);
        value.map_err(failure::of_index)
    }
}

/// The bounds of a join: the memory and the stop switch of its statement.
#[derive(Debug)]
pub struct JoinControl {
    /// Memory for the rows that it holds.
    pub memory: Arc<Memory>,
    /// The switch of KILL and of the time limit.
    pub interrupt: Arc<Interrupt>,
}

impl JoinBounds for JoinControl {
    type Error = Error;

    fn take(&self, bytes: u64) -> Result<()> {
        self.memory.take(bytes).map_err(failure::of_index)
    }

    fn take_row(&self, bytes: u64) -> Result<()> {
        self.memory.take_row(bytes).map_err(failure::of_index)
    }

    fn check(&self) -> Result<()> {
        self.interrupt.check().map_err(failure::of_index)
    }

    fn meter(&self) -> &dyn Meter {
        &*self.interrupt
    }
}
