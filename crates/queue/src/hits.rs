//! The hits of one command, kept once for all the queue rows made of them.

use query::codec::{Read, Reader, put_bytes, put_list, put_number, put_text};
use query::row;
use query::schema::{Column, ColumnType};
use query::value::Value;

use crate::source::{Hit, Source, put_sources, read_sources, supply};

/// Documents and queries that queue rows point into: a row is a document's and a query's place here.
#[derive(Clone, Debug, PartialEq)]
pub struct HitBatch {
    /// Where each column of the queue takes its value from, in the queue's order.
    pub sources: Vec<Source>,
    /// Name of the search table when the documents came.
    pub document_table: String,
    /// Seconds since 1970-01-01 UTC.
    pub hit_at: i64,
    /// The documents that were hit.
    pub documents: Vec<HitDocument>,
    /// The queries that were hit.
    pub queries: Vec<HitQuery>,
}

/// What a hit says of its query.
#[derive(Clone, Debug, PartialEq)]
pub struct HitQuery {
    /// Its id.
    pub id: u64,
    /// Its tags, separated by commas.
    pub tags: Box<str>,
    /// Its text.
    pub text: Box<str>,
}

/// A document that was hit. Its row is encoded as `query::row` does, so that one column costs one step.
#[derive(Clone, Debug, PartialEq)]
pub struct HitDocument {
    id: u64,
    row: Box<[u8]>,
}

impl HitDocument {
    /// A document of that id with the columns of its table.
    #[must_use]
    pub fn new(id: u64, columns: &[Value]) -> HitDocument {
        let row = row::encode(columns).into_boxed_slice();
        HitDocument { id, row }
    }
}

impl HitBatch {
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
                |place| row::decode_column(&document.row, place).unwrap_or(Value::Null);
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

/// Supplied values are of the column's type already, except that text may go into bytes.
fn as_stored(kind: ColumnType, value: Value) -> Value {
    match (kind, value) {
        (ColumnType::Blob { .. }, Value::Str(text)) => Value::Bytes(text.into_bytes()),
        (_, value) => value,
    }
}
