//! Records into bytes.

use query::Syntax;

use super::{Documents, HitCounts, QueuedHits, RECORD_VERSION, Record, SYNC};
use crate::catalog::{keep_pairs, pairs};
use crate::command::{Definition, Kind};
use query::codec::{put_bytes, put_column, put_number, put_row};
use queue::{put_origins, put_sources};

pub(super) const CREATE: u8 = 1;
pub(super) const DROP: u8 = 2;
pub(super) const DOCUMENTS: u8 = 3;
pub(super) const DELETE_DOCUMENTS: u8 = 4;
pub(super) const QUERIES: u8 = 5;
pub(super) const DELETE_QUERIES: u8 = 6;
pub(super) const ROWS: u8 = 7;
pub(super) const REMOVE_ROWS: u8 = 8;
pub(super) const MANY: u8 = 9;
pub(super) const HITS: u8 = 10;
pub(super) const MARKED_ROWS: u8 = 11;
pub(super) const ALTER: u8 = 12;
pub(super) const CLEAR: u8 = 13;
pub(super) const PAUSE: u8 = 14;
pub(super) const RETURNED: u8 = 15;
pub(super) const DONE: u8 = 16;
pub(super) const LOAD: u8 = 17;
pub(super) const EXPIRE_SEGMENTS: u8 = 18;
pub(super) const EXPIRE: u8 = 19;

/// The syntax of a pq table's queries.
pub(super) const SPHINX: u8 = 0;
pub(super) const LUCENE: u8 = 1;

impl Record {
    /// Appends its bytes.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.push(RECORD_VERSION);
        put_record(out, self);
    }
}

fn put_record(out: &mut Vec<u8>, record: &Record) {
    match record {
        Record::Create { table, definition } => {
            out.push(CREATE);
            put_number(out, table.0.into());
            put_definition(out, definition);
        }
        Record::Drop { table } => {
            out.push(DROP);
            put_number(out, table.0.into());
        }
        Record::Documents(documents) => {
            out.push(DOCUMENTS);
            put_documents(out, documents);
        }
        Record::Hits(documents) => {
            out.push(HITS);
            put_documents(out, documents);
        }
        Record::DeleteDocuments { table, ids } => {
            put_ids(out, DELETE_DOCUMENTS, table.0, ids);
        }
        Record::Queries { table, queries } => {
            out.push(QUERIES);
            put_number(out, table.0.into());
            put_number(out, queries.len() as u64);
            for row in queries {
                put_number(out, row.id);
                put_bytes(out, row.query.as_bytes());
                put_bytes(out, row.tags.as_bytes());
                put_bytes(out, row.filters.as_bytes());
                put_bytes(out, row.source.as_bytes());
            }
        }
        Record::DeleteQueries { table, ids } => put_ids(out, DELETE_QUERIES, table.0, ids),
        Record::Expire { table, ids } => put_ids(out, EXPIRE, table.0, ids),
        Record::ExpireSegments { table, segments } => {
            out.push(EXPIRE_SEGMENTS);
            put_number(out, table.0.into());
            put_number(out, segments.len() as u64);
            segments
                .iter()
                .for_each(|name| put_bytes(out, name.as_bytes()));
        }
        Record::Load { table, load, place } => {
            out.push(LOAD);
            put_number(out, table.0.into());
            put_number(out, *load);
            out.push(u8::from(place.is_some()));
            place.iter().for_each(|place| put_number(out, *place));
        }
        Record::Many(members) => {
            out.push(MANY);
            put_number(out, members.len() as u64);
            for member in members {
                put_record(out, member);
            }
        }
        record => put_queue_record(out, record),
    }
}

/// A record of one queue.
fn put_queue_record(out: &mut Vec<u8>, record: &Record) {
    match record {
        Record::Rows {
            table,
            first_row,
            rows,
            relayed,
            at_us,
        } => {
            let is_marked = relayed.is_some() || at_us.is_some();
            out.push(if is_marked { MARKED_ROWS } else { ROWS });
            put_number(out, table.0.into());
            if is_marked {
                put_marks(out, *relayed, *at_us);
            }
            put_number(out, *first_row);
            put_number(out, rows.len() as u64);
            for row in rows {
                put_number(out, row.len() as u64);
                put_row(out, row);
            }
        }
        Record::RemoveRows { table, rows } => put_ids(out, REMOVE_ROWS, table.0, rows),
        Record::Alter {
            table,
            columns,
            origins,
        } => {
            out.push(ALTER);
            put_number(out, table.0.into());
            put_number(out, columns.len() as u64);
            columns.iter().for_each(|column| put_column(out, column));
            put_origins(out, origins);
        }
        Record::Clear { table, kept } => put_ids(out, CLEAR, table.0, kept),
        Record::Pause {
            table,
            lanes,
            paused,
        } => {
            out.push(PAUSE);
            put_number(out, table.0.into());
            out.push(u8::from(*paused));
            put_number(out, lanes.len() as u64);
            lanes
                .iter()
                .for_each(|lane| put_number(out, (*lane).into()));
        }
        Record::Returned {
            table,
            lane,
            rows,
            not_before_us,
        } => {
            out.push(RETURNED);
            put_number(out, table.0.into());
            put_number(out, (*lane).into());
            out.extend_from_slice(&not_before_us.to_le_bytes());
            put_deliveries(out, rows);
        }
        Record::Done { table, lane, rows } => {
            put_ids(out, DONE, table.0, rows);
            put_number(out, (*lane).into());
        }
        _ => debug_assert!(false, "a record of a queue"),
    }
}

fn put_deliveries(out: &mut Vec<u8>, rows: &[(u64, u32)]) {
    put_number(out, rows.len() as u64);
    for (row, deliveries) in rows {
        put_number(out, *row);
        put_number(out, (*deliveries).into());
    }
}

fn put_marks(out: &mut Vec<u8>, relayed: Option<(u8, u64)>, at_us: Option<i64>) {
    out.push(u8::from(relayed.is_some()));
    if let Some((sender, row)) = relayed {
        out.push(sender);
        put_number(out, row);
    }
    out.push(u8::from(at_us.is_some()));
    if let Some(at_us) = at_us {
        out.extend_from_slice(&at_us.to_le_bytes());
    }
}

/// Ids as differences from the one before, wrapping: short for rising ids, right for any order.
fn put_ids(out: &mut Vec<u8>, kind: u8, table: u32, ids: &[u64]) {
    out.push(kind);
    put_number(out, table.into());
    put_number(out, ids.len() as u64);
    let mut before = 0u64;
    for &id in ids {
        put_number(out, id.wrapping_sub(before));
        before = id;
    }
}

fn put_documents(out: &mut Vec<u8>, documents: &Documents) {
    put_number(out, documents.table.0.into());
    put_number(out, documents.documents.len() as u64);
    let columns = documents
        .documents
        .first()
        .map_or(0, |first| first.row.len());
    put_number(out, columns as u64);
    let mut before = 0u64;
    for document in &documents.documents {
        put_number(out, document.id.wrapping_sub(before));
        before = document.id;
        out.push(u8::from(document.replaces));
        put_row(out, &document.row);
    }
    put_number(out, documents.hits.len() as u64);
    for hits in &documents.hits {
        put_hits(out, hits);
    }
    put_number(out, documents.counts.len() as u64);
    for counts in &documents.counts {
        put_counts(out, counts);
    }
}

fn put_hits(out: &mut Vec<u8>, hits: &QueuedHits) {
    put_number(out, hits.from.0.into());
    put_number(out, hits.queue.0.into());
    put_number(out, hits.first_row);
    out.extend_from_slice(&hits.hit_at.to_le_bytes());
    put_bytes(out, hits.document_table.as_bytes());
    put_sources(out, &hits.sources);
    put_number(out, hits.queries.len() as u64);
    let mut before = 0u64;
    for query in &hits.queries {
        put_number(out, query.id.wrapping_sub(before));
        before = query.id;
        put_bytes(out, query.tags.as_bytes());
        put_bytes(out, query.text.as_bytes());
    }
    for list in hits.lists.iter() {
        put_number(out, list.len() as u64);
        let mut before = 0;
        for &entry in list {
            put_number(out, (entry - before).into());
            before = entry;
        }
    }
}

fn put_counts(out: &mut Vec<u8>, counts: &HitCounts) {
    put_number(out, counts.from.0.into());
    out.extend_from_slice(&counts.hit_at.to_le_bytes());
    put_number(out, counts.queries.len() as u64);
    let mut before = 0u64;
    for &(id, documents) in &counts.queries {
        put_number(out, id.wrapping_sub(before));
        before = id;
        put_number(out, documents.into());
    }
}

/// Appends a table's definition.
pub(crate) fn put_definition(out: &mut Vec<u8>, definition: &Definition) {
    put_bytes(out, definition.name.as_bytes());
    match &definition.kind {
        Kind::Search(_) => out.push(0),
        Kind::Percolate { on, into, syntax } => {
            out.push(1);
            put_number(out, on.len() as u64);
            on.iter().for_each(|name| put_bytes(out, name.as_bytes()));
            put_bytes(out, into.as_deref().unwrap_or_default().as_bytes()); // no table has an empty name
            out.push(match syntax {
                Syntax::Sphinx => SPHINX,
                Syntax::Lucene => LUCENE,
            });
        }
        Kind::Queue(_) => out.push(2),
        Kind::Distributed { locals } => {
            out.push(3);
            put_number(out, locals.len() as u64);
            locals
                .iter()
                .for_each(|name| put_bytes(out, name.as_bytes()));
        }
    }
    let settings = definition.analysis.stored_pairs();
    let sync = definition.sync.map(|mode| mode.to_string());
    let mut options = pairs(&definition.kind);
    options.extend(definition.keep.iter().flat_map(keep_pairs));
    let count = settings.len() + options.len() + usize::from(sync.is_some());
    put_number(out, count as u64);
    for (name, value) in options {
        put_bytes(out, name.as_bytes());
        put_bytes(out, value.as_bytes());
    }
    for (name, value) in settings {
        put_bytes(out, name.as_bytes());
        put_bytes(out, value.as_bytes());
    }
    if let Some(mode) = sync {
        put_bytes(out, SYNC.as_bytes());
        put_bytes(out, mode.as_bytes());
    }
    put_number(out, definition.columns.len() as u64);
    for column in &definition.columns {
        put_column(out, column);
    }
}
