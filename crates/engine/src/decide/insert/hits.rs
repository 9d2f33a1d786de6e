//! Matching: documents of a command against the standing queries that listen to their table. Hits become rows of queues, or
//! documents of other search tables.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use language::analysis::Words;
use percolate::{Documents, Hits, PAIR_BYTES};
use queue::{HIT_ROW_BYTES, Hit, HitQuery, RowNumber, Source, supply};
use relation::row::encode;
use relation::schema::Column;
use relation::value::Value;

use crate::catalog::TableId;
use crate::decide::{Circumstances, Workspace};
use crate::error::{Error, Result};
use crate::into::{Into, store};
use crate::record::{Document, HitCounts, HitLists, QueuedHits};
use crate::state::{Counting, State};
use crate::table::standing::Listener;

/// The part of memory that the pairs of one statement may take while they are found is one divided by this.
const PAIRS_SHARE: usize = 4;

/// What one command's hits come to, over all the tables that its documents reach. The records of one unit share one, in the order
/// in which they are applied: it tells where the next row or id of a table goes.
#[derive(Default)]
pub(crate) struct Reached {
    /// Where the next row of a queue goes; two listeners may share one.
    next_rows: BTreeMap<TableId, RowNumber>,
    /// The highest id of a search table, with those given so far.
    highest_ids: BTreeMap<TableId, u64>,
    /// Memory that the rows made so far will take, in bytes.
    pub(crate) bytes: u64,
    /// How often each query was hit.
    pub(crate) counting: Vec<Counting>,
    /// Documents made of hits, by the search table that they go into.
    pub(crate) made: VecDeque<(TableId, Vec<Document>)>,
}

/// The hits of some documents of one table.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) queued: Vec<QueuedHits>,
    pub(crate) counts: Vec<HitCounts>,
}

/// Matches documents with every pq table that listens, and that `hears` is true of. A hit that its queue or table cannot hold refuses all, and so does a
/// standing query that takes more steps than the statement may.
pub(crate) fn percolate(
    state: &mut State,
    work: &mut Workspace,
    around: Circumstances,
    given: (TableId, &[Document], &[Words]),
    hears: impl Fn(&Listener) -> bool,
    reached: &mut Reached,
) -> Result<Found> {
    let mut found = Found::default();
    let Some(search) = state.searches.get(&given.0) else {
        return Ok(found);
    };
    let listeners = Arc::clone(&search.listeners);
    work.allow(given.2);
    for listener in listeners.iter().filter(|listener| hears(listener)) {
        let Some(pq) = state.percolates.get_mut(&listener.table) else {
            continue;
        };
        // A hit of a query that cannot be read would be missing for ever.
        pq.lost.check(&pq.definition.name)?;
        let queries = pq.set.snapshot();
        hear(
            state,
            work,
            around,
            (listener, &queries),
            given,
            (reached, &mut found),
        )?;
    }
    Ok(found)
}

/// A refusal with the bound that memory sets, where that is the lower one.
fn bounded(error: Error, most: u64) -> Error {
    match error {
        Error::Limit { what, max } => Error::Limit {
            what,
            max: max.min(most),
        },
        other => other,
    }
}

/// Matches documents with some queries of one pq table that listens.
pub(crate) fn hear(
    state: &State,
    work: &mut Workspace,
    around: Circumstances,
    (listener, queries): (&Listener, &percolate::Snapshot),
    (table, documents, words): (TableId, &[Document], &[Words]),
    (reached, found): (&mut Reached, &mut Found),
) -> Result<()> {
    let pairs_max = around.memory_bytes as usize / PAIRS_SHARE / PAIR_BYTES;
    let asked = Documents {
        has_room: &|pairs| pairs <= pairs_max,
        attributes: &|document, column| attribute(documents.get(document), listener, column),
        ..Documents::of(words)
    };
    let name = state.catalog.get(listener.table);
    let name = name.map_or("", |definition| &definition.name);
    let matched = work.match_within((name, queries), &asked);
    matched.map_err(|error| bounded(error, pairs_max as u64))?;
    if work.hits.is_empty() {
        return Ok(());
    }
    let hit_at = around.now.unix_us.div_euclid(1_000_000);
    reached
        .counting
        .push(counting(listener.table, hit_at, &work.hits));
    let Some((target, into)) = &listener.into else {
        return Ok(());
    };
    reached.bytes += work.hits.work().matches * HIT_ROW_BYTES;
    around.check_memory(reached.bytes)?;
    let (queries, lists) = by_document(&work.hits, documents.len());
    let name = state
        .catalog
        .get(table)
        .map(|definition| definition.name.clone());
    let mut hits = QueuedHits {
        from: listener.table,
        queue: *target,
        first_row: RowNumber::default(),
        hit_at,
        document_table: name.unwrap_or_default(),
        sources: into.sources.clone(),
        queries,
        lists,
    };
    if let Some(queue) = state.queues.get(target) {
        let next = reached.next_rows.entry(*target);
        let next = next.or_insert(queue.backlog.next());
        hits.first_row = *next;
        *next = next.plus(hits.rows());
        check_narrow(into, queue.columns(), &hits, documents)?;
        found.queued.push(hits);
    } else if let Some(search) = state.searches.get(target) {
        let columns = &search.definition.columns;
        let highest = reached.highest_ids.entry(*target);
        let highest = highest.or_insert(search.highest.max(search.reserved));
        let made = as_documents(columns, &hits, documents, highest)?;
        reached.made.push_back((*target, made));
        found
            .counts
            .push(counts(listener.table, hit_at, &work.hits));
    } else {
        return Err(Error::internal("no table for hits"));
    }
    Ok(())
}

/// The value of a document's column by its slot in filters: a column of the pq table, or behind them the id.
fn attribute(document: Option<&Document>, listener: &Listener, column: usize) -> Value {
    let Some(document) = document else {
        return Value::Null;
    };
    match listener.columns.get(column) {
        None => Value::Int(document.id.into()),
        Some(place) => document.column(*place),
    }
}

fn counting(from: TableId, hit_at: i64, hits: &Hits) -> Counting {
    let rows = hits.rows();
    let queries = rows.map(|(query, documents)| (Arc::clone(query), documents.len() as u64));
    Counting {
        from,
        hit_at,
        queries: queries.collect(),
    }
}

fn counts(from: TableId, hit_at: i64, hits: &Hits) -> HitCounts {
    let queries = hits.ids().map(|(id, hit)| (id, hit.len() as u32));
    HitCounts {
        from,
        hit_at,
        queries: queries.collect(),
    }
}

/// The hits as rows of a search table, by document, then by query, each with the next id.
fn as_documents(
    columns: &[Column],
    hits: &QueuedHits,
    documents: &[Document],
    highest: &mut u64,
) -> Result<Vec<Document>> {
    let mut made = Vec::with_capacity(hits.lists.entries.len());
    for (place, (document, list)) in documents.iter().zip(hits.lists.iter()).enumerate() {
        let queries = list.iter();
        for query in queries.filter_map(|&query| hits.queries.get(query as usize)) {
            let hit = hit(hits, query, document.id);
            let value = |(source, column): (&Source, &Column)| {
                let supplied = supply(*source, &hit, |column| document.column(column));
                store(column, supplied, place + 1)
            };
            let row: Result<Vec<Value>> = hits.sources.iter().zip(columns).map(value).collect();
            *highest = highest.checked_add(1).ok_or(Error::OutOfRange {
                column: "id".to_owned(),
                row: place + 1,
                value: None,
            })?;
            made.push(Document {
                id: *highest,
                replaces: false,
                row: encode(&row?),
            });
        }
    }
    Ok(made)
}

fn hit<'a>(hits: &'a QueuedHits, query: &'a HitQuery, document_id: u64) -> Hit<'a> {
    Hit {
        query_id: query.id,
        query: &query.text,
        tags: &query.tags,
        document_table: &hits.document_table,
        document_id,
        hit_at: hits.hit_at,
    }
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
            let hit = hit(hits, query, document.id);
            for (source, column) in &narrow {
                let value = supply(**source, &hit, |column| document.column(column));
                store(column, value, place + 1)?;
            }
        }
    }
    Ok(())
}
