//! Records into bytes.

use language::Syntax;
use queue::{RowNumber, put_origins, put_sources};
use relation::codec::{
    Differences, put_bytes, put_column, put_list, put_number, put_text, put_value,
};
use relation::row::{column_count, put_encoded};

use super::{
    CatalogRecord, Documents, HitCounts, QueueRecord, QueuedHits, RECORD_VERSION, Record, SYNC,
};
use crate::catalog::{TableId, keep_pairs, pairs};
use crate::command::{CursorChange, Definition, Kind};

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
pub(super) const RETIRE_SEGMENTS: u8 = 18;
pub(super) const RETIRE: u8 = 19;
pub(super) const MESSAGES: u8 = 20;
pub(super) const COLLECTED: u8 = 21;
pub(super) const UPDATE: u8 = 22;
pub(super) const RENAME: u8 = 23;
pub(super) const PARTS: u8 = 24;

/// Bytes of a document beside its row, at most.
const DOCUMENT_BYTES: usize = 16;

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
        Record::Catalog(record) => put_catalog_record(out, record),
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
        Record::Update { table, rows } => {
            out.push(UPDATE);
            put_number(out, table.0.into());
            rows.put(out);
        }
        Record::Queries { table, queries } => {
            out.push(QUERIES);
            put_number(out, table.0.into());
            put_list(out, queries, |out, row| {
                put_number(out, row.id);
                put_text(out, &row.query);
                put_text(out, &row.tags);
                put_text(out, &row.filters);
                put_text(out, &row.source);
            });
        }
        Record::DeleteQueries { table, ids } => put_ids(out, DELETE_QUERIES, table.0, ids),
        Record::Retire { table, ids } => put_ids(out, RETIRE, table.0, ids),
        Record::RetireSegments { table, segments } => {
            out.push(RETIRE_SEGMENTS);
            put_number(out, table.0.into());
            put_number(out, segments.len() as u64);
            segments.iter().for_each(|name| put_text(out, name));
        }
        Record::Load { table, load, place } => put_load(out, *table, *load, *place),
        Record::Messages(messages) => {
            out.push(MESSAGES);
            put_bytes(out, messages.encoded());
        }
        Record::Collected { upto, cursors } => put_collected(out, *upto, cursors),
        Record::Many(members) => {
            out.push(MANY);
            put_list(out, members, put_record);
        }
        Record::Queue(record) => put_queue_record(out, record),
    }
}

fn put_load(out: &mut Vec<u8>, table: TableId, load: u64, place: Option<u64>) {
    out.push(LOAD);
    put_number(out, table.0.into());
    put_number(out, load);
    out.push(u8::from(place.is_some()));
    place.iter().for_each(|place| put_number(out, *place));
}

/// A record that makes, renames or drops tables.
fn put_catalog_record(out: &mut Vec<u8>, record: &CatalogRecord) {
    match record {
        CatalogRecord::Create { table, definition } => {
            out.push(CREATE);
            put_number(out, table.0.into());
            put_definition(out, definition);
        }
        CatalogRecord::Drop { table } => {
            out.push(DROP);
            put_number(out, table.0.into());
        }
        CatalogRecord::Rename { names } => {
            out.push(RENAME);
            put_list(out, names, |out, (table, name)| {
                put_number(out, table.0.into());
                put_text(out, name);
            });
        }
        CatalogRecord::Parts { table, definition } => {
            out.push(PARTS);
            put_number(out, table.0.into());
            put_definition(out, definition);
        }
    }
}

fn put_collected(out: &mut Vec<u8>, upto: u64, cursors: &[CursorChange]) {
    out.push(COLLECTED);
    put_number(out, upto);
    put_list(out, cursors, |out, (name, value)| {
        put_bytes(out, name);
        out.push(u8::from(value.is_some()));
        value.iter().for_each(|value| put_bytes(out, value));
    });
}

/// A record of one queue.
fn put_queue_record(out: &mut Vec<u8>, record: &QueueRecord) {
    match record {
        QueueRecord::Rows {
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
            put_number(out, first_row.0);
            put_list(out, rows, |out, row| put_list(out, row, put_value));
        }
        QueueRecord::RemoveRows { table, rows } => put_ids(out, REMOVE_ROWS, table.0, rows),
        QueueRecord::Alter {
            table,
            columns,
            origins,
        } => {
            out.push(ALTER);
            put_number(out, table.0.into());
            put_list(out, columns, put_column);
            put_origins(out, origins);
        }
        QueueRecord::Clear { table, kept } => put_ids(out, CLEAR, table.0, kept),
        QueueRecord::Pause {
            table,
            lanes,
            paused,
        } => {
            out.push(PAUSE);
            put_number(out, table.0.into());
            out.push(u8::from(*paused));
            put_list(out, lanes, |out, lane| put_number(out, (*lane).into()));
        }
        QueueRecord::Returned {
            table,
            lane,
            rows,
            not_before_us,
        } => {
            out.push(RETURNED);
            put_number(out, table.0.into());
            put_number(out, (*lane).into());
            out.extend_from_slice(&not_before_us.to_le_bytes());
            put_list(out, rows, put_delivered);
        }
        QueueRecord::Done { table, lane, rows } => {
            put_ids(out, DONE, table.0, rows);
            put_number(out, (*lane).into());
        }
    }
}

fn put_delivered(out: &mut Vec<u8>, (row, deliveries): &(RowNumber, u32)) {
    put_number(out, row.0);
    put_number(out, (*deliveries).into());
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

fn put_ids(out: &mut Vec<u8>, kind: u8, table: u32, ids: &[impl Copy + Into<u64>]) {
    out.push(kind);
    put_number(out, table.into());
    let mut differences = Differences::default();
    put_list(out, ids, |out, id| differences.put(out, (*id).into()));
}

fn put_documents(out: &mut Vec<u8>, documents: &Documents) {
    put_number(out, documents.table.0.into());
    put_number(out, documents.documents.len() as u64);
    let columns = documents
        .documents
        .first()
        .and_then(|first| column_count(&first.row))
        .unwrap_or(0);
    put_number(out, columns as u64);
    let mut ids = Differences::default();
    // Of rows of many megabytes, a buffer that grows holds half of them twice.
    let rows = documents.documents.iter();
    out.reserve(rows.map(|it| it.row.len() + DOCUMENT_BYTES).sum());
    for document in &documents.documents {
        ids.put(out, document.id);
        out.push(u8::from(document.replaces));
        let is_row = put_encoded(out, &document.row);
        assert!(is_row, "a document holds an encoded row");
    }
    put_list(out, &documents.hits, put_hits);
    put_list(out, &documents.counts, put_counts);
}

fn put_hits(out: &mut Vec<u8>, hits: &QueuedHits) {
    put_number(out, hits.from.0.into());
    put_number(out, hits.queue.0.into());
    put_number(out, hits.first_row.0);
    out.extend_from_slice(&hits.hit_at.to_le_bytes());
    put_text(out, &hits.document_table);
    put_sources(out, &hits.sources);
    let mut ids = Differences::default();
    put_list(out, &hits.queries, |out, query| {
        ids.put(out, query.id);
        put_text(out, &query.tags);
        put_text(out, &query.text);
    });
    for list in hits.lists.iter() {
        let mut entries = Differences::default();
        put_list(out, list, |out, entry| entries.put(out, (*entry).into()));
    }
}

fn put_counts(out: &mut Vec<u8>, counts: &HitCounts) {
    put_number(out, counts.from.0.into());
    out.extend_from_slice(&counts.hit_at.to_le_bytes());
    let mut ids = Differences::default();
    put_list(out, &counts.queries, |out, (id, documents)| {
        ids.put(out, *id);
        put_number(out, (*documents).into());
    });
}

/// Appends a table's definition.
pub(crate) fn put_definition(out: &mut Vec<u8>, definition: &Definition) {
    put_text(out, &definition.name);
    match &definition.kind {
        Kind::Search(_) => out.push(0),
        Kind::Percolate {
            on, into, syntax, ..
        } => {
            out.push(1);
            put_list(out, on, |out, name| put_text(out, name));
            put_text(out, into.as_deref().unwrap_or_default()); // no table has an empty name
            out.push(match syntax {
                Syntax::Sphinx => SPHINX,
                Syntax::Lucene => LUCENE,
            });
        }
        Kind::Queue(_) => out.push(2),
        Kind::Distributed { locals } => {
            out.push(3);
            put_list(out, locals, |out, name| put_text(out, name));
        }
    }
    let settings = definition.analysis.stored_pairs();
    let sync = definition.sync.map(|mode| mode.to_string());
    let mut options = pairs(&definition.kind);
    options.extend(definition.keep.iter().flat_map(keep_pairs));
    let count = settings.len() + options.len() + usize::from(sync.is_some());
    put_number(out, count as u64);
    for (name, value) in options {
        put_text(out, name);
        put_text(out, &value);
    }
    for (name, value) in settings {
        put_text(out, name);
        put_text(out, &value);
    }
    if let Some(mode) = sync {
        put_text(out, SYNC);
        put_text(out, &mode);
    }
    put_list(out, &definition.columns, put_column);
}
