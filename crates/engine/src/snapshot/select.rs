//! SELECT on search tables.

use std::sync::Arc;

use index::{Control, Memory, OnDamage};
use percolate::StandingQuery;
use query::expression::{BinaryOperator, Expression};
use query::options::{Options, Ranker};
use query::request::Select;
use query::tree::Query;

use super::{SearchView, Snapshot, View};
use crate::command::{Answer, Damaged, Definition, Keyword, Kind, Rows};
use crate::decide::delete::named_ids;
use crate::decide::read::queries;
use crate::error::{Error, Result};
use crate::failure;
use crate::table::search::text_names;

/// LIMIT of a scan or MATCH that names none, as in Sphinx.
const IMPLICIT_LIMIT: u64 = 20;

impl Snapshot {
    /// SELECT on a search or pq table. Queues are read by [`crate::Command::Read`], which takes pq tables too.
    ///
    /// Without LIMIT a scan and a MATCH give 20 rows, a lookup by ids every one of them.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for a queue; `UnknownColumn`, `Query`, `NotYet`; `SearchMemory`; `Interrupted`;
    /// `Corrupt` of a segment, also while the rows are read.
    pub fn select(&self, select: &Select, control: &Control) -> Result<Answer> {
        let view = match self.searched(&select.table)? {
            Some(view) => view,
            None => return self.select_other(select, &control.memory),
        };
        let name = view.definition.name.clone();
        let failed = |error| failure::of_index(&name, error);
        let options = Options::parse(&select.options);
        let options = options.map_err(|error| Error::invalid(error.to_string()))?;
        let limit = limit(select, &options)?;
        let query = match &select.matching {
            Some(text) => Some(query_of(text, &options, &view)?),
            None => None,
        };
        let completed;
        let asked = match self.completed(select, limit, &options, &view.definition) {
            Some(select) => {
                completed = select;
                &completed
            }
            None => select,
        };
        let answer = view
            .rows
            .search(asked, query.as_ref(), control)
            .map_err(failed)?;
        let keywords = answer.keywords.into_iter();
        let keyword = |found: index::Keyword| Keyword {
            word: found.word,
            documents: found.documents,
            hits: found.hits,
        };
        let damaged = Damaged::default();
        for index::Warning::Damaged { file, offset, what } in answer.warnings {
            let sentence = lacking(&name, &file, offset, what);
            damaged.add(file, sentence);
        }
        let skips = control.on_damage == OnDamage::Skip && !is_lookup(select);
        let (table, noted) = (name.clone(), damaged.clone());
        let rows = answer.rows.filter_map(move |row| match row {
            Err(index::Error::Corrupt { file, offset, what }) if skips => {
                let sentence = lacking(&table, &file, offset, what);
                noted.add(file, sentence);
                None
            }
            row => Some(row.map_err(|error| failure::of_index(&table, error))),
        });
        Ok(Answer {
            columns: answer.columns,
            rows: Rows::reading(rows).noting(damaged),
            total_found: answer.total_found,
            keywords: keywords.map(keyword).collect(),
            warnings: query.map_or_else(Vec::new, |query| query.warnings),
            partial: answer.partial,
        })
    }
}

/// The warning of a SELECT without the rows of a damaged file.
fn lacking(table: &str, file: &str, offset: u64, what: &str) -> String {
    format!(
        "the answer is partial: rows of table '{table}' cannot be read, file {file} is damaged at byte {offset}: {what}"
    )
}

/// The query of a MATCH, as the options have it read.
fn query_of(text: &str, options: &Options, view: &SearchView) -> Result<Query> {
    let fields = text_names(&view.definition.columns);
    let meant = options.match_mode.map(|mode| mode.query(text));
    let text = meant.as_deref().unwrap_or(text);
    query::parse_as(options.reading, text, &fields, &view.analyzer).map_err(Error::Query)
}

/// LIMIT as it is obeyed: a page of what MATCH finds ends at `max_matches`, and one that begins there or behind is refused, as in Sphinx. A
/// scan is bounded only if it says so, and a look-up by ids has no pages.
fn limit(select: &Select, options: &Options) -> Result<Option<u64>> {
    let is_lookup = is_lookup(select);
    let asked = match select.limit {
        None if !is_lookup => Some(IMPLICIT_LIMIT),
        limit => limit,
    };
    let most = match options.rows_max(select.matching.is_some()) {
        Some(most) if !is_lookup => most,
        _ => return Ok(asked),
    };
    if select.offset >= most {
        return Err(Error::invalid(format!(
            "offset out of bounds (offset={}, max_matches={most})",
            select.offset
        )));
    }
    Ok(asked.map(|asked| asked.min(most - select.offset)))
}

impl Snapshot {
    /// The statement with what it leaves to be understood, if it leaves anything: LIMIT, and the table's ranker.
    fn completed(
        &self,
        select: &Select,
        limit: Option<u64>,
        options: &Options,
        table: &Definition,
    ) -> Option<Select> {
        let ranker = match (&select.matching, options.own_ranker()) {
            (Some(_), None) => self.ranker_of(table),
            _ => None,
        };
        if limit == select.limit && ranker.is_none() {
            return None;
        }
        let mut completed = select.clone();
        completed.limit = limit;
        let ranker = ranker.map(|ranker| ("ranker".to_owned(), ranker.name().to_owned()));
        completed.options.extend(ranker);
        Some(completed)
    }

    /// The ranker of a table; of several searched as one, theirs if they have the same.
    fn ranker_of(&self, table: &Definition) -> Option<Ranker> {
        let locals = match &table.kind {
            Kind::Search(options) => return options.ranker,
            Kind::Distributed { locals } => locals,
            Kind::Percolate { .. } | Kind::Queue(_) => return None,
        };
        let definitions = locals.iter().filter_map(|name| self.definition(name).ok());
        let mut rankers = definitions.map(|local| self.ranker_of(&local));
        let first = rankers.next()?;
        first.filter(|_| rankers.all(|other| other == first))
    }

    /// The queries of a pq table, by id, or those that it has of these ids, in their order.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for a table of another type.
    pub fn standing_queries(
        &self,
        table: &str,
        ids: Option<&[u64]>,
    ) -> Result<Vec<Arc<StandingQuery>>> {
        let View::Percolate(view) = self.view(table)? else {
            return Err(Error::invalid(format!("'{table}' is not a pq table")));
        };
        let queries = &view.queries;
        Ok(match ids {
            Some(ids) => ids
                .iter()
                .filter_map(|id| queries.get(*id).cloned())
                .collect(),
            None => queries.iter().cloned().collect(),
        })
    }

    /// On a table that is not searched.
    fn select_other(&self, select: &Select, memory: &Memory) -> Result<Answer> {
        let View::Percolate(view) = self.view(&select.table)? else {
            let table = &select.table;
            return Err(Error::invalid(format!("'{table}' is not a search table")));
        };
        let (name, len) = (&view.definition.name, view.queries.len() as u64);
        match select.filter.as_ref().and_then(named_ids) {
            Some(ids) => {
                let named = ids.iter().filter_map(|id| view.queries.get(*id));
                queries(name, len, named, select, memory)
            }
            None => queries(name, len, view.queries.iter(), select, memory),
        }
    }
}

/// Whether the rows are named by their ids, alone or under AND.
fn is_lookup(select: &Select) -> bool {
    select.matching.is_none() && select.filter.as_ref().is_some_and(names_ids)
}

fn names_ids(filter: &Expression) -> bool {
    match filter {
        Expression::Binary(BinaryOperator::And, left, right) => names_ids(left) || names_ids(right),
        Expression::Binary(BinaryOperator::Or, left, right) => names_ids(left) && names_ids(right),
        _ => named_ids(filter).is_some(),
    }
}
