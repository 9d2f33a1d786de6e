//! Search and pq tables as statements read them.

use std::sync::Arc;

use index::{Control, Interrupt, Located, Memory, Reason};
use language::meter::Meter;
use language::tree::Query;
use relation::bind::BoundSelect;
use relation::json::JsonStep;
use relation::options::{Options, Ranker};
use relation::request::Select;
use relation::rows::{BoxedRows, Fetch, Groups, JoinBounds, JoinRows};
use relation::source::{AllMade, Asked, Copied, MadeGroups, Shape, Source};
use relation::value::Value;

use super::select::{PARSE, outlined, query_of};
use super::{PercolateView, SearchView, Snapshot, View};
use crate::command::{Answer, Definition, Searched, TableSource};
use crate::decide::read::Queries;
use crate::error::{Error, Result};
use crate::failure;

impl Searched for Snapshot {
    fn definition(&self, table: &str) -> Result<Arc<Definition>> {
        Snapshot::definition(self, table)
    }

    fn source(&self, table: &str) -> Result<Arc<TableSource>> {
        if let Some(source) = self.search_source(table)? {
            return Ok(Arc::new(source));
        }
        Ok(Arc::new(self.standing_source(table)?))
    }

    fn select(&self, select: &Select, options: &Options, control: &Control) -> Result<Answer> {
        Snapshot::select(self, select, options, control)
    }
}

impl Snapshot {
    /// A search table, or several as one; `None`: the table is of another type.
    pub(super) fn search_source(&self, table: &str) -> Result<Option<SearchSource>> {
        let view = self.searched(table)?;
        Ok(view.map(|view| SearchSource {
            ranker: self.ranker_of(&view.definition),
            view,
        }))
    }

    /// A pq table. Refuses a queue.
    pub(super) fn standing_source(&self, table: &str) -> Result<StandingSource> {
        match self.view(table)? {
            View::Percolate(view) => Ok(StandingSource(Arc::clone(view))),
            View::Search(_) | View::Queue(_) => {
                Err(Error::invalid(format!("'{table}' is not a search table")))
            }
        }
    }
}

/// A search table.
pub(super) struct SearchSource {
    pub(super) view: Arc<SearchView>,
    /// The ranker that the table sets.
    ranker: Option<Ranker>,
}

impl SearchSource {
    /// A SELECT bound to the table, and its MATCH.
    pub(super) fn bound<'s>(
        &self,
        select: &'s Select,
        options: &Options,
        control: &Control,
    ) -> Result<(BoundSelect<'s>, Option<Query>)> {
        let view = &*self.view;
        if let Some(profile) = &control.profile {
            profile.reads(&view.definition.name);
        }
        let refused = |error| failure::of_bind(&view.definition.name, error);
        let mut bound = view.rows.bind(select, options).map_err(refused)?;
        if select.matching.is_some() && options.own_ranker().is_none() {
            bound.options.ranker = self.ranker;
        }
        let text = select.matching.as_ref();
        let query = text.map(|text| {
            let parse = || query_of(text, options, view);
            control.step(PARSE, parse, |query| outlined(query, view))
        });
        Ok((bound, query.transpose()?))
    }
}

impl Source for SearchSource {
    type Error = Error;
    type Control = Control;

    fn shape(&self) -> Shape {
        self.view.definition.shape()
    }

    fn count(&self) -> u64 {
        self.view.rows.count()
    }

    fn locate(&self, asked: &Asked<'_>, control: &Control) -> Result<BoxedRows<Error>> {
        let (mut bound, query) = self.bound(asked.select, asked.options, control)?;
        bound.options.cutoff = 0;
        bound.scroll = None;
        let answer = self.view.rows.search(&bound, query.as_ref(), control);
        let answer = answer.map_err(failure::of_index)?;
        if let Some(reason) = answer.partial {
            // Rows that are missing here would be missing from each row that they join.
            return Err(failure::of_interrupt(reason));
        }
        let located = answer.rows.located(self.view.definition.columns.len());
        let located = located.ok_or_else(|| Error::internal("a count has no rows"))?;
        Ok(Arc::new(SearchRows(located)))
    }

    fn group(
        &self,
        asked: &Asked<'_>,
        groupings: &[Arc<Groups>],
        control: &Control,
    ) -> Result<AllMade<Error>> {
        let (bound, query) = self.bound(asked.select, asked.options, control)?;
        let made = (self.view.rows).group(&bound, query.as_ref(), groupings, control);
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

/// A pq table: its rows are standing queries.
pub(super) struct StandingSource(Arc<PercolateView>);

impl StandingSource {
    /// Answers a SELECT on it alone.
    pub(super) fn select(&self, select: &Select, control: &Control) -> Result<Answer> {
        let view = &*self.0;
        let queries = Queries {
            table: &view.definition.name,
            lost: &view.lost,
            control,
        };
        let (len, by_id) = (view.queries.len() as u64, |id| view.queries.get(id));
        queries.select(select, len, view.queries.iter(), by_id)
    }
}

impl Source for StandingSource {
    type Error = Error;
    type Control = Control;

    fn shape(&self) -> Shape {
        self.0.definition.shape()
    }

    fn count(&self) -> u64 {
        self.0.queries.len() as u64
    }

    fn locate(&self, asked: &Asked<'_>, control: &Control) -> Result<BoxedRows<Error>> {
        let shape = self.shape();
        let answer = self.select(&asked.copying(&shape), control)?;
        if answer.partial == Some(Reason::Damage) {
            // As of a search table: rows would be missing from each row that they join.
            self.0.lost.check(&self.0.definition.name)?;
        }
        let rows = answer.rows.collect::<Result<_>>()?;
        Ok(Arc::new(Copied::new(
            rows,
            shape.columns.len(),
            asked.needed,
        )))
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
