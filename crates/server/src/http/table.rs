//! Rows as tables: the reply of /sql?mode=raw.

use engine::Answer;
use query::schema::ColumnType;
use query::value::Value;
use wire::json::{Cell, RawReply};

use super::hits::{bounded, cell};
use crate::errors::Failure;
use crate::node::Node;
use crate::statement::{Found, Outcome, PqRows, Session};

/// Writes one outcome as one element of the reply.
pub fn write(
    node: &Node,
    session: &mut Session,
    outcome: Outcome,
    reply: &mut RawReply,
) -> Result<(), Failure> {
    let warning = session.warnings.join("; ");
    match outcome {
        Outcome::Done { affected, .. } => reply.done(affected, "", &warning),
        Outcome::Pq(rows) => reply_pq(&rows, &warning, reply)?,
        Outcome::Rows(Found {
            answer, counted, ..
        }) => {
            let count = reply_rows(answer, &warning, reply)?;
            if counted {
                session.sent(count, node.clock.steady_us());
            }
        }
    }
    Ok(())
}

fn reply_rows(answer: Answer, warning: &str, reply: &mut RawReply) -> Result<u64, Failure> {
    let Answer { columns, rows, .. } = answer;
    let mut rows = rows.peekable();
    let sample = match rows.peek() {
        Some(Ok(row)) => row.clone(),
        _ => Vec::new(),
    };
    let types = columns
        .iter()
        .enumerate()
        .map(|(index, (name, kind))| (name.as_str(), type_name(*kind, sample.get(index))));
    reply.begin(&types.collect::<Vec<_>>());
    let mut count = 0;
    for row in rows {
        reply.row();
        for ((name, kind), value) in columns.iter().zip(&row?) {
            reply.cell(name, cell(value, *kind));
        }
        reply.row_end();
        count += 1;
        bounded(reply.bytes())?;
    }
    reply.end(count, "", warning);
    Ok(count)
}

fn reply_pq(rows: &PqRows, warning: &str, reply: &mut RawReply) -> Result<(), Failure> {
    let columns = rows.columns();
    let types = columns
        .iter()
        .map(|name| (*name, if *name == "id" { "long long" } else { "string" }));
    reply.begin(&types.collect::<Vec<_>>());
    let mut count = 0;
    for (query, documents) in rows.answer.hits.rows() {
        reply.row();
        let documents = if rows.options.docs {
            rows.documents(documents)
        } else {
            String::new()
        };
        for column in &columns {
            let value = match *column {
                "id" => Cell::Int(i128::from(query.id)),
                "documents" => Cell::Str(&documents),
                "query" => Cell::Str(&query.text),
                "tags" => Cell::Str(&query.tags),
                _ => Cell::Str(&query.filters),
            };
            reply.cell(column, value);
        }
        reply.row_end();
        count += 1;
        bounded(reply.bytes())?;
    }
    reply.end(count, "", warning);
    Ok(())
}

/// Manticore's names of types.
fn type_name(kind: Option<ColumnType>, sample: Option<&Value>) -> &'static str {
    match kind {
        Some(ColumnType::Int | ColumnType::Bool | ColumnType::Timestamp | ColumnType::Year) => {
            "long"
        }
        Some(ColumnType::Bigint | ColumnType::Integer { .. }) => "long long",
        Some(ColumnType::Float) => "float",
        Some(ColumnType::Double) => "double",
        Some(
            ColumnType::Text
            | ColumnType::String
            | ColumnType::Char { .. }
            | ColumnType::LongText { .. }
            | ColumnType::Blob { .. }
            | ColumnType::Date
            | ColumnType::DateTime { .. }
            | ColumnType::Time { .. }
            | ColumnType::Decimal { .. },
        ) => "string",
        None => match sample {
            Some(Value::Int(_)) => "long long",
            Some(Value::Float(_)) => "double",
            _ => "string",
        },
    }
}
