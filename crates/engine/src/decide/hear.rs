//! Matching of rows that no search table stores: a pq table without `on=` hears them, and its hits go where its `into=` says.
//!
//! # Example
//! `alerts (body text)` has `into='hits'` and query 7, `cat`. It hears two rows, `a cat` and `a dog`. The record is
//! `Record::Hits` with both rows as documents with the id 0, and one hit: document 0 hit query 7. `hits` gets one row. Had no row
//! hit a query, there would be no record.

use std::sync::Arc;

use language::analysis::Words;
use relation::request::Insert;
use relation::row::{counted_bytes, encode};

use super::insert::hits::Reached;
use super::insert::hits_of;
use super::rows::{Plan, absent_in_document};
use super::{Circumstances, Decision, Workspace};
use crate::error::{Error, Result};
use crate::record::Document;
use crate::state::State;
use crate::table::search::analyse;

/// Decides rows that a pq table hears. Answer: the number of hits as `affected`.
///
/// # Errors
/// `Invalid` for a table that cannot hear rows of its own; else as an INSERT into a search table with these columns.
pub(crate) fn hear_rows(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    asked: Insert,
) -> Result<Decision> {
    let table = state.catalog.find(&asked.table)?;
    let Some(pq) = state.percolates.get_mut(&table) else {
        return Err(Error::invalid(format!(
            "'{}' is not a pq table",
            asked.table
        )));
    };
    let Some(listener) = pq.hears.clone() else {
        return Err(Error::invalid(format!(
            "'{}' hears no rows of its own: it needs into= and no on=",
            pq.definition.name
        )));
    };
    let (definition, analyzer) = (Arc::clone(&pq.definition), Arc::clone(&pq.analyzer));
    pq.lost.check(&definition.name)?; // as where a document is stored
    let queries = pq.set.snapshot();
    let columns = &definition.columns;
    let plan = Plan::new(&definition.name, columns, true, asked.columns.as_deref())?;
    let (mut documents, mut words) = (Vec::with_capacity(asked.rows.len()), Vec::new());
    let mut reached = Reached::default();
    for (place, mut values) in asked.rows.into_iter().enumerate() {
        let row = plan.row(columns, &mut values, place + 1, absent_in_document)?;
        reached.bytes += counted_bytes(&row);
        around.check_memory(reached.bytes)?;
        let mut of_row = Words::new();
        let row = encode(&row);
        analyse(&analyzer, columns, &row, &mut of_row);
        words.push(of_row);
        documents.push(Document {
            id: 0,
            replaces: false,
            row,
        });
    }
    hits_of(
        state,
        work,
        around,
        (&listener, &queries),
        (table, documents, &words),
        reached,
    )
}
