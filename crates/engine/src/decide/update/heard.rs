//! Standing queries that hear UPDATE (`on_update=`): a row that the statement changes is matched as if it were inserted now.
//!
//! # Example
//! `alerts` has `on='goods' on_update='1' into='jobs'` and query 7, `cup`, with the filter `price < 5`. `UPDATE goods SET price = 4
//! WHERE id = 3` changes a row with the text `a cup`. The row is read, gets its new price, and its text is analysed again. The
//! unit is the `Record::Update`, and behind it a `Record::Hits` with the row as a document and one row for `jobs`.

use language::analysis::Words;
use relation::row::{counted_bytes, encode};
use relation::value::Value;

use crate::catalog::TableId;
use crate::decide::insert::follow;
use crate::decide::insert::hits::{Reached, percolate};
use crate::decide::{Circumstances, Decision, Workspace};
use crate::error::{Error, Result};
use crate::failure;
use crate::limits::HEARD_ROWS_MAX;
use crate::record::{Document, Documents, Record, UpdatedRows};
use crate::state::State;
use crate::table::search::analyse;
use crate::table::standing::Listener;

/// Adds the hits of the updated rows to the decision, if a table hears them.
///
/// # Errors
/// `Limit` for more than [`HEARD_ROWS_MAX`] rows; those of the hits of an INSERT.
pub(crate) fn with_hits(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    table: TableId,
    decision: Decision,
) -> Result<Decision> {
    let mut reached = Reached::default();
    with_hits_behind(state, work, around, table, decision, &mut reached)
}

/// As [`with_hits`], in a unit whose earlier records have `reached` what it says.
pub(crate) fn with_hits_behind(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    table: TableId,
    mut decision: Decision,
    reached: &mut Reached,
) -> Result<Decision> {
    let Some(Record::Update { rows, .. }) = &decision.record else {
        return Ok(decision);
    };
    let search = state.searches.get(&table);
    let mut listeners = search.iter().flat_map(|search| search.listeners.iter());
    if !listeners.any(|listener| listener.on_update) {
        return Ok(decision);
    }
    if rows.ids.len() > HEARD_ROWS_MAX {
        return Err(Error::Limit {
            what: "rows of one UPDATE that a table with on_update= hears",
            max: HEARD_ROWS_MAX as u64,
        });
    }
    reached.bytes += rows.memory();
    let (documents, words) = changed(state, around, table, rows, reached)?;
    let given = (table, documents.as_slice(), words.as_slice());
    let hears = |listener: &Listener| listener.on_update;
    let found = percolate(state, work, around, given, hears, reached)?;
    if !found.queued.is_empty() || !found.counts.is_empty() {
        let hits = Record::Hits(Documents {
            table,
            documents: if found.queued.is_empty() {
                Vec::new()
            } else {
                documents
            },
            hits: found.queued,
            counts: found.counts,
        });
        let hits = follow(state, work, around, hits, reached)?;
        decision.record = Record::unit(decision.record.into_iter().chain([hits]));
    }
    decision.prepared.counting = Some(std::mem::take(&mut reached.counting));
    Ok(decision)
}

/// The rows as they will be, by rising id, with their words.
fn changed(
    state: &mut State,
    around: Circumstances,
    table: TableId,
    rows: &UpdatedRows,
    reached: &mut Reached,
) -> Result<(Vec<Document>, Vec<Words>)> {
    let (mut documents, mut words) = (Vec::new(), Vec::new());
    let Some(search) = state.searches.get_mut(&table) else {
        return Ok((documents, words));
    };
    let columns = &search.definition.columns;
    let mut places: Vec<(usize, u64)> = rows.ids.iter().copied().enumerate().collect();
    places.sort_unstable_by_key(|(_, id)| *id);
    for (place, id) in places {
        let stored = search.table.row(id).map_err(failure::of_index)?;
        let Some(stored) = stored else {
            continue;
        };
        let row: index::Result<Vec<Value>> =
            (0..columns.len()).map(|at| stored.column(at)).collect();
        let mut row = row.map_err(failure::of_index)?;
        for (column, value) in rows.of(place) {
            if let Some(old) = row.get_mut(usize::from(column)) {
                *old = value;
            }
        }
        reached.bytes += counted_bytes(&row);
        around.check_memory(reached.bytes)?;
        let mut of_row = Words::new();
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
