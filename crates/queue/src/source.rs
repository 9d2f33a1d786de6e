//! Which part of a hit each column of a queue takes.

use relation::codec::{Read, Reader, put_list, put_number};
use relation::value::Value;

/// On disk: [`Source::Document`] of column n is the number 6 + n. Lower numbers are the named sources.
const FIRST_COLUMN: u64 = 6;

/// The part of a hit that a column of an `into=` queue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The id of the standing query.
    QueryId,
    /// The text of the standing query.
    Query,
    /// The tags of the standing query, separated by commas.
    Tags,
    /// The name of the search table that the document was inserted into.
    DocumentTable,
    /// The id of the document.
    DocumentId,
    /// The time of the hit, in seconds since 1970-01-01 UTC.
    HitAt,
    /// A column of the document, by its place in the row, from 0.
    Document(u16),
}

/// One hit, without the document's columns.
#[derive(Clone, Copy, Debug)]
pub struct Hit<'a> {
    /// Id of the query.
    pub query_id: u64,
    /// Text of the query.
    pub query: &'a str,
    /// Tags of the query.
    pub tags: &'a str,
    /// Name of the document's table.
    pub document_table: &'a str,
    /// Id of the document.
    pub document_id: u64,
    /// Seconds since 1970-01-01 UTC.
    pub hit_at: i64,
}

/// The value that a hit gives to a column, before it is converted to the column's type. `document` reads a column of the
/// document by its place.
pub fn supply(source: Source, hit: &Hit<'_>, document: impl FnOnce(usize) -> Value) -> Value {
    match source {
        Source::QueryId => Value::Int(hit.query_id.into()),
        Source::Query => Value::Str(hit.query.to_owned()),
        Source::Tags => Value::Str(hit.tags.to_owned()),
        Source::DocumentTable => Value::Str(hit.document_table.to_owned()),
        Source::DocumentId => Value::Int(hit.document_id.into()),
        Source::HitAt => Value::Int(hit.hit_at.into()),
        Source::Document(column) => document(usize::from(column)),
    }
}

/// Appends sources as numbers: docs/formats/records.md, "sources".
pub fn put_sources(out: &mut Vec<u8>, sources: &[Source]) {
    put_list(out, sources, |out, source| {
        let number = match source {
            Source::QueryId => 0,
            Source::Query => 1,
            Source::Tags => 2,
            Source::DocumentTable => 3,
            Source::DocumentId => 4,
            Source::HitAt => 5,
            Source::Document(column) => FIRST_COLUMN + u64::from(*column),
        };
        put_number(out, number);
    });
}

/// Reads what [`put_sources`] wrote.
pub fn read_sources(reader: &mut Reader<'_>) -> Read<Vec<Source>> {
    reader.list(|reader| {
        Ok(match reader.number()? {
            0 => Source::QueryId,
            1 => Source::Query,
            2 => Source::Tags,
            3 => Source::DocumentTable,
            4 => Source::DocumentId,
            5 => Source::HitAt,
            column => {
                let column = u16::try_from(column - FIRST_COLUMN);
                Source::Document(column.map_err(|_| reader.damage("a column below 2^16"))?)
            }
        })
    })
}
