//! /cli and /cli_json: SQL for a person with curl or a browser. /cli answers with text tables like those of the mysql client,
//! /cli_json with the JSON of /sql?mode=raw. The statement is the body, or everything behind the `?` of the address.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use relation::value::Value;
use wire::json::Cell;

use super::Door;
use super::reply::{self, Refusal};
use super::sql::{self, SqlRequest};
use super::table::TableReply;
use session::errors::Failure;

/// /cli: answers with text tables.
pub(super) async fn text(
    State(door): State<Door>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let request = SqlRequest::of(&door.server, request, sql::unescaped).await?;
    let mut reply = TextReply::default();
    let held = door.server.budget.grant();
    let failure = sql::all(&door.server, request, &mut reply, &held).await?;
    let status = sql::status(failure.as_ref());
    if let Some(failure) = failure {
        reply.failed(&failure);
    }
    let kind = "text/plain; charset=utf-8";
    Ok(reply::held(status, kind, reply.out.into_bytes(), held))
}

/// /cli_json: answers with JSON tables.
pub(super) async fn json(
    State(door): State<Door>,
    request: Request<Body>,
) -> Result<Response, Refusal> {
    let request = SqlRequest::of(&door.server, request, sql::unescaped).await?;
    sql::raw(&door.server, request).await
}

/// Builds text tables. A column is as wide as its widest cell, so a table is written only once it has ended.
#[derive(Default)]
struct TextReply {
    out: String,
    columns: Vec<String>,
    /// Characters of each column's widest cell.
    widths: Vec<usize>,
    rows: Vec<Vec<String>>,
    /// Bytes of the rows' texts and strings.
    row_bytes: usize,
}

impl TableReply for TextReply {
    fn begin(&mut self, columns: &[(&str, &str)]) {
        self.columns = columns.iter().map(|(name, _)| shown(name)).collect();
        self.widths = self.columns.iter().map(|name| letters(name)).collect();
    }

    fn row(&mut self) {
        self.rows.push(Vec::with_capacity(self.columns.len()));
    }

    fn cell(&mut self, _: &str, cell: Cell<'_>) {
        let cell = match cell {
            Cell::Null => "NULL".to_owned(),
            Cell::Int(number) => number.to_string(),
            Cell::Float(number) => number.to_string(),
            Cell::Single(number) => number.to_string(),
            Cell::Bool(value) => u8::from(value).to_string(),
            Cell::Str(text) => shown(text),
            Cell::Bytes(bytes) => shown(&String::from_utf8_lossy(bytes)),
            Cell::Set(numbers) => Value::Set(numbers.into()).to_string(),
            Cell::Document(document) => shown(&Value::Json(document.clone()).to_string()),
        };
        self.row_bytes += size_of::<String>() + cell.len();
        let Some(row) = self.rows.last_mut() else {
            return;
        };
        if let Some(width) = self.widths.get_mut(row.len()) {
            *width = letters(&cell).max(*width);
        }
        row.push(cell);
    }

    fn row_end(&mut self) {}

    fn end(&mut self, total: u64, _: &str, warning: &str) {
        let dashes = |width: &usize| "-".repeat(width + 2);
        let bar: Vec<String> = self.widths.iter().map(dashes).collect();
        let bar = format!("+{}+\n", bar.join("+"));
        let line = |cells: &[String]| {
            let cells = cells.iter().zip(&self.widths);
            let cells: Vec<String> = cells
                .map(|(cell, width)| format!(" {cell:width$} "))
                .collect();
            format!("|{}|\n", cells.join("|"))
        };
        if total > 0 {
            self.out += &bar;
            self.out += &line(&self.columns);
            self.out += &bar;
            self.out.extend(self.rows.iter().map(|row| line(row)));
            self.out += &bar;
        }
        self.rows.clear();
        self.row_bytes = 0;
        self.out += &match total {
            0 => "Empty set\n".to_owned(),
            1 => "1 row in set\n".to_owned(),
            _ => format!("{total} rows in set\n"),
        };
        self.warned(warning);
    }

    fn done(&mut self, total: u64, _: &str, warning: &str) {
        let rows = if total == 1 { "row" } else { "rows" };
        self.out += &format!("Query OK, {total} {rows} affected\n");
        self.warned(warning);
    }

    fn has_objects(&self) -> bool {
        false
    }

    /// Counts the open table as text, too: a wide cell widens its column in every row.
    fn byte_count(&self) -> usize {
        self.out.len() + self.row_bytes * 2 + self.line_bytes() * (self.rows.len() + 4)
    }
}

impl TextReply {
    /// Characters of a line of the table.
    fn line_bytes(&self) -> usize {
        self.widths.iter().map(|width| width + 3).sum::<usize>() + 2
    }

    fn warned(&mut self, warning: &str) {
        if !warning.is_empty() {
            self.out += &format!("Warning: {}\n", shown(warning));
        }
    }

    fn failed(&mut self, failure: &Failure) {
        let (errno, state) = (failure.kind.errno, failure.kind.sqlstate);
        self.out += &format!("ERROR {errno} ({state}): {}\n", shown(&failure.message));
    }
}

fn letters(cell: &str) -> usize {
    cell.chars().count()
}

/// A cell with control characters escaped. They would break the table, or let a stored text control the terminal.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter.is_control() {
            true => out.extend(letter.escape_default()),
            false => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;
