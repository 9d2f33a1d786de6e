//! One batch of /bulk: its lines as one command, and the command's reply by lines.

use engine::{Error, Reply, Write};
use relation::request::{Delete, Insert, Update};
use relation::value::Value;
use session::errors::Failure;
use wire::json::{BulkAction, BulkEvent, BulkItem, BulkReply, bulk};

use crate::http::document::with_id;
use crate::http::search;

/// The parsed lines of a batch.
#[derive(Debug, Default)]
pub(super) struct Batch {
    parts: Vec<BatchPart>,
}

/// Neighbouring lines that become one command: inserts into the same columns of a table, or one delete or update.
#[derive(Debug)]
struct BatchPart {
    table: String,
    kind: PartKind,
    /// Line number of each row.
    lines: Vec<u64>,
    last_id: u64,
}

#[derive(Debug)]
enum PartKind {
    Insert {
        columns: Vec<String>,
        rows: Vec<Vec<Value>>,
        replace: bool,
    },
    Delete {
        id: u64,
    },
    Update(Box<Update>),
}

impl Batch {
    /// Parses the lines; the first has the number `first_line`. The error names the line.
    pub(super) fn read(text: &[u8], first_line: u64) -> Result<Batch, Failure> {
        let mut batch = Batch::default();
        for event in bulk(text) {
            let BulkEvent::Item { line, item } = event else {
                continue;
            };
            let line = first_line + line - 1;
            let item = item.map_err(|error| {
                let failure = search::failure(error);
                Failure {
                    message: format!("line {line}: {}", failure.message),
                    ..failure
                }
            })?;
            batch.push(line, item);
        }
        Ok(batch)
    }

    fn push(&mut self, line: u64, item: BulkItem) {
        let BulkItem { table, id, action } = item;
        let (fields, replace) = match action {
            BulkAction::Insert { fields } => (fields, false),
            BulkAction::Replace { fields } => (fields, true),
            BulkAction::Delete => {
                let id = id.unwrap_or(0);
                return self.push_one(line, table, id, PartKind::Delete { id });
            }
            BulkAction::Update(update) => {
                return self.push_one(line, table, id.unwrap_or(0), PartKind::Update(update));
            }
        };
        let (columns, row) = with_id(fields, id);
        if let Some(last) = self.parts.last_mut()
            && last.table == table
            && let PartKind::Insert {
                columns: same,
                rows,
                replace: also,
            } = &mut last.kind
            && *same == columns
            && *also == replace
        {
            rows.push(row);
            last.lines.push(line);
            return;
        }
        let kind = PartKind::Insert {
            columns,
            rows: vec![row],
            replace,
        };
        self.parts.push(BatchPart {
            table,
            kind,
            lines: vec![line],
            last_id: 0,
        });
    }

    /// A line that is a command of its own.
    fn push_one(&mut self, line: u64, table: String, last_id: u64, kind: PartKind) {
        self.parts.push(BatchPart {
            table,
            kind,
            lines: vec![line],
            last_id,
        });
    }

    /// The writes that store all lines or none, and the key to its reply.
    pub(super) fn into_writes(self) -> (Vec<Write>, Counted) {
        let mut writes = Vec::with_capacity(self.parts.len());
        let mut parts = Vec::with_capacity(self.parts.len());
        for BatchPart {
            table,
            kind,
            lines,
            last_id,
        } in self.parts
        {
            let (write, done) = match kind {
                PartKind::Insert {
                    columns,
                    rows,
                    replace,
                } => {
                    let done = if replace {
                        DocumentChange::Updated
                    } else {
                        DocumentChange::Created
                    };
                    let table = table.clone();
                    (
                        Write::Insert(Insert {
                            table,
                            columns: Some(columns),
                            rows,
                            replace,
                        }),
                        done,
                    )
                }
                PartKind::Delete { id } => (delete(&table, id), DocumentChange::Deleted),
                PartKind::Update(update) => (Write::Update(update), DocumentChange::Changed),
            };
            writes.push(write);
            parts.push(CountedPart {
                table,
                lines,
                done,
                last_id,
            });
        }
        (writes, Counted { parts })
    }
}

/// Lines of the commands of a batch, in their order: they tell to which lines a reply or an error belongs.
#[derive(Debug)]
pub(super) struct Counted {
    parts: Vec<CountedPart>,
}

#[derive(Debug)]
struct CountedPart {
    table: String,
    lines: Vec<u64>,
    done: DocumentChange,
    last_id: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentChange {
    Created,
    /// By `replace`.
    Updated,
    /// By `update`: a document that is missing, or has the values already, does not count.
    Changed,
    Deleted,
}

impl Counted {
    /// Adds one element to the reply for each table, in the order of their first lines.
    pub(super) fn report(&self, reply: &Reply, out: &mut BulkReply) {
        let Reply::Many(replies) = reply else { return };
        let mut tables: Vec<(&str, u64, [u64; 3])> = Vec::new();
        for (part, reply) in self.parts.iter().zip(replies) {
            let Reply::Done {
                affected, last_id, ..
            } = reply
            else {
                continue;
            };
            let at = tables
                .iter()
                .position(|(table, ..)| *table == part.table)
                .unwrap_or_else(|| {
                    tables.push((&part.table, 0, [0; 3]));
                    tables.len() - 1
                });
            let (_, id, counts) = &mut tables[at];
            *id = if *last_id == 0 {
                part.last_id
            } else {
                *last_id
            };
            match part.done {
                DocumentChange::Created => counts[0] += affected,
                DocumentChange::Deleted => counts[1] += affected,
                DocumentChange::Changed => counts[2] += affected,
                DocumentChange::Updated => counts[2] += part.lines.len() as u64,
            }
        }
        for (table, last_id, [created, deleted, updated]) in tables {
            out.batch(table, last_id, created, deleted, updated);
        }
    }

    /// The engine's error, with the number of its line or the range of its lines.
    pub(super) fn failure(&self, error: Error) -> Failure {
        let (part, error) = match error {
            Error::InMany { index, error } => (self.parts.get(index), *error),
            other => (None, other),
        };
        let Some(part) = part else {
            return error.into();
        };
        let row = match &error {
            Error::WrongColumnCount { row }
            | Error::BadValue { row, .. }
            | Error::OutOfRange { row, .. }
            | Error::AtRow { row, .. } => Some(*row),
            _ => None,
        };
        let line = row.and_then(|row| part.lines.get(row.wrapping_sub(1)));
        let place = match (line, part.lines.as_slice()) {
            (Some(line), _) | (None, [line]) => format!("line {line}"),
            (None, [first, .., last]) => format!("lines {first} to {last}"),
            (None, []) => "a line".to_owned(),
        };
        let failure = Failure::from(error);
        // The engine names a row of its command; the client knows only lines.
        let own_row = row.map(|row| format!(" at row {row}")).unwrap_or_default();
        let message = failure.message.trim_end_matches(&own_row);
        Failure {
            message: format!("{place}: {message}"),
            ..failure
        }
    }
}

fn delete(table: &str, id: u64) -> Write {
    use relation::expression::{BinaryOperator, Expression};
    let column = Box::new(Expression::Column("id".to_owned()));
    let wanted = Box::new(Expression::Literal(Value::Int(i128::from(id))));
    let filter = Some(Expression::Binary(BinaryOperator::Equal, column, wanted));
    Write::Delete(Box::new(Delete::new(table.to_owned(), filter)))
}

#[cfg(test)]
mod tests;
