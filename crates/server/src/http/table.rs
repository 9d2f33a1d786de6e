//! Outcomes as tables: the replies of /sql?mode=raw, /cli_json and /cli.

use engine::Answer;
use relation::schema::{ColumnType, NumberForm, TypeFamily};
use relation::value::Value;
use session::Grant;
use session::Session;
use session::errors::Failure;
use session::statement::{FoundRows, Outcome, PqRow, PqRows};
use wire::json::{Cell, RawReply};

use super::hits::{bounded, cell};
use super::members::Members;
use crate::server::Server;

/// A reply with one table for each statement. Calls for a statement with rows: `begin`; for each row `row`, `cell`s, `row_end`;
/// then `end`. For a statement without rows: `done`.
pub(super) trait TableReply {
    /// Begins a table with these columns, each a name and Manticore's name of its type.
    fn begin(&mut self, columns: &[(&str, &str)]);
    /// Begins a row.
    fn row(&mut self);
    /// Adds the row's next cell; `name` is its column's.
    fn cell(&mut self, name: &str, cell: Cell<'_>);
    /// Ends the row.
    fn row_end(&mut self);
    /// Ends the table. `total` is its count of rows; `error` and `warning` may be empty.
    fn end(&mut self, total: u64, error: &str, warning: &str);
    /// Adds a statement without rows. `total` is its count of affected rows.
    fn done(&mut self, total: u64, error: &str, warning: &str);
    /// Bytes of the reply so far.
    fn byte_count(&self) -> usize;
    /// Whether a row is an object, which has each name once.
    fn has_objects(&self) -> bool;
}

impl TableReply for RawReply {
    fn begin(&mut self, columns: &[(&str, &str)]) {
        RawReply::begin(self, columns);
    }

    fn row(&mut self) {
        RawReply::row(self);
    }

    fn cell(&mut self, name: &str, cell: Cell<'_>) {
        RawReply::cell(self, name, cell);
    }

    fn row_end(&mut self) {
        RawReply::row_end(self);
    }

    fn end(&mut self, total: u64, error: &str, warning: &str) {
        RawReply::end(self, total, error, warning);
    }

    fn done(&mut self, total: u64, error: &str, warning: &str) {
        RawReply::done(self, total, error, warning);
    }

    fn byte_count(&self) -> usize {
        self.bytes().len()
    }

    fn has_objects(&self) -> bool {
        true
    }
}

/// Adds an outcome to the reply, as one table or several. Errors: a row that cannot be read; the reply is too large for its limit or
/// for memory.
pub(super) fn write(
    server: &Server,
    session: &mut Session,
    outcome: Outcome,
    reply: &mut impl TableReply,
    held: &Grant,
) -> Result<(), Failure> {
    let warning = session.warnings.join("; ");
    match outcome {
        Outcome::Done { affected, .. } => {
            reply.done(affected, "", &warning);
            bounded(reply.byte_count(), held)?;
        }
        Outcome::Pq(rows) => reply_pq(&rows, &warning, reply, held)?,
        Outcome::Rows(found) => reply_found(server, session, *found, warning, reply, held)?,
        Outcome::Several(sets) => {
            for found in sets {
                reply_found(server, session, found, warning.clone(), reply, held)?;
            }
        }
    }
    Ok(())
}

fn reply_found(
    server: &Server,
    session: &mut Session,
    found: FoundRows,
    warning: String,
    reply: &mut impl TableReply,
    held: &Grant,
) -> Result<(), Failure> {
    let damaged = found.answer.rows.damaged();
    let rows = reply_rows(server, found.answer, found.members, warning, reply, held)?;
    session.lacks(&damaged);
    if found.counted {
        session.sent(server.clock.steady_us(), rows);
    }
    Ok(())
}

fn reply_rows(
    server: &Server,
    answer: Answer,
    members: Vec<String>,
    mut warning: String,
    reply: &mut impl TableReply,
    held: &Grant,
) -> Result<u64, Failure> {
    let Answer { columns, rows, .. } = answer;
    let damaged = rows.damaged();
    let mut rows = rows.peekable();
    let sample = match rows.peek() {
        Some(Ok(row)) => row.clone(),
        _ => Vec::new(),
    };
    let has_objects = reply.has_objects();
    let members = match has_objects {
        true => Members::of_table(&columns, members),
        false => Members::new(&columns, Vec::new()),
    };
    let types = columns.iter().enumerate();
    let types = types.map(|(index, (_, kind))| type_name(*kind, sample.get(index)));
    reply.begin(&members.names().zip(types).collect::<Vec<_>>());
    let mut count = 0;
    for row in rows {
        reply.row();
        let row = row?;
        let cells = members.names().zip(&columns).zip(&row);
        for (at, ((name, (_, kind)), value)) in cells.enumerate() {
            if !has_objects || members.shows(&row, at)? {
                reply.cell(name, cell(value, *kind));
            }
        }
        reply.row_end();
        count += 1;
        bounded(reply.byte_count(), held)?;
    }
    for lacking in server.note_damaged(&damaged) {
        warning += if warning.is_empty() { "" } else { "; " };
        warning += &lacking;
    }
    reply.end(count, "", &warning);
    Ok(count)
}

fn reply_pq(
    rows: &PqRows,
    warning: &str,
    reply: &mut impl TableReply,
    held: &Grant,
) -> Result<(), Failure> {
    let columns = rows.columns();
    let is_number = |name: &str| name == "id" || rows.options.count;
    let types = columns.iter().map(|name| {
        (
            *name,
            if is_number(name) {
                "long long"
            } else {
                "string"
            },
        )
    });
    reply.begin(&types.collect::<Vec<_>>());
    if rows.options.count {
        reply.row();
        let counts = [rows.answer.total, rows.answer.documents_matched];
        for (column, number) in columns.iter().zip(counts) {
            reply.cell(column, Cell::Int(i128::from(number)));
        }
        reply.row_end();
        reply.end(1, "", warning);
        return Ok(());
    }
    let mut count = 0;
    for row in rows.rows() {
        reply.row();
        pq_cells(rows, &row, &columns, reply);
        reply.row_end();
        count += 1;
        bounded(reply.byte_count(), held)?;
    }
    reply.end(count, "", warning);
    Ok(())
}

fn pq_cells(rows: &PqRows, row: &PqRow<'_>, columns: &[&str], reply: &mut impl TableReply) {
    for column in columns {
        match *column {
            "id" => reply.cell(column, Cell::Int(i128::from(row.id))),
            "query" => reply.cell(column, Cell::Str(&row.query.text)),
            "tags" => reply.cell(column, Cell::Str(&row.query.tags)),
            "filters" => reply.cell(column, Cell::Str(&row.filters())),
            "highlights" => reply.cell(column, Cell::Str(row.highlights)),
            "weights" => {
                let weights: Vec<String> = row.weights.iter().map(u32::to_string).collect();
                reply.cell(column, Cell::Str(&weights.join(",")));
            }
            _ => reply.cell(column, Cell::Str(&rows.documents(row.documents))),
        }
    }
}

/// Manticore's name of a column's type. An expression has no type; its first value tells.
fn type_name(kind: Option<ColumnType>, sample: Option<&Value>) -> &'static str {
    match kind.map(|kind| (kind, kind.family().number_form())) {
        Some((ColumnType::Int, _)) => "long",
        Some((kind, _)) if kind.family() == TypeFamily::Whole => "long long",
        Some((kind, _)) if kind.family().is_integer() => "long",
        Some((_, NumberForm::Float)) => "float",
        Some((_, NumberForm::Double)) => "double",
        Some((_, NumberForm::Plain | NumberForm::Truth | NumberForm::Year)) => "string",
        None => match sample {
            Some(Value::Int(_)) => "long long",
            Some(Value::Float(_)) => "double",
            _ => "string",
        },
    }
}
