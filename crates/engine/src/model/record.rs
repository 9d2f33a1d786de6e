//! Records: the outcome of a command, as the journal keeps it. The byte layout is docs/formats/records.md.
//!
//! A record holds outcomes, never questions: the ids that were assigned, the ids that a DELETE chose, documents with the
//! standing queries they hit. Applying a record never searches, percolates or reads a clock, so every replay gives the same
//! state.
//!
//! # Example
//! `INSERT INTO news(title) VALUES ('a cat')` at 12:00:00. Table 1 is `news`, table 2 `alerts`, a pq table with query 7,
//! `cat`, and `into='jobs'`; table 3 is `jobs`, whose next row is 5. The record is `Record::Documents` with:
//!
//! | field | value |
//! |---|---|
//! | `table` | 1 |
//! | `documents` | one: `id` 1, `replaces` false, `row` ("a cat") |
//! | `hits` | one `QueuedHits`: `from` 2, `queue` 3, `first_row` 5, `hit_at` 12:00:00, `document_table` "news" |
//! | `hits[0].queries` | query 7 with its tags and text |
//! | `hits[0].lists` | document 0 hit the queries \[0\] |
//! | `counts` | empty: the counts follow from `hits` |
//!
//! The row of `jobs` is not written out: it is document 0 and query 0 of this record. A crash leaves the document and its row, or
//! neither.
//!
//! # Invariants
//! - Ids in a list rise, except where the list's doc says otherwise. They are written as differences.
//! - A record says nothing that differs from one engine to another, such as the name of a segment's folder.
//! - A layout that was ever released is read for ever: [`RECORD_VERSION`] rises, and a fixture keeps the old bytes.

mod decode;
mod encode;
#[cfg(test)]
mod tests;
mod updated;

use std::sync::Arc;

pub(crate) use decode::read_definition;
pub(crate) use encode::put_definition;
use queue::{HitBatch, HitDocument, HitQuery, Origin, RowNumber, Source};
use relation::row;
use relation::schema::Column;
use relation::value::Value;
pub(crate) use updated::UpdatedRows;

use crate::catalog::TableId;
use crate::command::{CursorChange, Definition};
use crate::messages::Messages;

/// Layout version, the first byte of every record. To change the layout: raise the version, keep reading the old layouts, add a
/// fixture. Each version added these parts:
///
/// 2: definitions hold several `on=` tables, a syntax and settings of analysis; queries hold their source; hit sections
/// say which pq table they come from.
///
/// 3: definitions of queues hold their options; rows may say who relayed them.
///
/// 4: the place of a load, the options `keep` of search tables, segments dropped by them.
///
/// 5: definitions hold the stemmers and the sentence rules of a table.
///
/// 6: dropped rows of `keep` are listed by their ids.
///
/// 7: collected messages, and the position of the collector.
///
/// 8: a unit may hold collected messages.
///
/// 9: values changed by UPDATE; a column may have a KEY; tables are renamed, and distributed tables get other parts.
pub(crate) const RECORD_VERSION: u8 = 9;

/// Name of the one setting in a definition that is no setting of analysis.
const SYNC: &str = "sync";

/// One durable unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Catalog(CatalogRecord),
    Queue(QueueRecord),
    /// Documents were inserted into a search table, in this order.
    Documents(Documents),
    /// A backfill found hits of stored documents, and they were put into queues.
    Hits(Documents),
    /// Documents were deleted; none of these ids is absent.
    DeleteDocuments {
        table: TableId,
        ids: Vec<u64>,
    },
    /// Values of documents were changed; none of these ids is absent.
    Update {
        table: TableId,
        rows: UpdatedRows,
    },
    /// Standing queries were stored. Each replaces the query with its id, if there is any.
    Queries {
        table: TableId,
        queries: Vec<QueryRow>,
    },
    /// Standing queries were deleted.
    DeleteQueries {
        table: TableId,
        ids: Vec<u64>,
    },
    /// `keep=` or `keep_bytes=` dropped rows of a search table; none of these ids is absent. The rows fill whole segments of the
    /// engine that wrote the record. An engine that replays it may hold the rows in other segments.
    Retire {
        table: TableId,
        ids: Vec<u64>,
    },
    /// `Retire` as records before version 6 hold it: the names of the dropped segments' folders.
    RetireSegments {
        table: TableId,
        segments: Vec<String>,
    },
    /// A load has stored its rows up to `place`; `None`: the load is over.
    Load {
        table: TableId,
        load: u64,
        place: Option<u64>,
    },
    /// Messages of one call of Scribe's `Log`.
    Messages(Arc<Messages>),
    /// The collector's stores have all messages of records up to position `upto`. `cursors` are those that changed.
    Collected {
        upto: u64,
        cursors: Vec<CursorChange>,
    },
    /// Several records as one unit, in this order. It holds no `Collected` and no `Many`, and `Messages` at most once.
    Many(Vec<Record>),
}

/// A record that makes, renames or drops tables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CatalogRecord {
    /// CREATE TABLE.
    Create {
        table: TableId,
        definition: Box<Definition>,
    },
    /// DROP TABLE.
    Drop { table: TableId },
    /// Tables got new names, all at once. What names them follows.
    Rename { names: Vec<(TableId, String)> },
    /// A distributed table got other local tables, and with them other columns and another analysis.
    Parts {
        table: TableId,
        definition: Box<Definition>,
    },
}

/// A record of one queue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueueRecord {
    /// Rows were inserted into a queue. Their numbers begin at `first_row` and rise by 1.
    Rows {
        table: TableId,
        first_row: RowNumber,
        rows: Vec<Vec<Value>>,
        /// The sender that relayed the rows, 0 to 63, and the row number at the sender; `None`: no relay.
        relayed: Option<(u8, u64)>,
        /// Arrival, in microseconds since 1970-01-01 UTC. Only a queue with `unique_by=` needs it.
        at_us: Option<i64>,
    },
    /// Rows were removed from a queue.
    RemoveRows {
        table: TableId,
        rows: Vec<RowNumber>,
    },
    /// A queue's columns changed; its rows stay as they were stored.
    Alter {
        table: TableId,
        columns: Vec<Column>,
        /// One for each column: the source of its values in rows of the layout before.
        origins: Vec<Origin>,
    },
    /// All rows were removed from a queue, except `kept`.
    Clear {
        table: TableId,
        kept: Vec<RowNumber>,
    },
    /// Lanes of a queue were paused (`paused`) or resumed. A paused lane hands out no rows.
    Pause {
        table: TableId,
        lanes: Vec<u32>,
        paused: bool,
    },
    /// Rows came back to a lane, each with its number of deliveries. They are handed out again from `not_before_us` on, in
    /// microseconds since 1970-01-01 UTC; 0: at once.
    Returned {
        table: TableId,
        lane: u32,
        rows: Vec<(RowNumber, u32)>,
        not_before_us: i64,
    },
    /// A consumer group has ended rows.
    Done {
        table: TableId,
        lane: u32,
        rows: Vec<RowNumber>,
    },
}

/// Documents inserted by one command, and their hits that were put into queues.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Documents {
    pub(crate) table: TableId,
    pub(crate) documents: Vec<Document>,
    pub(crate) hits: Vec<QueuedHits>,
    /// Numbers of hits that were put into search tables. The hits themselves are documents of another record of the same unit.
    pub(crate) counts: Vec<HitCounts>,
}

/// How often the queries of one pq table were hit by one command's documents.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HitCounts {
    /// The pq table.
    pub(crate) from: TableId,
    /// Seconds since 1970-01-01 UTC.
    pub(crate) hit_at: i64,
    /// Ids, rising, with the number of documents.
    pub(crate) queries: Vec<(u64, u32)>,
}

/// A document as a record holds it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    pub(crate) id: u64,
    /// Whether an earlier document of this id is deleted first.
    pub(crate) replaces: bool,
    /// All columns in table order, without the id, see [`relation::row`]. This form gives any column in one step. The record's bytes
    /// hold a shorter form, which is read only from start to end.
    pub(crate) row: Arc<[u8]>,
}

impl Document {
    /// The value of a column; NULL beyond the last.
    pub(crate) fn column(&self, column: usize) -> Value {
        row::decode_column(&self.row, column).unwrap_or(Value::Null)
    }
}

/// The hits of one command's documents on one pq table, put into its queue: by document, then by query id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueuedHits {
    /// The pq table; 0 in records of version 1, which lack it.
    pub(crate) from: TableId,
    pub(crate) queue: TableId,
    /// Number of the first row. The numbers of the others follow without a gap.
    pub(crate) first_row: RowNumber,
    /// Seconds since 1970-01-01 UTC.
    pub(crate) hit_at: i64,
    /// Name of the search table when the documents came.
    pub(crate) document_table: String,
    /// The source of each column's value, in the queue's column order.
    pub(crate) sources: Vec<Source>,
    /// The queries that were hit, by id.
    pub(crate) queries: Vec<HitQuery>,
    /// For each document of the command: rising indexes into `queries`.
    pub(crate) lists: HitLists,
}

impl QueuedHits {
    /// What a queue keeps of the hits on `documents`, and its rows in queue order: by document, then by query.
    /// `encoded`: the rows of the same documents, in the same order.
    pub(crate) fn batch(&self, documents: &[Document]) -> (HitBatch, Vec<(u32, u32)>) {
        let mut rows = Vec::with_capacity(self.lists.entries.len());
        let mut hit = Vec::new();
        for (document, list) in documents.iter().zip(self.lists.iter()) {
            if list.is_empty() {
                continue;
            }
            let place = hit.len() as u32;
            rows.extend(list.iter().map(|&query| (place, query)));
            hit.push(HitDocument::new(document.id, Arc::clone(&document.row)));
        }
        let batch = HitBatch {
            sources: self.sources.clone(),
            document_table: self.document_table.clone(),
            hit_at: self.hit_at,
            documents: hit,
            queries: self.queries.clone(),
        };
        (batch, rows)
    }

    /// Number of queue rows: one for each document and query.
    pub(crate) fn rows(&self) -> u64 {
        self.lists.entries.len() as u64
    }
}

/// One list of indexes for each document, in two flat arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HitLists {
    /// End of each document's list in `entries`.
    pub(crate) ends: Vec<u32>,
    /// The lists, one after the other.
    pub(crate) entries: Vec<u32>,
}

impl HitLists {
    /// The lists, document by document.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let list = self
                .entries
                .get(start as usize..end as usize)
                .unwrap_or_default();
            start = end;
            list
        })
    }
}

/// A row of a pq table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryRow {
    pub(crate) id: u64,
    pub(crate) query: String,
    pub(crate) tags: String,
    pub(crate) filters: String,
    /// The text from which another door made the query; empty for most queries.
    pub(crate) source: String,
}

impl Record {
    /// Makes one unit of records, in this order. Members of a `Many` become members of the new unit. `None`: no records.
    pub(crate) fn unit(records: impl IntoIterator<Item = Record>) -> Option<Record> {
        let mut members = Vec::new();
        for record in records {
            if let Record::Many(inner) = record {
                members.extend(inner);
            } else {
                members.push(record);
            }
        }
        match members.len() {
            0 | 1 => members.pop(),
            _ => Some(Record::Many(members)),
        }
    }

    /// Number of rows that the record inserts or deletes, for the counters.
    pub(crate) fn rows(&self) -> u64 {
        let rows = match self {
            Record::Catalog(_)
            | Record::Load { .. }
            | Record::Retire { .. }
            | Record::RetireSegments { .. }
            | Record::Queue(
                QueueRecord::Alter { .. }
                | QueueRecord::Returned { .. }
                | QueueRecord::Clear { .. }
                | QueueRecord::Pause { .. },
            )
            | Record::Messages(_)
            | Record::Collected { .. } => 0,
            Record::Documents(documents) => documents.documents.len(),
            Record::Hits(hits) => return hits.hits.iter().map(QueuedHits::rows).sum(),
            Record::DeleteDocuments { ids, .. } | Record::DeleteQueries { ids, .. } => ids.len(),
            Record::Update { rows, .. } => rows.ids.len(),
            Record::Queries { queries, .. } => queries.len(),
            Record::Queue(QueueRecord::Rows { rows, .. }) => rows.len(),
            Record::Queue(
                QueueRecord::RemoveRows { rows, .. } | QueueRecord::Done { rows, .. },
            ) => rows.len(),
            Record::Many(members) => return members.iter().map(Record::rows).sum(),
        };
        rows as u64
    }
}
