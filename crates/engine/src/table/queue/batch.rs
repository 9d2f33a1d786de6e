//! The hits of one command, kept once for all the queue rows made of them.

use query::schema::{Column, ColumnType};
use query::value::Value;

use crate::codec::{Read, Reader, put_bytes, put_number};
use crate::record::{Documents, HitQuery, QueuedHits, Source, put_sources, read_sources};
use crate::table::into::{Hit, supply};

/// Documents and queries that queue rows point into: a row is a document's and a query's place here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HitBatch {
    sources: Vec<Source>,
    document_table: String,
    hit_at: i64,
    documents: Vec<HitDocument>,
    queries: Vec<HitQuery>,
}

/// A document that was hit. Its row is encoded as `index::row` does, so that one column costs one step.
#[derive(Clone, Debug, PartialEq)]
struct HitDocument {
    id: u64,
    row: Box<[u8]>,
}

impl HitBatch {
    /// The batch of one command's hits on one pq table, and its rows in queue order: by document, then by query.
    pub(crate) fn new(documents: &Documents, hits: &QueuedHits) -> (HitBatch, Vec<(u32, u32)>) {
        let mut rows = Vec::with_capacity(hits.lists.entries.len());
        let mut kept = Vec::new();
        for (document, list) in documents.documents.iter().zip(hits.lists.iter()) {
            if list.is_empty() {
                continue;
            }
            let place = kept.len() as u32;
            rows.extend(list.iter().map(|&query| (place, query)));
            let row = index::row::encode(&document.row).into_boxed_slice();
            kept.push(HitDocument {
                id: document.id,
                row,
            });
        }
        let batch = HitBatch {
            sources: hits.sources.clone(),
            document_table: hits.document_table.clone(),
            hit_at: hits.hit_at,
            documents: kept,
            queries: hits.queries.clone(),
        };
        (batch, rows)
    }

    /// The values of one row, as the queue's columns hold them. `None` where the places are wrong or bytes damaged.
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
                |place| index::row::decode_column(&document.row, place).unwrap_or(Value::Null);
            as_stored(column.kind, supply(*source, &hit, of_document))
        };
        Some(self.sources.iter().zip(columns).map(column).collect())
    }

    /// Memory that it takes, roughly.
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
        put_bytes(out, self.document_table.as_bytes());
        out.extend_from_slice(&self.hit_at.to_le_bytes());
        put_number(out, self.documents.len() as u64);
        for document in &self.documents {
            put_number(out, document.id);
            put_bytes(out, &document.row);
        }
        put_number(out, self.queries.len() as u64);
        for query in &self.queries {
            put_number(out, query.id);
            put_bytes(out, query.tags.as_bytes());
            put_bytes(out, query.text.as_bytes());
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Read<HitBatch> {
        let sources = read_sources(reader)?;
        let document_table = reader.text()?.to_owned();
        let hit_at = i64::from_le_bytes(reader.array()?);
        let count = reader.count()?;
        let documents: Read<_> = (0..count)
            .map(|_| {
                Ok(HitDocument {
                    id: reader.number()?,
                    row: reader.bytes()?.into(),
                })
            })
            .collect();
        let count = reader.count()?;
        let queries: Read<_> = (0..count)
            .map(|_| {
                Ok(HitQuery {
                    id: reader.number()?,
                    tags: reader.text()?.into(),
                    text: reader.text()?.into(),
                })
            })
            .collect();
        Ok(HitBatch {
            sources,
            document_table,
            hit_at,
            documents: documents?,
            queries: queries?,
        })
    }
}

/// Supplied values are of the column's type already, except that text may go into bytes.
fn as_stored(kind: ColumnType, value: Value) -> Value {
    match (kind, value) {
        (ColumnType::Blob { .. }, Value::Str(text)) => Value::Bytes(text.into_bytes()),
        (_, value) => value,
    }
}
