//! The hits of one command on one pq table, stored once for all the queue rows made of them.
//!
//! An INSERT of two documents hits three queries: document 0 hits queries 0 and 2, document 1 hits queries 1 and 2. The batch
//! holds two documents and three queries. Four rows go into the queue: (0, 0), (0, 2), (1, 1), (1, 2). Each row is a place of
//! a document and a place of a query, and its values are made when a worker reads it.

use std::sync::Arc;

use relation::codec::{Read, Reader, put_bytes, put_list, put_number, put_text};
use relation::row;
use relation::schema::{Column, ColumnType, TypeFamily};
use relation::value::Value;

use crate::source::{Hit, Source, put_sources, read_sources, supply};

/// The documents and queries of a batch of hits. A queue row is a place in `documents` and a place in `queries`.
#[derive(Clone, Debug, PartialEq)]
pub struct HitBatch {
    /// For each column of the queue, in order, the part of the hit that it takes.
    pub sources: Vec<Source>,
    /// Name of the search table at the time of the hits.
    pub document_table: String,
    /// Time of the hits. Seconds since 1970-01-01 UTC.
    pub hit_at: i64,
    /// The documents with at least one hit.
    pub documents: Vec<HitDocument>,
    /// The queries with at least one hit.
    pub queries: Vec<HitQuery>,
}

/// A standing query as it was when a document hit it.
#[derive(Clone, Debug, PartialEq)]
pub struct HitQuery {
    /// Id of the query.
    pub id: u64,
    /// Tags, separated by commas; may be empty.
    pub tags: Box<str>,
    /// Text of the query, in the search language.
    pub text: Box<str>,
}

/// A document of a batch. Its row is encoded by `relation::row`, so one column is read without decoding the others.
#[derive(Clone, Debug, PartialEq)]
pub struct HitDocument {
    id: u64,
    row: Arc<[u8]>,
}

impl HitDocument {
    /// A document with its id and its row, as [`relation::row::encode`] gives it. The tail of its table and other queues share the
    /// row.
    #[must_use]
    pub fn new(id: u64, row: Arc<[u8]>) -> HitDocument {
        HitDocument { id, row }
    }
}

impl HitBatch {
    /// The values of a queue row, by the places of its document and query. `None` where a place is out of range.
    pub(crate) fn values(
        &self,
        document: u32,
        query: u32,
        columns: &[Column],
    ) -> Option<Vec<Value>> {
        let document = self.documents.get(document as usize)?;
        let query = self.queries.get(query as usize)?;
        let hit = Hit {
            query_id: query.id,
            query: &query.text,
            tags: &query.tags,
            document_table: &self.document_table,
            document_id: document.id,
            hit_at: self.hit_at,
        };
        let column = |(source, column): (&Source, &Column)| {
            let of_document =
                |place| row::decode_column(&document.row, place).unwrap_or(Value::Null);
            as_stored(column.kind, supply(*source, &hit, of_document))
        };
        Some(self.sources.iter().zip(columns).map(column).collect())
    }

    /// Memory of the batch. Bytes, estimated.
    pub(crate) fn bytes(&self) -> u64 {
        let documents: usize = self
            .documents
            .iter()
            .map(|document| document.row.len() + 40)
            .sum();
        let queries: usize = self
            .queries
            .iter()
            .map(|query| query.text.len() + query.tags.len() + 56)
            .sum();
        (documents + queries + size_of::<HitBatch>()) as u64
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_sources(out, &self.sources);
        put_text(out, &self.document_table);
        out.extend_from_slice(&self.hit_at.to_le_bytes());
        put_list(out, &self.documents, |out, document| {
            put_number(out, document.id);
            put_bytes(out, &document.row);
        });
        put_list(out, &self.queries, |out, query| {
            put_number(out, query.id);
            put_text(out, &query.tags);
            put_text(out, &query.text);
        });
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Read<HitBatch> {
        Ok(HitBatch {
            sources: read_sources(reader)?,
            document_table: reader.string()?,
            hit_at: i64::from_le_bytes(reader.array()?),
            documents: reader.list(|reader| {
                Ok(HitDocument {
                    id: reader.number()?,
                    row: reader.bytes()?.into(),
                })
            })?,
            queries: reader.list(|reader| {
                Ok(HitQuery {
                    id: reader.number()?,
                    tags: reader.text()?.into(),
                    text: reader.text()?.into(),
                })
            })?,
        })
    }
}

/// A supplied value as its column stores it. CREATE TABLE has checked the types; only text into a BLOB is converted.
fn as_stored(kind: ColumnType, value: Value) -> Value {
    match value {
        Value::Str(text) if kind.family() == TypeFamily::Bytes => Value::Bytes(text.into_bytes()),
        value => value,
    }
}
