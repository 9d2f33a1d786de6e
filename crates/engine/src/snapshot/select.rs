//! SELECT on search tables.

use query::analysis::Analyzer;
use query::expression::{BinaryOperator, Expression};
use query::request::Select;

use super::{Snapshot, View};
use crate::command::{Answer, Keyword, Rows};
use crate::decide::delete::named_ids;
use crate::error::{Error, Result};
use crate::failure;
use crate::table::search::text_names;

/// LIMIT of a scan or MATCH that names none, as in Sphinx.
const IMPLICIT_LIMIT: u64 = 20;

impl Snapshot {
    /// SELECT on a search table. pq and queue tables are read by [`crate::Command::Read`].
    ///
    /// Without LIMIT a scan and a MATCH give 20 rows, a lookup by ids every one of them.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for another kind of table; `UnknownColumn`, `Query`, `NotYet`; `Corrupt` of a segment,
    /// also while the rows are read.
    pub fn select(&self, select: &Select) -> Result<Answer> {
        let View::Search(view) = self.view(&select.table)? else {
            return Err(Error::invalid(format!(
                "'{}' is not a search table",
                select.table
            )));
        };
        let name = view.definition.name.clone();
        let failed = |error| failure::of_index(&name, error);
        let query = match &select.matching {
            Some(text) => {
                let fields = text_names(&view.definition.columns);
                Some(query::parse(text, &fields, &Analyzer::default()).map_err(Error::Query)?)
            }
            None => None,
        };
        let limited;
        let asked = if select.limit.is_none() && !is_lookup(select) {
            limited = Select {
                limit: Some(IMPLICIT_LIMIT),
                ..select.clone()
            };
            &limited
        } else {
            select
        };
        let answer = view.rows.search(asked, query.as_ref()).map_err(failed)?;
        let keywords = answer.keywords.into_iter();
        let keyword = |found: index::Keyword| Keyword {
            word: found.word,
            documents: found.documents,
            hits: found.hits,
        };
        let table = name.clone();
        let rows = answer
            .rows
            .map(move |row| row.map_err(|error| failure::of_index(&table, error)));
        Ok(Answer {
            columns: answer.columns,
            rows: Rows::reading(rows),
            total_found: answer.total_found,
            keywords: keywords.map(keyword).collect(),
            warnings: query.map_or_else(Vec::new, |query| query.warnings),
        })
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
