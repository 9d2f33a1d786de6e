//! Backfill: the hits that stored documents would have had on one standing query.

use std::sync::Arc;

use language::analysis::Words;
use percolate::QuerySet;
use relation::row::encode;

use super::insert::hits::Reached;
use super::insert::hits_of;
use super::{Circumstances, Decision, Workspace};
use crate::catalog::TableId;
use crate::command::Backfill;
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::BACKFILL_DOCUMENTS_MAX;
use crate::record::Document;
use crate::state::State;
use crate::table::search::analyse;
use crate::table::standing::Listener;

/// Decides one piece. Each document is matched as it is now; one that is gone is passed over.
pub(crate) fn backfill(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    asked: &Backfill,
) -> Result<Decision> {
    if asked.ids.len() > BACKFILL_DOCUMENTS_MAX {
        return Err(Error::Limit {
            what: "documents of one piece of a backfill",
            max: BACKFILL_DOCUMENTS_MAX as u64,
        });
    }
    let queries = only(state, asked)?.snapshot();
    let (table, listener) = listener(state, asked)?;
    let (documents, words) = stored(state, table, &asked.ids)?;
    hits_of(
        state,
        work,
        around,
        (&listener, &queries),
        (table, documents, &words),
        Reached::default(),
    )
}

/// The one query, as a set of its own.
fn only(state: &State, asked: &Backfill) -> Result<QuerySet> {
    let pq = state.percolates.get(&state.catalog.find(&asked.table)?);
    let pq = pq.ok_or_else(|| Error::invalid(format!("'{}' is not a pq table", asked.table)))?;
    let query = pq.set.get(asked.query_id).ok_or_else(|| {
        let (id, table) = (asked.query_id, &pq.definition.name);
        Error::invalid(format!("no query {id} in table '{table}'"))
    })?;
    // Each piece reads the text again: between two pieces the query may be replaced.
    let compiled = pq.read_again(query)?;
    let mut set = QuerySet::new();
    set.insert(Arc::clone(query), &compiled.parsed.root, compiled.filter);
    Ok(set)
}

/// The search table, and how the pq table listens to it.
fn listener(state: &State, asked: &Backfill) -> Result<(TableId, Listener)> {
    let (pq, table) = (
        state.catalog.find(&asked.table)?,
        state.catalog.find(&asked.on)?,
    );
    let listeners = state.searches.get(&table).map(|search| &search.listeners);
    let listener = listeners
        .into_iter()
        .flat_map(|listeners| listeners.iter())
        .find(|listener| listener.table == pq && listener.into.is_some());
    let listener = listener.ok_or_else(|| {
        let (pq, on) = (&asked.table, &asked.on);
        Error::invalid(format!("'{pq}' puts no hits of '{on}' anywhere"))
    })?;
    Ok((table, listener.clone()))
}

/// The documents that are there, with their words.
fn stored(state: &mut State, table: TableId, ids: &[u64]) -> Result<(Vec<Document>, Vec<Words>)> {
    let (mut documents, mut words) = (Vec::new(), Vec::new());
    let Some(search) = state.searches.get_mut(&table) else {
        return Ok((documents, words));
    };
    let snapshot = search.table.snapshot();
    for &id in ids {
        let row = snapshot.get(id);
        let row = row.map_err(failure::of_index)?;
        let Some(row) = row else {
            continue;
        };
        let mut of_row = Words::new();
        let columns = &search.definition.columns;
        let row = encode(&row);
        analyse(&search.analyzer, columns, &row, &mut of_row);
        words.push(of_row);
        documents.push(Document {
            id,
            replaces: false,
            row,
        });
    }
    Ok((documents, words))
}
