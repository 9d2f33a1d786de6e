//! Rows as JSON hits: the reply of /search and of a plain /sql. The groups of FACETs are its aggregations.

use engine::{Answer, Reason};
use query::schema::ColumnType;
use query::tree::Outline;
use query::value::Value;
use wire::json::{Aggregation, Buckets, Cell, SearchReply, Shown};

use crate::server::Server;
use session::Grant;
use session::errors::{self, Failure};
use session::limits::REPLY_BYTES_MAX;

/// Header of the column that becomes a hit's `_score`.
const SCORE: &str = "weight()";

/// What a reply tells.
pub(super) struct Hits {
    /// The rows. Their columns `id` and `weight()` become `_id` and `_score` of a hit.
    pub(super) answer: Answer,
    /// The other columns that hits show.
    pub(super) shown: Shown,
    /// The groups of each aggregation.
    pub(super) aggregations: Vec<(Aggregation, Answer)>,
    /// The tree of the query's words, if it was asked for.
    pub(super) profile: Option<Outline>,
}

/// Builds the whole reply.
pub(super) fn write(
    server: &Server,
    hits: Hits,
    took_ms: u64,
    held: &Grant,
) -> Result<Vec<u8>, Failure> {
    let Hits {
        answer,
        shown,
        aggregations,
        profile,
    } = hits;
    let Answer {
        columns,
        rows,
        total_found,
        mut warnings,
        partial,
        scroll,
        ..
    } = answer;
    let mut reply = SearchReply::default();
    let damaged = rows.damaged();
    let timed_out = partial == Some(Reason::Time);
    reply.begin(took_ms, timed_out, total_found, partial.is_none());
    let shown: Vec<bool> = columns
        .iter()
        .map(|(name, _)| name != "id" && name != SCORE && shown.has(name))
        .collect();
    for row in rows {
        let row = row?;
        let mut id = None;
        let mut score = None;
        for ((name, _), value) in columns.iter().zip(&row) {
            match (name.as_str(), value) {
                ("id", Value::Int(number)) => id = u64::try_from(*number).ok(),
                (SCORE, Value::Int(number)) => score = i64::try_from(*number).ok(),
                _ => {}
            }
        }
        reply.hit(id, score);
        for (((name, kind), value), shown) in columns.iter().zip(&row).zip(&shown) {
            if *shown {
                reply.field(name, cell(value, *kind));
            }
        }
        reply.hit_end();
        bounded(reply.bytes().len(), held)?;
    }
    reply.hits_end();
    if !aggregations.is_empty() {
        reply.aggregations();
        for (aggregation, answer) in aggregations {
            groups(&aggregation, answer, &mut reply, held)?;
        }
        reply.aggregations_end();
    }
    if let Some(tree) = &profile {
        reply.profile(tree);
        bounded(reply.bytes().len(), held)?;
    }
    warnings.extend(server.note_damaged(&damaged));
    reply.end(scroll.as_deref(), &warnings);
    Ok(reply.into_bytes())
}

/// Writes the groups of an aggregation.
fn groups(
    aggregation: &Aggregation,
    answer: Answer,
    reply: &mut SearchReply,
    held: &Grant,
) -> Result<(), Failure> {
    let mut buckets = Buckets::begin(aggregation, reply);
    let columns = answer.columns;
    for row in answer.rows {
        let row = row?;
        let cells = row.iter().zip(&columns);
        let cells: Vec<Cell<'_>> = cells.map(|(value, (_, kind))| cell(value, *kind)).collect();
        buckets.group(&cells, reply).map_err(Failure::refused)?;
        bounded(reply.bytes().len() + buckets.memory(), held)?;
    }
    buckets.end(reply);
    Ok(())
}

/// Checks a reply of `bytes` bytes. Errors: `LIMIT` above [`REPLY_BYTES_MAX`]; `OVERLOADED`.
pub(super) fn bounded(bytes: usize, held: &Grant) -> Result<(), Failure> {
    if bytes <= REPLY_BYTES_MAX {
        // The buffer of a growing reply exists twice while it moves.
        return held.cover(2 * bytes);
    }
    let message =
        format!("the reply is longer than {REPLY_BYTES_MAX} bytes: use LIMIT, or the MySQL door");
    Err(Failure::new(errors::LIMIT, message))
}

/// A value as a JSON cell. A `float` column stores 32 bits, so it is written by the shortest text of its `f32`.
pub(super) fn cell(value: &Value, kind: Option<ColumnType>) -> Cell<'_> {
    match (value, kind) {
        (Value::Null, _) => Cell::Null,
        (Value::Int(number), Some(ColumnType::Bool)) => Cell::Bool(*number != 0),
        (Value::Int(number), _) => Cell::Int(*number),
        (Value::Float(number), Some(ColumnType::Float)) => {
            Cell::Float((*number as f32).to_string().parse().unwrap_or(*number))
        }
        (Value::Float(number), _) => Cell::Float(*number),
        (Value::Str(text), _) => Cell::Str(text),
        (Value::Bytes(bytes), _) => Cell::Bytes(bytes),
        (Value::Set(numbers), _) => Cell::Set(numbers),
        (Value::Json(document), _) => Cell::Document(document),
    }
}
