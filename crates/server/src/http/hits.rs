//! Rows as JSON hits: the reply of /search and of a plain /sql.

use engine::{Answer, Reason};
use query::schema::ColumnType;
use query::value::Value;
use wire::json::{Cell, SearchReply};

use crate::server::Server;
use session::Grant;
use session::errors::{self, Failure};
use session::limits::REPLY_BYTES_MAX;

/// Header of the column that becomes a hit's `_score`.
const SCORE: &str = "weight()";

/// Builds the whole reply. The columns `id` and `weight()` become `_id` and `_score` of a hit.
pub(super) fn write(
    server: &Server,
    answer: Answer,
    took_ms: u64,
    held: &Grant,
) -> Result<Vec<u8>, Failure> {
    let Answer {
        columns,
        rows,
        total_found,
        mut warnings,
        partial,
        ..
    } = answer;
    let mut reply = SearchReply::default();
    let damaged = rows.damaged();
    let timed_out = partial == Some(Reason::Time);
    reply.begin(took_ms, timed_out, total_found, partial.is_none());
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
        for ((name, kind), value) in columns.iter().zip(&row) {
            if name != "id" && name != SCORE {
                reply.field(name, cell(value, *kind));
            }
        }
        reply.hit_end();
        bounded(reply.bytes().len(), held)?;
    }
    warnings.extend(server.note_damaged(&damaged));
    reply.end(&warnings);
    Ok(reply.into_bytes())
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
