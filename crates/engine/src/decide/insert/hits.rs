//! Documents against the standing queries that listen to their table.

use std::collections::BTreeMap;

use percolate::{Documents, Hits};
use query::analysis::Words;
use query::schema::Column;
use query::value::Value;

use super::check_memory;
use crate::catalog::TableId;
use crate::decide::{Circumstances, Workspace};
use crate::error::{Error, Result};
use crate::failure;
use crate::record::{Document, HitLists, HitQuery, QueuedHits};
use crate::state::State;
use crate::table::into::{Hit, Into, store, supply};
use crate::table::queue::StoredRow;

/// Memory that each hit takes in its queue beside the batch it shares.
const HIT_ROW_BYTES: u64 = size_of::<StoredRow>() as u64;

/// The hits of a command's documents, for each listener with a queue. A hit that its queue cannot hold refuses all.
pub(super) fn queued(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    table: TableId,
    documents: &[Document],
    words: &[Words],
) -> Result<Vec<QueuedHits>> {
    let Some(search) = state.searches.get(&table) else {
        return Ok(Vec::new());
    };
    let mut next_rows: BTreeMap<TableId, u64> = BTreeMap::new(); // two listeners may share a queue
    let mut rows_bytes = 0;
    let mut queued = Vec::new();
    for listener in &search.listeners {
        let (Some((queue_id, into)), Some(pq)) =
            (&listener.into, state.percolates.get_mut(&listener.table))
        else {
            continue;
        };
        let queue = state
            .queues
            .get(queue_id)
            .ok_or_else(|| Error::internal("no queue for hits"))?;
        pq.set
            .snapshot()
            .matches(&Documents::of(words), &mut work.matcher, &mut work.hits)
            .map_err(failure::too_many_pairs)?;
        work.hit_count += work.hits.work().matches;
        work.candidate_count += work.hits.work().candidates;
        rows_bytes += work.hits.work().matches * HIT_ROW_BYTES;
        check_memory(around, rows_bytes)?;
        let (queries, lists) = by_document(&work.hits, documents.len());
        if queries.is_empty() {
            continue;
        }
        let first_row = *next_rows.entry(*queue_id).or_insert(queue.backlog.next());
        next_rows.insert(*queue_id, first_row + lists.entries.len() as u64);
        let hits = QueuedHits {
            from: listener.table,
            queue: *queue_id,
            first_row,
            hit_at: around.now.unix_us.div_euclid(1_000_000),
            document_table: search.definition.name.clone(),
            sources: into.sources.clone(),
            queries,
            lists,
        };
        check_narrow(into, queue.columns(), &hits, documents)?;
        queued.push(hits);
    }
    Ok(queued)
}

/// Turns hits by query into hits by document: the queries once, by id, and for each document their places, rising.
fn by_document(hits: &Hits, documents: usize) -> (Vec<HitQuery>, HitLists) {
    let mut ends = vec![0u32; documents];
    for (_, hit) in hits.rows() {
        for &document in hit {
            ends[document as usize] += 1;
        }
    }
    let mut total = 0;
    for end in &mut ends {
        total += *end;
        *end = total;
    }
    let mut queries = Vec::with_capacity(hits.len());
    let mut cursors: Vec<u32> = std::iter::once(0)
        .chain(ends.iter().copied())
        .take(documents)
        .collect();
    let mut entries = vec![0u32; total as usize];
    for (place, (query, hit)) in hits.rows().enumerate() {
        queries.push(HitQuery {
            id: query.id,
            tags: query.tags.clone(),
            text: query.text.clone(),
        });
        for &document in hit {
            let cursor = &mut cursors[document as usize];
            entries[*cursor as usize] = place as u32;
            *cursor += 1;
        }
    }
    (queries, HitLists { ends, entries })
}

/// Looks at every value that a column narrower than its source would have to hold.
fn check_narrow(
    into: &Into,
    columns: &[Column],
    hits: &QueuedHits,
    documents: &[Document],
) -> Result<()> {
    let narrow: Vec<_> = into
        .narrow
        .iter()
        .filter_map(|&place| Some((into.sources.get(place)?, columns.get(place)?)))
        .collect();
    if narrow.is_empty() {
        return Ok(());
    }
    for (place, (document, list)) in documents.iter().zip(hits.lists.iter()).enumerate() {
        for query in list
            .iter()
            .filter_map(|&query| hits.queries.get(query as usize))
        {
            let hit = Hit {
                query_id: query.id,
                query: &query.text,
                tags: &query.tags,
                document_table: &hits.document_table,
                document_id: document.id,
                hit_at: hits.hit_at,
            };
            for (source, column) in &narrow {
                let value = supply(**source, &hit, |column| {
                    document.row.get(column).cloned().unwrap_or(Value::Null)
                });
                store(column, value, place + 1)?;
            }
        }
    }
    Ok(())
}
